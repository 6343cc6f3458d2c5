"""Are cells run once, statements judged by their numbers, and papers' scenarios whole?"""

from __future__ import annotations

import json
import math
import shutil
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from conftest import ROOT, call
from drives import geometry
from outlast import api
from outlast.errors import OutputError, ScenarioError
from outlast.points import job as work
from outlast.products.reproduce import DRIVES, PAPERS, cells, paper, write
from outlast.products.reproduce.check import every, near, rising
from outlast.products.reproduce.model import (
    Cell,
    Figure,
    Found,
    Mode,
    Number,
    Paper,
    Setting,
    Statement,
    Table,
    incomplete,
)

SCENARIOS = ROOT / "scenarios"
REPRODUCE = ROOT / "python" / "outlast" / "products" / "reproduce"
MODE = Mode("quick", 1, "tiny")
TINY: dict[str, Any] = {
    "extends": "demo",
    "device": {
        "geometry": geometry(2, 128, 32),
        "ftl": {"capacity": "26MiB"},
        "controller": {"write_buffer": "64KiB"},
        "reliability": {"chip": "tlc-72-layer", "initial": {"pe_cycles": 5000}},
    },
    # A rate at which reads seldom wait for collection: what differs is the error correction.
    "workload": {"synthetic": {"rate_iops": 1000, "duration": "1s"}},
    "run": {"warm_up": "20ms", "window": "20ms"},
}


def tiny_paper(strengths: Sequence[int | None] = (None, 75, 25)) -> Paper:
    """A paper of one figure whose cells take a moment."""

    def label(bits: int | None) -> dict[str, str]:
        return {"scheme": f"{bits}-bit"}

    def planned(_: Setting) -> list[Cell]:
        strength = "device.reliability.ecc.strength"
        return [Cell(label(bits), [TINY], {strength: bits}) for bits in strengths]

    def slower(table: Table) -> Found:
        return rising("", [table.row(**label(bits))["read_mean_us"] for bits in strengths])

    statements = [
        Statement("Weak ECC is slower.", "1", slower),
        Statement("Pigs fly.", "2", lambda table: Found(False, f"{len(table.rows)} did not"), "of gravity"),
        Statement("There is a tenth.", "3", lambda table: near("", table.row(scheme="10-bit")["read_mean_us"], 1, 1)),
    ]
    columns = {"read_mean_us": "mean"}
    figure = Figure("fig1", "Figure 1", "What <is> seen.", planned, columns, lambda _: [], statements, ("None.",))
    left = {"Figure 7": "a drawing"}
    return Paper("tiny", "Tiny", {"quick": MODE}, [figure], lambda _: ["a trace that is not here"], elsewhere=left)


def reproduce(out: Path, made: Paper | None = None, **options: Any) -> write.Reproduction:
    """The tiny paper, reproduced into a folder."""
    made = made or tiny_paper()
    return write.reproduce([write.Chosen(made, made.figures, Setting(MODE, SCENARIOS))], out, **options)


def test_everything_is_written_and_judged(tmp_path: Path) -> None:
    done = reproduce(tmp_path)
    names = {path.name for path in tmp_path.iterdir()}
    assert names == {"cells", "tiny", "tiny.html", "index.html", "reproduction.json"}
    assert {path.name for path in (tmp_path / "tiny").iterdir()} == {"fig1.csv", "fig1.parquet"}
    written = json.loads((tmp_path / "reproduction.json").read_text())
    assert written == done.to_dict()
    counts = {"statements": 3, "agrees": 1, "differs": 1, "not judged": 1}
    assert written["counts"] == written["papers"][0]["counts"] == write.counts(done.chapters[0].verdicts)
    assert {name: written["counts"][name] for name in counts} == counts
    verdicts = [(each["verdict"], each["because"]) for each in written["papers"][0]["figures"][0]["statements"]]
    assert verdicts[:2] == [("agrees", ""), ("differs", "of gravity")]
    assert verdicts[2][0] == "not judged"
    assert "10-bit" in verdicts[2][1]
    front, page = ((tmp_path / name).read_text() for name in ("index.html", "tiny.html"))
    for words in (
        "Pigs fly.",
        "of gravity",
        "a trace that is not here",
        "<b>0 of 0</b> numbers",
        "Orders by simulation: 1 of 3",
        "Figure 7: a drawing",
    ):
        assert words in page
        assert words in front
    assert "What &lt;is&gt; seen." in page
    assert 'href="tiny.html#fig1"' in front
    assert '<section id="fig1">' in page
    assert "http-equiv" in page
    assert len(front) < 100_000 < len(page)  # the front page needs no plotly.js


