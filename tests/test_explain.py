"""Does an explanation name the part that limits by construction and cite figures that are there, and are gains real?"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import outlast
from conftest import Outlast, summary_of
from outlast.why.explanation import of_summary
from outlast.why.parts import die_work, value_of
from outlast.why.quantity import bytes_of, bytes_per_s, mean_nanos, nanos
from test_bad_input import refused

CLOSED = {
    "workload.synthetic.rate_iops": None,
    "workload.synthetic.arrival": None,
    "workload.synthetic.queue_depth": 64,
    "workload.synthetic.duration": "300ms",
    "workload.synthetic.read_percent": 100,
}
WRITES = CLOSED | {"workload.synthetic.read_percent": 0, "workload.synthetic.duration": "2s"}
ONE_CHANNEL = {
    "device.geometry.channels": 1,
    "device.geometry.dies_per_chip": 8,
    "device.geometry.blocks_per_plane": 32,
    "device.timing.bus": "20MB/s",
}
LIMITS: dict[str, dict[str, Any]] = {
    "channels": CLOSED | ONE_CHANNEL,
    "queue_depth": CLOSED | {"workload.synthetic.queue_depth": 1},
    "link_out": CLOSED | {"device.controller.link": "10MB/s"},
    "link_in": WRITES | {"device.controller.link": "1MB/s"},
    "master": CLOSED | {"device.controller.master_cost": "60us"},
    "cores": CLOSED | {"device.controller.read_cost": "60us"},
    "dies": WRITES,
    "host_rate": {"workload.synthetic.rate_iops": 1000},
}
"""Drives of which one part is slow, and loads of which one is too small, by what then limits them."""


@pytest.mark.parametrize("limit", LIMITS)
def test_the_part_that_is_slow_by_construction_is_named(tiny: Path, limit: str) -> None:
    found = outlast.explain(tiny, LIMITS[limit])
    assert found.limit.name == limit
    part = found.limit.part
    assert part is not None
    if limit in ("queue_depth", "host_rate"):
        assert part.busy < 0.9
    else:
        # Its next neighbour has room, except for dies, which wait for a full channel with a page in their register.
        others = [other.busy for other in found.parts if other.name not in (limit, "dies")]
        assert part.mean > 0.9
        assert max(others, default=0.0) < 0.5


def test_a_run_too_short_to_be_called_overloaded_is_limited_by_what_is_saturated(tiny: Path) -> None:
    # More than the dies can do, for so short a time that the queue has not shown that it grows.
    load = {"workload.synthetic.rate_iops": 40_000, "workload.synthetic.duration": "30ms"}
    found = outlast.explain(outlast.run(tiny, load))
    assert found.limit.name == "dies"
    assert found.limit.part is not None
    assert found.limit.part.mean >= 0.99


def test_an_overloaded_drive_is_limited_by_itself_and_not_by_the_host(overloaded_result: Path) -> None:
    found = outlast.explain(outlast.load(overloaded_result))
    assert found.limit.name == "dies"
    assert "queue.overload.offered_iops" in found.sentences[0].figures


RESULTS = (
    "tiny_result",
    "weak_result",
    "array_result",
    "jobs_result",
    "repair_result",
    "cores_result",
    "mount_result",
    "causes_result",
    "overloaded_result",
)


@pytest.mark.parametrize("name", RESULTS)
def test_every_sentence_cites_figures_that_stand_in_the_result(name: str, request: pytest.FixtureRequest) -> None:
    folder: Path = request.getfixturevalue(name)
    found, summary = outlast.explain(outlast.load(folder)), summary_of(folder)
    assert 7 <= len(found.sentences) <= 13
    for sentence in found.sentences:
        assert sentence.figures, sentence.text
        assert sentence.text.endswith(".")
        for figure, value in sentence.figures.items():
            assert value_of(summary, figure) == value, figure
    for part in found.parts:
        assert 0 <= part.mean <= part.busy <= 1 + 1e-9, part


def test_what_the_tail_is_made_of_is_told_where_it_is_known(tiny_result: Path, causes_result: Path) -> None:
    (without,) = (s for s in outlast.explain(outlast.load(tiny_result)).sentences if s.about == "tail")
    assert "--set run.causes=true" in without.text
    (told,) = (s for s in outlast.explain(outlast.load(causes_result)).sentences if s.about == "tail")
    assert "run.causes" not in told.text
    band = summary_of(causes_result)["latency_causes"]["read"]["bands"][-1]
    largest = max(band["mean_ns"], key=band["mean_ns"].get)
    assert any(name.endswith(f".{largest}") and "read" in name for name in told.figures)


def test_a_run_without_time_is_not_said_to_be_limited(tiny: Path) -> None:
    untimed = {"run.timing": "none", "run.warm_up": "0s", "workload.synthetic.requests": 2000}
    found = outlast.explain(tiny, WRITES | untimed | {"workload.synthetic.duration": None})
    assert found.limit.name == "none"
    assert found.parts == []
    assert [sentence.about for sentence in found.sentences][:2] == ["limit", "writes"]


def test_gains_are_those_that_the_shares_of_die_time_foretell(tiny: Path, tmp_path: Path) -> None:
    """Dies that never rest do 1 / (1 - s / 11) times as much where a share s of their time is 10 % faster (Amdahl)."""
    result = outlast.run(tiny, WRITES)
    found = outlast.explain(result, trials=True, repeats=4, folder=tmp_path / "kept")
    assert found.limit.name == "dies"
    assert found.trials is not None
    gains = {change.part: gain["iops"] for change, gain in found.trials.rows}
    batches = result.summary["gc"]["write_amplification_interval"]
    # The shares are of one seed; the figure by which they vary is the write amplification, known to its batch means.
    known = (batches["high"] - batches["low"]) / 2 / result.summary["write_amplification"]["total"] if batches else 0.05
    work = die_work(result.summary)
    assert work is not None
    for part, share in zip(("tPROG", "tERASE"), work.values(), strict=True):
        gain, foretold = gains[part], 1 / (1 - share / 11) - 1
        assert gain.mean is not None
        assert gain.half is not None
        assert gain.mean == pytest.approx(foretold, abs=gain.half + known * foretold + 5e-4), part
    assert gains["tPROG"].beyond_chance
    assert abs(gains["link"].mean or 0) < 1e-3
    rates = [gain["iops"].mean or 0.0 for _, gain in found.trials.rows if gain["iops"].beyond_chance]
    assert rates == sorted(rates, reverse=True)


BUSY = WRITES | {
    "workload.synthetic.read_percent": 30,
    "workload.synthetic.duration": "400ms",
    "device.geometry.pages_per_block": 48,
    "device.geometry.blocks_per_plane": 96,
    "device.geometry.dies_per_chip": 2,
    "device.ftl.capacity": None,
    "device.ftl.over_provisioning": 0.4,
    "precondition.max_drive_writes": 1.0,
    "precondition.min_drive_writes": 0.5,
}
SHAPES = [
    (shot, planes, together, suspend, reads, cache)
    for shot in (1, 3)
    for planes, together in ((1, True), (2, True), (2, False), (4, True))
    for suspend in (None, {"program": True, "erase": True, "overhead": "5us", "limit": 5})
    for reads, cache in (("together", None), ("independent", None), ("together", "3us"))
    if reads == "together" or (together and planes > 1)
]


@pytest.mark.parametrize(("shot", "planes", "together", "suspend", "reads", "cache"), SHAPES)
def test_die_work_is_operations_times_their_times(
    tiny: Path,
    shot: int,
    planes: int,
    together: bool,
    suspend: dict[str, Any] | None,
    reads: str,
    cache: str | None,
) -> None:
    """Programs and erases counted one by one, each of its own time, except for one at either end on each die."""
    shape = {
        "device.ftl.one_shot": shot,
        "device.geometry.planes_per_die": planes,
        "device.ftl.multi_plane": together,
        "device.timing.suspend": suspend,
        "device.timing.plane_reads": reads,
        "device.timing.cache_read": cache,
    }
    summary = outlast.run(tiny, BUSY | shape).summary
    scenario, flash = summary["scenario"]["device"], summary["flash"]
    dies, span = 4, summary["time"]["simulated_s"]
    operations = {
        "program": flash["programs"] / shot / (planes if together else 1),
        "erase": flash["erases"] / (planes if together else 1),
    }
    work = die_work(summary)
    assert work is not None
    for name, count in operations.items():
        each = mean_nanos(scenario["timing"][name]) * 1e-9
        assert work[name] == pytest.approx(count * each / span / dies, abs=1.001 * each / span), name
    assert work["program"] > 0.2
    assert sum(work.values()) <= summary["queue"]["die_utilisation"]["mean"]
    (said,) = (s.text for s in of_summary(summary).sentences if s.about == "dies")
    assert "programming" in said


def test_pages_that_take_different_times_count_with_their_own(tiny: Path) -> None:
    """A drive that only fills whole blocks programs every row as often: the mean of the list, to a block."""
    times = ["100us", "200us", "900us", "400us"]
    settings = BUSY | {"workload.synthetic.read_percent": 0, "device.timing.program": times}
    summary = outlast.run(tiny, settings).summary
    work, flash = die_work(summary), summary["flash"]
    assert work is not None
    expected = flash["programs"] * 400e-6 / summary["time"]["simulated_s"] / 4
    # Blocks that are begun and not full have at most one list more of some rows than of others.
    assert work["program"] == pytest.approx(expected, rel=0.02)
    assert sum(work.values()) <= summary["queue"]["die_utilisation"]["mean"]


@pytest.mark.parametrize("preset", ["solidigm-p5520-1920g", "samsung-pm9a3-960g", "solidigm-p5336-7680g"])
def test_parts_of_a_die_stay_within_its_time_on_real_drives(preset: str) -> None:
    small = {"device.geometry.pages_per_block": 144, "run.capacity_scale": 16}
    short = {"workload.synthetic.duration": "700ms", "precondition.max_drive_writes": 1.0}
    summary = outlast.run(preset, small | short | {"precondition.min_drive_writes": 0.5}).summary
    work = die_work(summary)
    assert work is not None
    assert 0 < sum(work.values()) <= summary["queue"]["die_utilisation"]["mean"]


def test_at_depth_one_a_gain_is_what_the_latency_loses(tiny: Path, tmp_path: Path) -> None:
    result = outlast.run(tiny, LIMITS["queue_depth"])
    found = outlast.explain(result, trials=True, repeats=1, folder=tmp_path / "kept", jobs=1)
    assert found.trials is not None
    rows = {change.part: (change, gain["iops"]) for change, gain in found.trials.rows}
    assert set(rows) == {"queue depth", "tR", "channels", "link"}
    mean_ns = 1e9 / result.summary["throughput"]["iops"]
    spared = 60_000 - mean_nanos(rows["tR"][0].settings["device.timing.read"])
    assert rows["tR"][1].half is None
    # Latencies are constant, so that nothing but the request cut off at the end of the run is left to chance.
    assert rows["tR"][1].mean == pytest.approx(
        mean_ns / (mean_ns - spared) - 1, abs=1 / result.summary["host"]["reads"]
    )


def test_runs_are_kept_and_what_a_change_breaks_is_left_out(tiny: Path, tmp_path: Path) -> None:
    whole = {"workload.synthetic.span": "26MiB", "workload.synthetic.duration": "200ms"}
    result = outlast.run(tiny, whole)
    told: list[tuple[int, int]] = []

    def progress(done: int, wanted: int) -> None:
        told.append((done, wanted))

    first = outlast.explain(result, trials=True, repeats=1, folder=tmp_path / "kept", progress=progress).trials
    assert first is not None
    assert [change.part for change, _ in first.left_out] == ["spare space"]
    assert "span" in first.left_out[0][1]
    assert told[0][0] == 0
    runs = told[-1]
    told.clear()
    again = outlast.explain(result, trials=True, repeats=1, folder=tmp_path / "kept", progress=progress).trials
    assert told == [runs]
    assert again == first


def test_the_program_says_it_as_text_and_as_json(outlast: Outlast, tiny: Path) -> None:
    options = ("--set", "workload.synthetic.duration=200ms", "--try", "--repeats", "2", "--keep", "kept")
    shown = outlast("explain", "tiny.toml", *options, "--quiet").stdout
    told = json.loads(outlast("explain", "tiny.toml", *options, "--quiet", "--json").stdout)
    for sentence in told["sentences"]:
        assert sentence["text"] in shown
        assert all(name in shown for name in sentence["figures"])
    assert {row["part"] for row in told["trials"]["rows"]} >= {"tR", "tPROG", "tERASE", "channels", "link"}
    assert all(row["part"] in shown and row["after"] in shown for row in told["trials"]["rows"])
    assert told["trials"]["repeats"] == 2


def test_what_cannot_be_explained_is_refused_in_a_line(outlast: Outlast, tiny: Path, tmp_path: Path) -> None:
    outlast("run", "tiny.toml", "--set", "workload.synthetic.duration=50ms", "--out", "done", "--quiet")
    (tmp_path / "file").write_text("")
    calls: dict[str, tuple[str, ...]] = {
        "--set and --seed belong to a scenario": ("done", "--seed", "2"),
        "belong to --try": ("done", "--repeats", "2"),
        "absent.toml": ("absent.toml",),
        "0 is not within 1 to 1000": ("done", "--try", "--repeats", "0"),
        "file is not a folder": ("done", "--try", "--keep", "file"),
        "name a SCENARIO.toml": (),
    }
    for says, arguments in calls.items():
        refused(outlast, tmp_path, "explain", *arguments, says=[says])


def test_quantities_are_read_as_the_simulator_writes_them() -> None:
    assert [int(nanos(time)) for time in ("3500us", "1.5ms", "0ns", 7)] == [3_500_000, 1_500_000, 0, 7]
    assert [int(bytes_of(size)) for size in ("26MiB", "80GB")] == [26 << 20, 80 * 10**9]
    assert int(bytes_per_s("667MB/s")) == 667_000_000
    assert mean_nanos(["50us", "60us"]) == 55_000
    with pytest.raises(ValueError, match="units"):
        nanos("7 parsecs")
