"""Is what a run needs told before it takes it, truthfully?"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

import outlast
from outlast import memory

PRESETS = [
    "demo",
    "array-raid5-5",
    "die-repair",
    "peers-32g",
    "flexible-8cards",
    "hrm-200g",
    "msapl-128g",
    "pm1643-raid5",
    "pm1643-4t",
    "diffraid-x25m",
]
#: Presets run for a moment: what memory they take does not depend on for how long.
SHORT = {"workload.synthetic.duration": "20ms", "run.warm_up": "0s", "precondition.overwrite": "none"}
# Its host asks for 38 requests a second.
LONGER = {"msapl-128g": SHORT | {"workload.synthetic.duration": "300ms"}}
WITHIN = 0.15


def peak_mib(code: str) -> tuple[float, str]:
    """The peak of a process that runs `code`, and what it prints."""
    # Not ru_maxrss: of a process that was forked it knows the peak of its parent, too.
    measure = (
        "\nimport re, sys, pathlib\n"
        "status = pathlib.Path('/proc/self/status').read_text()\n"
        "print(int(re.search(r'VmHWM:\\s*(\\d+)', status)[1]) / 1024, file=sys.stderr)"
    )
    done = subprocess.run([sys.executable, "-c", code + measure], capture_output=True, text=True, check=True)
    return float(done.stderr.split()[-1]), done.stdout


@pytest.mark.parametrize("preset", PRESETS)
def test_the_estimate_is_within_15_percent_of_the_peak(preset: str) -> None:
    settings = LONGER.get(preset, SHORT)
    estimate = outlast.validate(preset, settings) / memory.MIB
    code = f"import outlast.api; outlast.api.run({preset!r}, {settings!r})"
    peak, _ = peak_mib(code)
    assert abs(estimate / peak - 1) < WITHIN, f"{estimate:.0f} MiB told, {peak:.0f} MiB taken"


@pytest.mark.parametrize("preset", ["demo", "pm1643-4t", "huge"])
def test_validate_builds_no_drive(preset: str) -> None:
    settings = {
        "device.geometry.blocks_per_plane": 3200,
        "device.controller.flash_cores": 16,
        "device.ftl.mapping_unit": "4KiB",
    }
    name, changes = ("pm1643-4t", settings) if preset == "huge" else (preset, {})
    code = f"import time; t = time.monotonic(); import outlast.api; outlast.api.validate({name!r}, {changes!r})"
    peak, out = peak_mib(code + "; print(time.process_time())")
    assert peak < 100, f"{peak:.0f} MiB"
    assert float(out) < 1.0, f"{out} s of processor time"


def test_a_run_too_large_is_refused_in_one_line(tmp_path: Path) -> None:
    out = tmp_path / "out"
    code = (
        "import resource, runpy, sys; resource.setrlimit(resource.RLIMIT_AS, (700 << 20, 700 << 20));"
        f"sys.argv = ['outlast', 'run', 'pm1643-4t', '--out', {str(out)!r}];"
        "runpy.run_module('outlast', run_name='__main__')"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.returncode == 2, done.stderr
    assert done.stderr.count("\n") == 1, done.stderr
    assert "needs about" in done.stderr and "are free" in done.stderr
    assert not out.exists()


def test_the_tightest_limit_counts(tmp_path: Path) -> None:
    group = tmp_path / "fs" / "jobs" / "one"
    group.mkdir(parents=True)
    own = tmp_path / "cgroup"
    own.write_text("0::/jobs/one\n")
    for place, limit, used, cached in ((group, "max", 5, 0), (group.parent, str(3 * memory.GIB), memory.GIB, 1000)):
        (place / "memory.max").write_text(limit + "\n")
        (place / "memory.current").write_text(f"{used}\n")
        (place / "memory.stat").write_text(f"anon 5\ninactive_file {cached}\n")
    left = memory._control_groups(tmp_path / "fs", own)
    assert left == [2 * memory.GIB + 1000]


def test_a_percentile_of_a_few_requests_is_marked() -> None:
    from outlast.report.latency import FEW, marked

    settings = {"workload.synthetic.duration": "20ms", "run.warm_up": "0s", "precondition.overwrite": "none"}
    summary = json.loads(outlast.run("demo", settings).to_json())
    read = summary["latency_us"]["read"]
    assert 500 < read["count"] < 2000
    assert read["resolved_percentile"] in (95.0, 99.0)
    assert read["p99_999"] is None and read["p99_9999"] is None
    assert marked(read, "p99_99").endswith(FEW) and not marked(read, "p50").endswith(FEW)


def test_overload_is_said() -> None:
    settings = {"workload.synthetic.rate_iops": 500_000, "workload.synthetic.duration": "300ms"}
    settings |= {"run.warm_up": "0s", "run.window": "10ms", "precondition.overwrite": "none"}
    summary = json.loads(outlast.run("demo", settings).to_json())
    found = summary["queue"]["overload"]
    assert 400_000 < found["offered_iops"] < 600_000
    assert found["served_iops"] < 0.6 * found["offered_iops"]
    assert any(note.startswith("Overload: ") for note in summary["notes"])
    calm = json.loads(outlast.run("demo", {"workload.synthetic.duration": "1s"}).to_json())
    assert calm["queue"]["overload"] is None
