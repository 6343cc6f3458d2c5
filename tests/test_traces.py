"""Does every real trace run from file to figures?"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from conftest import call, mean_from_histograms, mean_from_queue, traces_folder
from logged_presets import small

REQUIRED = """
host.reads host.writes host.bytes_read host.bytes_written host.errors
time.simulated_s time.wall_s time.cpu_s time.precondition_cpu_s
throughput.iops throughput.read_mib_s throughput.write_mib_s
write_amplification.total write_amplification.gc write_amplification.padding write_amplification.wear_leveling
flash.reads flash.programs flash.erases wear.mean_pe wear.max_pe memory.peak_rss_mib steady_state seed
""".split()
PERCENTILES = "mean p50 p95 p99 p99_9 p99_99 max".split()

FOLDER = traces_folder()
TRACES = sorted(FOLDER.glob("*.zst")) if FOLDER else []


def figure(summary: dict[str, Any], name: str) -> Any:
    """The figure of a dotted name, which must be there."""
    value: Any = summary
    for key in name.split("."):
        value = value[key]
    return value


@pytest.mark.skipif(not TRACES, reason="no real traces beside the checkout; set OUTLAST_TRACES to their folder")
@pytest.mark.parametrize("trace", TRACES, ids=lambda path: path.name.split(".")[0])
def test_a_real_trace_end_to_end(trace: Path, tmp_path: Path) -> None:
    # A few pages of each block: what is tested is the trace.
    sets = [f"--set={name}={value}" for name, value in small("hrm-200g").items()]
    done = call("run", "--preset", "hrm-200g", "--trace", trace, "--json", *sets, cwd=tmp_path)
    summary = json.loads(done.stdout)
    for name in REQUIRED:
        assert figure(summary, name) is not None or name.startswith("write_amplification"), name
    info = json.loads(call("trace", "info", trace, "--json").stdout)
    host = summary["host"]
    assert host["errors"] == 0
    for kind, figures in (("reads", "read"), ("writes", "write")):
        # A warm-up may leave out the first requests; no request may be made up.
        assert 0 < host[kind] <= info[kind]["count"] or info[kind]["count"] == 0
        latency = summary["latency_us"][figures]
        if host[kind] == 0:
            assert latency is None
            continue
        values = [latency[name] for name in PERCENTILES[1:]]
        assert values == sorted(values)
        assert 0 < latency["mean"] <= latency["max"]
    if host["writes"]:
        assert summary["write_amplification"]["total"] >= 1.0
    assert abs(summary["queue"]["littles_law"]["relative_error"]) < 0.01
    assert mean_from_histograms(summary) == pytest.approx(mean_from_queue(summary), rel=0.02)
    assert summary["partial"] is False
    assert summary["memory"]["peak_rss_mib"] > 0


def test_a_trace_says_which_drive_its_writes_fill_once(tmp_path: Path) -> None:
    kinds = ["Read", "Write"] * 256
    rows = [f"{128166372003061629 + 10_000 * at},web,0,{kind},{8192 * at},8192,1000" for at, kind in enumerate(kinds)]
    (tmp_path / "web.csv").write_text("\n".join(rows) + "\n")
    shown = " ".join(call("trace", "info", "web.csv", cwd=tmp_path).stdout.split())
    assert "writes fill a drive of 2 MiB once" in shown
    assert "workload.trace.repeat" in shown
    (tmp_path / "reads.csv").write_text("\n".join(row for row in rows if "Read" in row) + "\n")
    assert "fill a drive" not in call("trace", "info", "reads.csv", cwd=tmp_path).stdout
