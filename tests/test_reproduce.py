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
from outlast import api
from outlast.errors import OutputError, ScenarioError
from outlast.points import job as work
from outlast.reproduce import PAPERS, cells, paper, write
from outlast.reproduce.check import every, near, rising
from outlast.reproduce.model import (
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
REPRODUCE = ROOT / "python" / "outlast" / "reproduce"
MODE = Mode("quick", 1, "tiny")
TLC = "72-layer TLC"
CHIPS = {
    "3x-nm MLC": ((10_000, 30_000, 50_000), (4, 1)),
    "2y-nm MLC": ((2_000, 5_000, 10_000), (10, 3)),
    TLC: ((1_000, 3_000, 5_000), (75, 25)),
}
"""Wear states, strong and weak ECC of HRM's chips."""
TINY: dict[str, Any] = {
    "extends": "demo",
    "device": {
        "geometry": {
            "channels": 2,
            "dies_per_chip": 1,
            "planes_per_die": 1,
            "blocks_per_plane": 128,
            "pages_per_block": 32,
            "page_size": "4KiB",
        },
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
    for words in ("Pigs fly.", "of gravity", "a trace that is not here", "<b>1 of 3</b>", "Figure 7: a drawing"):
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
    record = json.loads(job.file(tmp_path).read_text())
    job.file(tmp_path).write_text(json.dumps(record | {"key": "0" * 64}))
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


def kilo(cycles: int) -> str:
    """5000 as `5K`."""
    return f"{cycles // 1000}K"


def judged(figure: Figure, rows: list[dict[str, Any]]) -> list[str]:
    """The verdicts of a figure on made-up rows."""
    return [statement.judge(Table(rows))["verdict"] for statement in figure.statements]


def of_hrm(name: str) -> Figure:
    """A figure of HRM that is data."""
    return next(figure for figure in paper("hrm").figures if figure.name == name)


def rows_of_figure_4(ratio: dict[tuple[str, int, int], float]) -> list[dict[str, Any]]:
    rows = []
    for chip, (states, strengths) in CHIPS.items():
        for state, cycles in enumerate(states):
            for weak, bits in enumerate(strengths):
                labels = {"chip": chip, "state": kilo(cycles), "scheme": f"{bits}-bit ECC"}
                own = {"ratio": ratio[chip, state, weak], "first_check_fails_percent": 40.0 * state, "base": "any"}
                rows.append(labels | own)
    return rows


def test_figure_4_is_judged_by_its_numbers() -> None:
    height = {chip: 0.1 * (index + 1) for index, chip in enumerate(CHIPS)}
    ratio = {(c, s, w): 1 + height[c] * s * (1 + w) for c in CHIPS for s in range(3) for w in range(2)}
    # Fresh flash hardly fails: there strong and weak are the same.
    ratio[TLC, 2, 1] = 3.2
    assert judged(of_hrm("fig04"), rows_of_figure_4(ratio)) == ["agrees"] * 4
    assert judged(of_hrm("fig04"), rows_of_figure_4(ratio | {(TLC, 2, 1): 4.0}))[3] == "differs"
    assert judged(of_hrm("fig04"), rows_of_figure_4(ratio | {(TLC, 1, 0): 2.9}))[0] == "differs"
    assert judged(of_hrm("fig04"), rows_of_figure_4(ratio | {(TLC, 0, 1): 0.9}))[1] == "differs"
    assert judged(of_hrm("fig04"), rows_of_figure_4(ratio | {("3x-nm MLC", 2, 0): 2.9}))[2] == "differs"
    # A cell that is absent: one step less, and nothing to say about the slowest.
    assert judged(of_hrm("fig04"), rows_of_figure_4(ratio)[:-1])[:3] == ["differs", "differs", "not judged"]
    # Ties are for flash that hardly fails: nowhere else, and not everywhere.
    assert judged(of_hrm("fig04"), rows_of_figure_4(ratio | {(TLC, 1, 0): 1.0}))[:2] == ["differs", "differs"]
    flat = [row | {"ratio": 1.0, "first_check_fails_percent": 0.0} for row in rows_of_figure_4(ratio)]
    assert judged(of_hrm("fig04"), flat)[:2] == ["differs", "differs"]


def rows_of_figure_5(infinite: float, strong: float, weak: float, page: float) -> list[dict[str, Any]]:
    """Shares of the three strengths; `page` of what they differ by is left if reads disturb their page only."""
    shares = {"∞-bit ECC": infinite, "75-bit ECC": strong, "25-bit ECC": weak}
    made = []
    setting = Setting(paper("hrm").modes["quick"], SCENARIOS / "hrm")
    for variant in dict.fromkeys(cell.labels["variant"] for cell in of_hrm("fig05").cells(setting)):
        for scheme, share in shares.items():
            value = page * share + (1 - page) * 80 if variant.endswith("page only") else share
            labels = {"variant": variant, "scheme": scheme, "below_75_percent": value}
            made.append(labels | {"fresh_errors": 67.2, "collection_checks_percent": 40.0})
    return made


def test_figure_5_is_judged_by_its_numbers() -> None:
    shown, rows = of_hrm("fig05"), rows_of_figure_5
    assert judged(shown, rows(85, 74, 51, page=0)) == ["agrees"] * 5
    assert judged(shown, rows(74, 85, 51, page=0)) == ["differs"] * 3 + ["agrees", "agrees"]
    assert judged(shown, rows(85, 85, 51, page=0))[0] == "differs"
    assert judged(shown, rows(85, 74, 40, page=1))[3:] == ["differs", "differs"]
    why = shown.statements[1].judge(Table(rows(60, 50, 40, page=0)))["because"]
    assert "40 % of the checks" in why
    assert "60 / 50 / 40 %" in why


def test_share_of_unread_codewords_is_binomial() -> None:
    verdict = of_hrm("fig05").statements[1].judge(Table(rows_of_figure_5(60, 50, 40, page=0)))
    bits, p = 4096, 67.2 / 4096
    # Another way: each term from the one before.
    term, terms = (1 - p) ** bits, []
    for k in range(76):
        terms.append(term)
        term *= (bits - k) / (k + 1) * p / (1 - p)
    assert math.isclose(verdict["numbers"][0]["closed_form"], 100 * sum(terms[:75]), rel_tol=1e-9)
    assert f"({100 * sum(terms[:75]):.1f} % below 75 bits, {100 * sum(terms):.1f} % up to 75)" in verdict["because"]


def rows_with_redundancy(retries: int) -> list[dict[str, Any]]:
    amplification = {"s = 15": 3.5, "s = 7": 5.7}
    rows: list[dict[str, Any]] = []
    for cycles in (1_000, 3_000, 5_000):
        base = {"state": kilo(cycles), "log10_uber": -30.0, "rber_max": 0.02, "read_mean_us": 100.0}
        base |= {"first_check_fails_percent": 1.0}
        none = {"scheme": "re-reads only", "write_amplification": 3.0, "ratio": 1.5, "tail_ratio": 1.5}
        rows.append(base | none)
        for scheme in amplification:
            is_long = scheme == "s = 15"
            failures = {"stripe_attempts": 20, "stripe_failures": 3 + is_long, "stripe_fails_percent": 40.0}
            if retries == 3 and cycles != 5000:
                failures["stripe_failures"] = 0
            own = {"scheme": scheme, "ratio": 1.6, "stripe_fails_exact_percent": 1.0}
            own |= {"write_amplification": amplification[scheme], "tail_ratio": cycles / 1000 + is_long + 2}
            rows.append(base | failures | own)
    return rows


def test_redundancy_is_judged_by_its_numbers() -> None:
    once, thrice = rows_with_redundancy(1), rows_with_redundancy(3)
    assert judged(of_hrm("fig06"), once) == ["agrees"] * 6
    assert judged(of_hrm("fig07"), thrice) == ["agrees"] * 4
    for row in once + thrice:
        row["stripe_failures"], row["write_amplification"], row["tail_ratio"] = 0, 3.0, 1.5
        if row["scheme"] == "s = 15":
            row["stripe_fails_percent"] = 50.0
    assert judged(of_hrm("fig06"), once) == ["differs", "differs", "agrees", "differs", "differs", "differs"]
    assert judged(of_hrm("fig07"), thrice)[1:] == ["differs", "agrees", "differs"]
    for row in thrice:
        row["stripe_attempts"] = 0
    # Nothing was to be recovered, so that nothing is shown.
    assert judged(of_hrm("fig07"), thrice)[2] == "differs"


def test_schemes_are_judged_by_their_average() -> None:
    shown, schemes = of_hrm("fig11"), ("ECC + re-read", "oracle scrub", "HRM")
    average = {"3x-nm MLC": (18.7, 12.3, 10.4), "2y-nm MLC": (5.0, 1.7, 0.9), TLC: (155.1, 64.5, 59.0)}
    rows: list[dict[str, Any]] = []
    for chip, overheads in average.items():
        for workload, factor in (("like DAP-DS", 1.5), ("like DAP-PS", 0.5)):
            for scheme, percent in zip(schemes, overheads, strict=True):
                labels = {"chip": chip, "workload": workload, "scheme": scheme}
                rows.append(labels | {"read_mean_ratio": 1 + factor * percent / 100})
    verdicts = judged(shown, rows)
    assert verdicts[:8] == ["agrees"] * 8
    # Here prevention helps DAP-PS too, unlike in the paper.
    assert verdicts[8] == "differs"
    assert [number["simulation"] for number in shown.statements[5].judge(Table(rows))["numbers"]] == pytest.approx(
        average[TLC]
    )
    for row in rows:
        row["read_mean_ratio"] = 3.0 if row["scheme"] == "HRM" else 1.0
    assert judged(shown, rows)[:3] == ["differs"] * 3


def test_scrubbing_is_judged_by_its_numbers() -> None:
    shown = of_hrm("fig08")
    one = "5K, one codeword a read"
    schemes = ["re-reads only", "E(err) = 100", "E(err) = 75", "E(err) = 50", "E(err) = 50, 10MB/s"]
    rows: list[dict[str, Any]] = []
    for state in ("1K", "3K", "5K", one):
        worn = state == "5K"
        for index, scheme in enumerate(schemes):
            row = {"state": state, "scheme": scheme, "ratio": 1.2, "read_p99_9_us": 900.0 - index}
            row |= {
                "write_amplification": 3.0 + index * worn,
                "wa_gc": 2.0,
                "wa_scrub": 5.0,
                "scrubbed_superblocks": worn * 9,
                "scrubbed_again": 0,
            }
            rows.append(row)
    assert judged(shown, rows) == ["agrees"] * 8
    for row in rows:
        row["ratio"], row["wa_scrub"], row["scrubbed_superblocks"] = 1.8, 1.0, 9
        row["first_check_fails_percent"] = 80.0
        if row["state"] == one:
            row["ratio"], row["read_p99_9_us"] = 1.19, 900.0
    few = ["agrees", "differs", "agrees", "differs", "agrees", "differs", "differs", "agrees"]
    assert judged(shown, rows) == few
    assert "1.19×" in shown.statements[5].judge(Table(rows))["because"]
    for row in rows:
        # It moves what it has moved.
        row["wa_scrub"], row["scrubbed_again"] = 5.0, 7
    assert judged(shown, rows)[1] == "differs"


def test_old_data_is_judged_by_its_numbers() -> None:
    shown = of_hrm("fig09")
    rows: list[dict[str, Any]] = []
    for chip in (*CHIPS, f"{TLC}, one codeword a read"):
        for age, rereads in (("just written", 0.1), ("30 to 90 days", 0.5)):
            for scheme, ratio in (("re-reads only", 2.0), ("s = 15", 2.1), ("scrubbing", 1.54)):
                row: dict[str, Any] = {"chip": chip, "state": age, "scheme": scheme, "ratio": ratio}
                rows.append(row | {"rereads_per_read": rereads, "scrubbed_superblocks": 3})
    assert judged(shown, rows) == ["agrees"] * 4
    for row in rows:
        # 29 % less: more than five points off. Nothing is read again more often.
        row["ratio"] *= 1.42 / 1.54 if row["scheme"] == "scrubbing" else 1.0
        row["rereads_per_read"] = 0.1
    assert judged(shown, rows) == ["differs", "agrees", "agrees", "differs"]


def test_the_trace_is_left_out_where_it_is_not(tmp_path: Path) -> None:
    mode = paper("hrm").modes["quick"]
    without = Setting(mode, SCENARIOS / "hrm")
    assert "--traces" in paper("hrm").skipped(without)[0]
    (tmp_path / "ms-prod-dtrs-127k.ascii.zst").write_bytes(b"")
    beside = Setting(mode, SCENARIOS / "hrm", tmp_path)
    assert paper("hrm").skipped(beside) == []
    extra = len(of_hrm("fig11").cells(beside)) - len(of_hrm("fig11").cells(without))
    assert extra == 1 + 3 * len(CHIPS) + 1


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


@pytest.mark.parametrize("name", ["map", "block"])
def test_an_oracle_of_hrm_scrubs_by_nothing_but_what_it_knows(name: str) -> None:
    hrm = paper("hrm")
    setting = Setting(hrm.modes["quick"], SCENARIOS / "hrm")
    oracles = [cell for cell in of_hrm(name).cells(setting) if str(cell.labels["scheme"]).startswith("oracle")]
    assert oracles
    for cell in oracles:
        scrub = cells.prepare(cell, max(setting.mode.scale, cell.least_scale)).scenario["device"]["scrub"]
        # What the scenario below it has of HRM's own trigger is taken away.
        assert scrub["expected_errors"] > 0
        assert "rereads_per_unit" not in scrub
