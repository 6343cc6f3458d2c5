"""Do figures count what was served, apart from what failed, and nothing that was not measured?"""

from __future__ import annotations

import json
import random
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import outlast
from conftest import Outlast
from forked import call
from outlast.errors import ScenarioError
from outlast.report import found, served
from outlast.report.comparison import shown_rows
from outlast.why.explanation import of_summary
from test_bad_input import refused

OPS = {"read": "reads", "write": "writes", "trim": "trims", "flush": "flushes"}
ENDS = {"read-only": "read_only", "medium-error": "medium_error", "aborted": "aborted", "out-of-range": "out_of_range"}
FOUR_DIES: dict[str, Any] = {
    "device.geometry.channels": 2,
    "device.geometry.dies_per_chip": 2,
    "device.geometry.blocks_per_plane": 64,
    "device.ftl.capacity": "18MiB",
}


def drawn(seed: int) -> dict[str, Any]:
    """A drive of four dies, some of which, or planes or blocks of which, fail under a load of all kinds of requests."""
    rng = random.Random(seed)
    faults: list[dict[str, Any]] = []
    for _ in range(rng.randint(0, 4)):
        fault = {"at": f"{rng.randint(1, 150)}ms", "kind": rng.choice(["die", "die", "block"]), "die": rng.randrange(4)}
        faults.append(fault | ({"plane": 0, "block": rng.randrange(64)} if fault["kind"] == "block" else {}))
    drive = FOUR_DIES | {
        "device.protection": rng.choice([None, {"data": 3}, {"data": 2, "parity": 1}]),
        "device.defects.endurance": rng.choice([None, None, 5, 8]),
        "device.ftl.spare_blocks": rng.choice([0, 2]),
        "device.controller.write_cache": rng.choice(["protected", "volatile"]),
        "faults": faults,
    }
    load = {
        "workload.synthetic.read_percent": rng.choice([0, 30, 70]),
        "workload.synthetic.trim_percent": rng.choice([0, 10]),
        "workload.synthetic.duration": "200ms",
        "workload.synthetic.rate_iops": rng.choice([None, 8000, 20_000]),
        "run.warm_up": rng.choice(["0s", "20ms"]),
        "run.causes": rng.choice([True, False]),
        "run.log": "requests.parquet",
        "precondition.overwrite": rng.choice(["none", "random"]),
        "precondition.max_drive_writes": 1.5,
        "precondition.min_drive_writes": 1.0,
        "seed": seed,
    }
    if load["workload.synthetic.rate_iops"] is None:
        load |= {"workload.synthetic.queue_depth": rng.choice([1, 16]), "workload.synthetic.arrival": None}
    return drive | load


def ran(tiny: Path, seed: int) -> outlast.Result:
    """A run of the first drive, drawn from `seed` on, that lives through its preconditioning."""
    for again in range(5):
        try:
            return outlast.run(tiny, drawn(seed + 1000 * again))
        except outlast.OutlastError as error:
            refusal = str(error)
    pytest.fail(f"none of five drives runs: {refusal}")


def measured_rows(result: outlast.Result) -> dict[str, Any]:
    """The rows of the log that were measured: those from the end of the warm-up on."""
    assert result.log is not None
    rows = result.log.columns()
    begun = round(result.summary["time"]["warm_up_s"] * 1e9)
    within = np.asarray(rows["completed_ns"], dtype=np.int64) >= begun if begun else np.ones(len(rows["kind"]), bool)
    return {name: np.asarray(values)[within] for name, values in rows.items()}


@pytest.mark.parametrize("seed", range(40))
def test_served_and_failed_requests_are_those_of_the_log(tiny: Path, seed: int) -> None:
    result = ran(tiny, seed)
    summary, rows = result.summary, measured_rows(result)
    host, ok = summary["host"], rows["outcome"] == "ok"
    kinds, failed = Counter(rows["kind"][ok].tolist()), Counter(rows["kind"][~ok].tolist())
    assert {kind: host[name] for kind, name in OPS.items()} == {kind: kinds[kind] for kind in OPS}
    assert host["errors"] == int((~ok).sum())
    assert served.served(summary) + served.failed(summary) == len(ok)
    if host["errors"]:
        assert {name: host["failed"][name] for name in OPS.values()} == {OPS[kind]: failed[kind] for kind in OPS}
        ends = Counter(rows["outcome"][~ok].tolist())
        assert {name: host["failed"][name] for name in ENDS.values()} == {ENDS[end]: ends[end] for end in ENDS}
    else:
        assert "failed" not in host
    span = summary["time"]["simulated_s"]
    assert summary["throughput"]["iops"] * span == pytest.approx(ok.sum(), abs=1e-6)
    assert summary["throughput"]["write_iops"] * span == pytest.approx(kinds["write"], abs=1e-6)
    took = np.asarray(rows["completed_ns"], dtype=np.int64) - np.asarray(rows["submitted_ns"], dtype=np.int64)
    for op in OPS:
        own, figures = took[ok & (rows["kind"] == op)], summary["latency_us"][op]
        if not len(own):
            assert figures is None
            continue
        exact = (len(own), int(own.sum()) / len(own) * 1e-3, int(own.min()) * 1e-3, int(own.max()) * 1e-3)
        assert (figures["count"], figures["mean"], figures["min"], figures["max"]) == exact, op
        assert figures["min"] <= figures["p50"] <= figures["p99"] <= figures["p99_99"] <= figures["max"]
    series = result.tables["timeseries"]
    assert int(np.sum(series["reads"])) == host["reads"]
    assert int(np.sum(series["errors"])) == host["errors"]
    if causes := summary.get("latency_causes"):
        for op in ("read", "write"):
            assert (causes[op] or {"count": 0})["count"] == kinds[op]