def test_rows_are_what_the_run_gave(tmp_path: Path) -> None:
    done = reproduce(tmp_path, tiny_paper((None, 25)))
    table = done.chapters[0].parts[0][1]
    _, weak = table.rows
    result = api.run([TINY], {"device.reliability.ecc.strength": 25})
    assert weak["read_mean_us"] == result.summary["latency_us"]["read"]["mean"]
    bits, counts = (list(map(int, result.tables["errors"][name])) for name in ("wrong_bits", "codewords"))
    below = sum(count for bit, count in zip(bits, counts, strict=True) if bit < 75)
    assert math.isclose(weak["below_75_percent"], 100 * below / sum(counts))
    assert weak["below_75_percent"] <= weak["to_75_percent"] <= 100
    assert weak["cumulative"][-1][1] == 100


def test_a_cell_runs_once_and_a_stopped_run_goes_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    reproduce(tmp_path)
    before = (tmp_path / "reproduction.json").read_bytes()
    ran: list[str] = []
    real = work.measure

    def counted(job: cells.Job) -> cells.Record:
        ran.append(job.key)
        return real(job)

    monkeypatch.setattr(work, "measure", counted)
    reproduce(tmp_path)
    assert ran == []
    records = sorted((tmp_path / "cells").iterdir())
    assert len(records) == 3
    records[0].unlink()
    records[1].write_text("{ half a rec")
    told: list[tuple[int, int]] = []
    reproduce(tmp_path, progress=lambda done, wanted: told.append((done, wanted)))
    assert len(ran) == 2
    assert told == [(1, 3), (2, 3), (3, 3)]
    assert (tmp_path / "reproduction.json").read_bytes() == before