@pytest.mark.parametrize("seed", range(40))
def test_wear_is_of_one_population_whatever_fails(tiny: Path, seed: int) -> None:
    result = ran(tiny, seed)
    wear, blocks = result.summary["wear"], result.tables["wear"]
    assert wear["min_pe"] <= wear["mean_pe"] <= wear["max_pe"]
    cycles, bad = np.asarray(blocks["cycles"]), np.asarray(blocks["bad"]).astype(bool)
    assert wear["bad_blocks"] == int(bad.sum())
    if not bad.any() and not wear["spare_blocks_left"]:
        assert (wear["min_pe"], wear["mean_pe"], wear["max_pe"]) == (cycles.min(), cycles.mean(), cycles.max())
    elif (~bad).any():
        assert wear["max_pe"] <= cycles.max()
    partial = result.summary["write_amplification"]["partial_write"]
    assert partial is None or partial >= 0.0
    spare = result.summary["device"]["effective_spare_factor"]
    assert spare is None or spare >= 0.0
    for op in OPS:
        interval = (result.summary["latency_us"][op] or {}).get("mean_interval")
        assert interval is None or interval["low"] >= 0.0


def test_the_blocks_of_a_failed_die_are_bad_and_those_of_an_absent_one_are_not(tiny: Path) -> None:
    load = {"workload.synthetic.duration": "200ms", "device.protection": {"data": 2, "parity": 1}}
    failed = outlast.run(tiny, FOUR_DIES | load | {"faults": [{"at": "30ms", "kind": "die", "die": 1}]})
    assert failed.summary["wear"]["bad_blocks"] == 64
    absent = outlast.run(tiny, FOUR_DIES | load | {"device.absent_dies": [1], "device.ftl.capacity": "12MiB"})
    assert absent.summary["wear"]["bad_blocks"] == 0


READ_ONLY = FOUR_DIES | {
    "device.ftl.capacity": "16MiB",
    "device.protection": {"data": 3},
    "faults": [{"at": "60ms", "kind": "die", "die": 1}, {"at": "80ms", "kind": "die", "die": 2}],
    "workload.synthetic.duration": "400ms",
    "workload.synthetic.rate_iops": 8000,
}


def test_a_read_only_drive_says_what_it_refused_wherever_it_is_shown(tiny: Path, tmp_path: Path) -> None:
    result = outlast.run(tiny, READ_ONLY)
    summary = result.summary
    of = served.refused(summary)
    assert of is not None
    assert summary["smart"]["read_only"]
    assert of[0] > 100
    assert summary["throughput"]["write_iops"] * summary["time"]["simulated_s"] == pytest.approx(
        summary["host"]["writes"]
    )
    title = found.title(summary)
    assert "read-only" in title
    assert any("not served" in sentence for sentence in found.sentences(summary))
    assert any("were not served" in note for note in summary["notes"])
    explained = outlast.explain(result)
    assert [sentence.about for sentence in explained.sentences][:2] == ["limit", "served"]
    assert "requests a second that it asks for are served" not in explained.sentences[0].text
    result.report(tmp_path / "report.html")
    page = (tmp_path / "report.html").read_text()
    assert "read-only at the end" in page
    assert "requests not served" in page
    assert {"host.errors", "smart.read_only"} <= set(shown_rows([summary, summary]))
    shown = call("run", tiny, *sets(READ_ONLY), cwd=tmp_path).stdout
    assert "not served" in shown
    assert "refused because the drive takes no more writes" in " ".join(shown.split())
    assert "read-only" in shown


def sets(changes: dict[str, Any]) -> list[str]:
    """The same as options."""

    def value(own: Any) -> str:
        if isinstance(own, list):
            return "[" + ", ".join(map(value, own)) + "]"
        if isinstance(own, dict):
            return "{" + ", ".join(f"{name} = {value(each)}" for name, each in own.items()) + "}"
        return json.dumps(own)

    return [part for name, own in changes.items() for part in ("--set", f"{name}={value(own)}")]