def test_a_record_of_something_else_is_not_taken(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    job = cells.prepare(Cell({}, [TINY]), 1)
    tmp_path.mkdir(exist_ok=True)
    cells.run_all([job], tmp_path, 1)
    assert cells.stored_record(job, tmp_path) is not None
    file = tmp_path / job.file_name
    record = json.loads(file.read_text())
    file.write_text(json.dumps(record | {"key": "0" * 64}))
    assert cells.stored_record(job, tmp_path) is None
    assert cells.prepare(Cell({}, [TINY], {"seed": 8}), 1).key != job.key
    renamed = cells.prepare(Cell({}, [TINY], {"name": "another", "description": "of the same"}), 1)
    assert renamed.key == job.key
    monkeypatch.setattr(work, "simulator_hash", lambda: "another build")
    assert cells.prepare(Cell({}, [TINY]), 1).key != job.key


def test_nothing_is_kept_of_a_run_that_was_stopped(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    real = api.run
    monkeypatch.setattr(api, "run", lambda *settings: real(*settings, progress=lambda *_: False))
    job = cells.prepare(Cell({}, [TINY], {"workload.synthetic.duration": "1h"}), 1)
    with pytest.raises(KeyboardInterrupt):
        cells.run_all([job], tmp_path, 1)
    assert list(tmp_path.iterdir()) == []


def test_outcome_does_not_depend_on_processes(tmp_path: Path) -> None:
    reproduce(tmp_path / "one", jobs=1)
    reproduce(tmp_path / "two", jobs=2)
    for name in ("reproduction.json", "tiny/fig1.csv", "index.html", "tiny.html"):
        assert (tmp_path / "one" / name).read_bytes() == (tmp_path / "two" / name).read_bytes(), name


@pytest.mark.parametrize(
    "file",
    sorted(
        [
            file
            for name in ("hrm", "msapl", "flexible", "diffraid", "reparo", "lfs")
            for file in SCENARIOS.glob(f"{name}/*.toml")
        ]
    ),
    ids=lambda file: f"{file.parent.name}-{file.stem}",
)
def test_scenarios_of_papers_hold_and_name_their_sources(file: Path) -> None:
    api.validate(file)
    sourced = above = text = False
    for number, line in enumerate(file.read_text().splitlines(), 1):
        where, bare = f"{file.name}:{number}: {line}", line.strip()
        if text:
            text = not bare.startswith('"""')
            continue
        text = bare.endswith('"""')
        if bare.startswith("["):
            sourced = above
        elif "=" in bare and not bare.startswith("#"):
            assert sourced or bare.rpartition("#")[2].strip() != bare, where
        above = bare.startswith("#")


def thinned(scenario: dict[str, Any]) -> dict[str, Any]:
    """The scenario with blocks so short that the drive is made at once: validating makes it."""
    device = scenario["device"]
    long = device["geometry"]["pages_per_block"]
    sizes = {"25GiB": 25 * 2**30, "200GiB": 200 * 2**30, "5000000000B": 5 * 10**9, "19531250KiB": 20 * 10**9}
    if long not in (512, 128) or device["ftl"].get("capacity") not in sizes:
        return scenario  # small enough
    pages = 8 if device["ftl"]["mapping_unit"] == "4KiB" else 1
    smaller = sizes[device["ftl"]["capacity"]] // long * pages
    changes = {
        "device.geometry.pages_per_block": pages,
        "device.ftl.capacity": f"{smaller}B",
        "device.controller.write_buffer": "256KiB",
    }
    return api.resolve(scenario, changes)


@pytest.mark.parametrize("name", PAPERS)
@pytest.mark.parametrize("mode", ["quick", "full"])
def test_every_cell_of_every_paper_is_sound(name: str, mode: str) -> None:
    known = paper(name)
    setting = Setting(known.modes[mode], SCENARIOS / (known.folder or name))
    for figure in known.figures:
        # A figure that judges nothing says so.
        assert figure.statements or any("counted" in each for each in figure.assumptions)
        planned = figure.cells(setting)
        own = setting.scenarios / f"{figure.name}.toml"
        # A figure that is data names its scenarios itself.
        data = (REPRODUCE / (known.folder or name) / f"{figure.name}.toml").is_file()
        assert not planned or own.is_file() or data
        labels = [tuple(sorted(cell.labels.items())) for cell in planned]
        assert len(set(labels)) == len(labels), figure.name
        for cell in planned:
            scenario = cells.prepare(cell, max(setting.mode.scale, cell.least_scale)).scenario
            api.validate(thinned(scenario))


def test_a_smaller_drive_is_read_as_often() -> None:
    for file in ("fig04", "dap-ds"):
        path = SCENARIOS / "hrm" / f"{file}.toml"
        whole, part = (cells.prepare(Cell({}, [path]), scale).scenario for scale in (1, 8))
        assert whole["device"]["geometry"]["blocks_per_plane"] == 8 * part["device"]["geometry"]["blocks_per_plane"]
        assert (whole["device"]["ftl"]["capacity"], part["device"]["ftl"]["capacity"]) == ("200GiB", "25GiB")
        if file == "fig04":
            times = [each["workload"]["synthetic"].pop("duration") for each in (whole, part)]
            assert times == ["1h", "450s"]
        else:
            assert "runtime=450s" in part["workload"]["fio"]["job"]
            part["workload"]["fio"]["job"] = part["workload"]["fio"]["job"].replace("450s", "3600s")
        assert part["workload"] == whole["workload"]
    with pytest.raises(OutputError, match="1024 blocks of a plane cannot be divided by 7"):
        cells.scaled(api.resolve("hrm-200g"), 7)


def test_predicates() -> None:
    assert rising("", [1.0, 1.0, 2.0]).holds
    assert rising("", [1.0, 0.995]).holds
    assert not rising("", [1.0, 0.98]).holds
    assert not rising("", [1.0, 1.0], slack=-0.02).holds
    assert near("", 84.0, 85.0, 5.0).holds
    assert not near("", 79.9, 85.0, 5.0).holds
    assert not every([Found(True, "a"), Found(False, "b")]).holds
    with pytest.raises(LookupError):
        every([])
    table = Table([{"a": "x", "v": 1}, {"a": "y", "v": 2}, {"a": "y", "v": 3}])
    assert [row["v"] for row in table.where(a="y")] == [2, 3]
    with pytest.raises(LookupError, match="2 rows"):
        table.row(a="y")


@pytest.fixture
def small_papers(tmp_path: Path) -> Path:
    """The papers' scenarios on a drive of a thousandth."""
    folder = tmp_path / "scenarios" / "hrm"
    shutil.copytree(SCENARIOS / "hrm", folder)
    small = """\
extends = "hrm-200g"
device.geometry = { channels = 1, chips_per_channel = 2, blocks_per_plane = 512, pages_per_block = 8 }
device.ftl.capacity = "200MiB"
device.controller.write_buffer = "1MiB"
workload.synthetic.duration = "8s"
"""
    (folder / "small.toml").write_text(small)
    file = folder / "fig04.toml"
    file.write_text(file.read_text().replace('extends = "hrm-200g"', 'extends = "small.toml"'))
    return folder.parent


def test_the_command_writes_a_book(small_papers: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    arguments: list[str | Path] = [
        "reproduce",
        "hrm",
        "fig04",
        "--out",
        out,
        "--scenarios",
        small_papers,
        "--jobs",
        "1",
    ]
    done = call(*arguments)
    assert "Figure 4: relying on the controller:" in done.stdout
    assert "of 4 statements agree" in done.stdout
    written = json.loads((out / "reproduction.json").read_text())
    assert [figure["name"] for figure in written["papers"][0]["figures"]] == ["fig04"]
    assert written["papers"][0]["scale"] == 8
    assert "outlast reproduce hrm/fig04 --quick" in (out / "index.html").read_text()
    first = (out / "reproduction.json").read_bytes()
    call(*arguments)
    assert (out / "reproduction.json").read_bytes() == first


def test_the_help_names_every_paper_and_drive() -> None:
    said = call("reproduce", "--help").stdout
    assert all(name in said for name in (*PAPERS, *DRIVES))


def test_the_command_names_what_it_does_not_know(tmp_path: Path) -> None:
    there = "diff-raid, flexible, hrm, lfs, msapl, reparo"
    with pytest.raises(ScenarioError, match=f'no paper "fast19"; there are {there}'):
        paper("fast19")
    done = call("reproduce", "hrm", "fig10", "--out", tmp_path / "out", check=False)
    assert done.returncode == 2
    assert 'no figure "fig10" of hrm; there are fig03, table3, fig04, fig05' in done.stderr
    done = call("reproduce", "hrm", "--scenarios", tmp_path, check=False)
    assert done.returncode == 2
    assert "--scenarios" in done.stderr
    assert not (tmp_path / "out").exists()


def test_what_lacks_a_number_or_a_reason_is_found(tmp_path: Path) -> None:
    def judge(found: Found, because: str = "") -> str | None:
        return incomplete(Statement("Pigs fly.", "1", lambda _: found, because).judge(Table([])))

    assert judge(Found(True, "3 did")) is None
    assert judge(Found(True, "they did")) == "no number"
    assert judge(Found(True, "they did", (Number("pigs", 3, 4),))) is None
    assert judge(Found(False, "0 did")) == "no reason"
    assert judge(Found(False, "0 did"), "of gravity") is None
    lines = reproduce(tmp_path).incomplete()
    assert len(lines) == 1
    assert lines[0].startswith("tiny/fig1: There is a tenth.:")


def test_papers_share_cells_and_processes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    ran: list[str] = []
    real = work.measure

    def counted(job: cells.Job) -> cells.Record:
        ran.append(job.key)
        return real(job)

    monkeypatch.setattr(work, "measure", counted)
    first = tiny_paper((None, 25))
    second = replace(tiny_paper((None, 75)), name="other")
    setting = Setting(MODE, SCENARIOS)
    chosen = [write.Chosen(made, made.figures, setting) for made in (first, second)]
    done = write.reproduce(chosen, tmp_path / "book", kept=tmp_path / "kept")
    assert len(ran) == len(set(ran)) == 3  # the one without errors is in both
    assert done.to_dict()["counts"]["statements"] == 6
    assert write.command_of(done) == "outlast reproduce tiny other --quick"
    assert {path.name for path in (tmp_path / "book").iterdir()} == {
        *("index.html", "reproduction.json", "tiny", "tiny.html", "other", "other.html")
    }
    # Another book of the same cells runs nothing.
    write.reproduce(chosen[1:], tmp_path / "again", kept=tmp_path / "kept")
    assert len(ran) == 3