@pytest.mark.parametrize("preset", ["demo", "samsung-970pro-1t"])
def test_a_duration_within_the_warm_up_is_refused(outlast: Outlast, preset: str, tmp_path: Path) -> None:
    for duration in ("500ms", "20ms"):
        says = [f"workload.synthetic.duration = {duration}", "longer than the warm-up, run.warm_up = 500ms"]
        for command in ("validate", "run"):
            refused(outlast, tmp_path, command, preset, "--set", f"workload.synthetic.duration={duration}", says=says)


def test_phases_within_the_warm_up_are_refused(tiny: Path) -> None:
    phases = {
        "workload.synthetic.phases": [{"duration": "10ms"}, {"duration": "10ms"}],
        "workload.synthetic.duration": None,
    }
    with pytest.raises(ScenarioError, match=r"workload\.synthetic\.phases = 20ms: must be longer than the warm-up"):
        outlast.run(tiny, phases)
    # Without time there is no warm-up.
    untimed = {"run.timing": "none", "run.warm_up": "1s", "workload.synthetic.duration": "1s"}
    assert outlast.run(tiny, untimed).summary["host"]["reads"] > 0


@pytest.mark.parametrize("depth", [None, 8])
def test_a_run_that_ends_within_its_warm_up_measured_nothing(tiny: Path, depth: int | None) -> None:
    limits: dict[str, Any] = {
        "workload.synthetic.duration": None,
        "workload.synthetic.requests": 50,
        "run.warm_up": "10s",
    }
    if depth is not None:
        limits |= {"workload.synthetic.rate_iops": None, "workload.synthetic.arrival": None}
        limits |= {"workload.synthetic.queue_depth": depth}
    result = outlast.run(tiny, limits)
    summary = result.summary
    assert served.served(summary) + served.failed(summary) == 0
    assert summary["latency_us"]["read"] is None
    assert summary["write_amplification"]["total"] is None
    assert summary["steady_state"]["measured"]["reached"] is None
    assert "nothing was measured" in found.title(summary)
    assert found.sentences(summary)[0].startswith("Nothing was measured")
    explained = outlast.explain(result)
    assert explained.limit.name == "none"
    assert explained.sentences[0].text.startswith("Nothing was measured: the run ended within its warm-up")
    assert any("within its warm-up" in note for note in summary["notes"])


def test_a_handful_of_requests_after_the_warm_up_is_no_rate(tiny: Path) -> None:
    limits = {"workload.synthetic.duration": "30ms", "run.warm_up": "25ms"}
    summary = outlast.run(tiny, limits).summary
    assert 0 < served.served(summary) < served.FEW
    assert "too few for a rate" in found.title(summary)
    assert "IOPS as asked for" not in found.title(summary)


def test_a_handful_of_requests_without_a_warm_up_is_not_said_to_be_as_asked_for(tiny: Path) -> None:
    phases = [{"rate_iops": 100, "duration": "1ms"}, {"rate_iops": 100, "duration": "1ms"}]
    summary = outlast.run(tiny, {"workload.synthetic.phases": phases, "run.warm_up": "0s"}).summary
    assert 0 < served.served(summary) < served.FEW
    assert "as asked for" not in found.title(summary)
    assert "that it asks for are served" not in of_summary(summary).sentences[0].text
    nothing = summary | {"host": summary["host"] | dict.fromkeys(served.KINDS, 0)}
    assert found.title(nothing) == "tiny: nothing was measured: no request completed"


def test_a_rate_far_below_what_was_asked_is_not_called_as_asked_for(tiny: Path) -> None:
    summary = outlast.run(tiny, {"workload.synthetic.rate_iops": 1000}).summary
    assert served.is_as_asked(summary)
    slow = summary | {"throughput": summary["throughput"] | {"iops": 0.41 * 1000}}
    assert not served.is_as_asked(slow)
    assert "as asked for" not in found.title(slow)
    assert "that it asks for are served" not in of_summary(slow).sentences[0].text.split(" of the ")[0]


FRESH = {"precondition.overwrite": "none", "precondition.fill_fraction": 0.3, "workload.synthetic.read_percent": 50}


def test_a_write_amplification_without_collection_says_nothing_of_policies(tiny: Path) -> None:
    result = outlast.run(tiny, FRESH)
    summary = result.summary
    assert summary["gc"]["victims"] == 0
    assert sum("No superblock was collected" in note for note in summary["notes"]) == 1
    assert summary["steady_state"]["measured"]["reached"] is None
    assert any("no superblock was collected" in sentence for sentence in found.sentences(summary))
    collected = outlast.run(tiny, {"workload.synthetic.read_percent": 0}).summary
    assert collected["gc"]["victims"] > 0
    assert not any("superblock was collected" in note for note in collected["notes"])
    reads = outlast.run(tiny, {"workload.synthetic.read_percent": 100}).summary
    assert not any("superblock was collected" in note for note in reads["notes"])
