"""Does parity in the drive cost, give back and change what its settings say?"""

from __future__ import annotations

from typing import Any

import pytest

from conftest import ROOT, traces_folder
from outlast import api, models
from outlast.products.reproduce import cells, paper
from outlast.products.reproduce.model import Cell, Setting, Table
from outlast.products.reproduce.msapl import common
from outlast.report import render
from sample import sample_result, with_classes

SCENARIOS = ROOT / "scenarios"
NONE, SINGLE, DOUBLE, TWO_LEVEL = "none", "(7,1) card", "(6,2) card", "(7,1) card + (63,1) block"
SMALL: dict[str, Any] = {
    "extends": "msapl-128g",
    "device": {
        "geometry": {"blocks_per_plane": 96, "pages_per_block": 32},
        "ftl": {"capacity": "100MiB"},
        "controller": {"write_buffer": "1MiB"},
    },
    "workload": {"synthetic": {"span": "100%", "requests": 4000}},
    "precondition": {"tolerance": 0.1, "max_drive_writes": 1.0},
}
"""The drive of mSAPL with 192 MiB of flash."""
CLASSES = [
    {"data": 8, "parity": 0, "ranges": [{"from": "0B", "to": "32MiB"}]},
    {"data": 6, "parity": 2, "ranges": [{"from": "32MiB", "to": "100MiB"}]},
]


def run(overrides: dict[str, Any] | None = None, base: Any = SMALL) -> dict[str, Any]:
    """The summary of a run."""
    return dict(api.run([base], overrides or {}).summary)


def test_classes_cost_what_their_codes_say() -> None:
    settings = {"device.protection.classes": CLASSES, "precondition.overwrite": "none"}
    settings |= {"device.protection.partial.place": "none"}
    first = run(settings | {"workload.synthetic.span": "32MiB"})
    second = run(settings | {"workload.synthetic.offset": "32MiB", "workload.synthetic.span": "60MiB"})
    assert first["write_amplification"]["host_parity"] == 0
    # Parity of the stripe that is open at the end is not there yet.
    assert second["write_amplification"]["host_parity"] == pytest.approx(2 / 6, rel=0.01)
    for summary in (first, second):
        codes = [(own["class"], own["k"], own["m"], own["block"]) for own in summary["protection"]["by_class"]]
        assert codes == [(0, 8, 0, None), (1, 6, 2, None)]
        pages = [own["pages"] for own in summary["protection"]["by_class"]]
        assert pages == [32 * 128, 68 * 128]


def test_causes_add_up_to_the_whole() -> None:
    summary = run({"device.protection.classes": CLASSES, "device.protection.partial.place": "blocks"})
    parts = summary["write_amplification"]
    named = ("gc", "padding", "wear_leveling", "scrub", "rewritten", "reencode", "partial_parity", "partial_write")
    parity = ("host_parity", "gc_parity", "wear_leveling_parity", "scrub_parity")
    assert parts["partial_parity"] > 0
    assert parts["parity"] == pytest.approx(sum(parts[name] for name in parity))
    assert parts["total"] == pytest.approx(1 + parts["parity"] + sum(parts[name] for name in named))


def test_a_drive_without_parity_says_nothing_of_it() -> None:
    summary = run({"device.protection": None})
    assert summary["protection"] is None
    assert summary["write_amplification"]["parity"] == 0


def test_partial_parity_bounds_how_long_data_waits() -> None:
    slow = {"workload.synthetic.rate_iops": 10, "workload.synthetic.requests": 400, "precondition.overwrite": "none"}
    waits = {}
    for place in ("none", "inline", "blocks"):
        summary = run(slow | {"device.protection.partial.place": place})
        waits[place] = summary["protection"]["by_class"][0]["unprotected_page_seconds"]
        assert (summary["write_amplification"]["partial_parity"] > 0) == (place != "none")
    assert waits["inline"] < waits["none"] / 2
    assert waits["blocks"] < waits["none"] / 2


def test_a_run_with_classes_is_the_same_each_time() -> None:
    job = cells.prepare(Cell({}, [SCENARIOS / "msapl" / "msapl-financial.toml"], {}), 16)
    shorter = job.scenario | {"workload": {"synthetic": job.scenario["workload"]["synthetic"] | {"requests": 5000}}}
    kept = [dict(api.run(shorter).summary) for _ in range(2)]
    for summary in kept:
        for name in ("time", "memory"):
            del summary[name]
        summary["throughput"].pop("requests_per_cpu_s")
    assert kept[0] == kept[1]
    assert kept[0]["write_amplification"]["partial_parity"] > 0


def table_of_flexible(name: str) -> Table:
    """The rows of a figure of Flexible that is data, run anew."""
    flexible = paper("flexible")
    setting = Setting(flexible.modes["quick"], SCENARIOS / "flexible")
    (figure,) = [each for each in flexible.figures if each.name == name]
    planned = figure.cells(setting)
    summaries = [dict(api.run(cells.prepare(cell, 1).scenario).summary) for cell in planned]
    records = [{"scenario": summary["scenario"], "summary": summary} for summary in summaries]
    assert figure.rows is not None
    return Table(figure.rows(setting, planned, records))


def test_rebuilding_takes_what_flexible_measured() -> None:
    table = table_of_flexible("rebuild")
    assert table.row(code=SINGLE)["read_min_us"] == pytest.approx(66.72, rel=0.02)
    for code, expected in {SINGLE: 100.90, DOUBLE: 96.01, "(63,1) block": 4511.12}.items():
        assert table.row(code=code)["rebuild_us"] == pytest.approx(expected, rel=0.02), code


def test_space_efficiency_is_that_of_the_codes() -> None:
    table = table_of_flexible("space")
    expected = {NONE: 1.0, SINGLE: 7 / 8, DOUBLE: 6 / 8, TWO_LEVEL: 7 * 63 / (8 * 64)}
    for code, share in expected.items():
        assert table.row(code=code)["efficiency"] == pytest.approx(100 * share, abs=0.05), code


def test_a_code_changes_while_data_is_live() -> None:
    file = SCENARIOS / "flexible" / "recode.toml"
    short = {"workload.synthetic.duration": "5s"}
    plain = run(short, file)["protection"]
    moved = run(short | {"device.scrub": {"reprotect": True}}, file)
    assert [change["what"] for change in plain["changes"]] == ["class 0 gets (6, 2)"]
    assert plain["outdated_superblocks"] > plain["superblocks"] / 2
    assert moved["protection"]["outdated_superblocks"] == 0
    assert moved["write_amplification"]["reencode"] > 0
    assert (moved["protection"]["by_class"][0]["k"], moved["protection"]["by_class"][0]["m"]) == (6, 2)


def test_a_code_that_cannot_fit_is_refused_and_the_run_goes_on() -> None:
    change = {"at": "10ms", "data": 20, "parity": 2}
    summary = run({"changes": [change]})
    (made,) = summary["protection"]["changes"]
    assert made["refused"]
    assert "20" in made["refused"]
    assert (summary["protection"]["by_class"][0]["k"], summary["protection"]["by_class"][0]["m"]) == (6, 2)
    assert summary["host"]["errors"] == 0


def test_the_scenario_of_msapl_has_the_classes_of_its_figures() -> None:
    written = api.resolve(SCENARIOS / "msapl" / "msapl-financial.toml")["device"]["protection"]
    setting = Setting(paper("msapl").modes["full"], SCENARIOS / "msapl")
    made = cells.prepare(Cell({}, [setting.scenarios / "fig05.toml"], common.schemes(10)[common.MSAPL]), 1).scenario[
        "device"
    ]["protection"]
    assert written == made


def test_the_two_level_code_counts_exactly() -> None:
    # Of 2 x 2 cells only the whole square is lost.
    for p in (1e-9, 0.01, 0.5):
        assert models.product_uper(p, 2, 2) == pytest.approx(p**4 / 4, rel=1e-9)
    rare = models.product_uper(1e-12, 8, 64)
    assert rare == pytest.approx(models.product_rectangles(8, 64) * 1e-48 / 512, rel=1e-6)
    with pytest.raises(models.ModelError):
        models.product_uper(0.1, 17, 64)


def test_more_parity_crosses_first_when_it_wears_more() -> None:
    figure = paper("msapl").figure("fig01")
    assert figure is not None
    five, six = (number["closed_form"] for number in figure.verdicts(Table([]))[2]["numbers"])
    assert six < five
    assert six == pytest.approx(15_700, rel=0.01)
    assert five == pytest.approx(20_000, rel=0.01)


def test_partial_parity_of_a_real_trace() -> None:
    folder = traces_folder()
    file = folder / "spc-financial1-first10k.ascii.zst" if folder is not None else None
    if folder is None or file is None or not file.is_file():
        pytest.skip("there is no spc-financial1-first10k.ascii.zst")
    setting = Setting(paper("msapl").modes["quick"], SCENARIOS / "msapl", folder)
    figure = paper("msapl").figure("fig05")
    assert figure is not None
    waf = {}
    for cell in figure.cells(setting):
        if cell.labels["workload"].startswith("trace"):
            job = cells.prepare(cell, 16)
            waf[cell.labels["scheme"]] = api.run(job.scenario).summary["write_amplification"]["total"]
    assert waf[common.BLOCKS] < waf[common.ESAP]


def test_the_report_has_a_part_on_parity() -> None:
    page = render([with_classes(sample_result())])
    for words in (
        'id="protection"',
        "(6, 2) + (31, 1) in blocks",
        "class 1 gets (6, 2), made",
        "&lt;too&gt;",
        "<b>7</b>",
    ):
        assert words in page
    assert 'id="protection"' not in render([sample_result()])


def test_a_read_of_worn_out_flash_under_two_codes_costs_the_pages_on_which_they_meet() -> None:
    """A failing member had all of its other line read, each of these again: the watch for livelocks ended the run."""
    worn = {
        "device.geometry": {"channels": 8, "dies_per_chip": 2, "blocks_per_plane": 24, "pages_per_block": 32},
        "device.ftl": {"capacity": "16MiB", "mapping_unit": "16KiB"},
        "device.protection": {"data": 15, "parity": 1, "block": 31},
        "device.reliability": {
            "chip": "tlc-72-layer",
            "ecc": {"strength": 20},
            "rereads": {"max_retries": 3},
            "initial": {"pe_cycles": 8000, "age": "60d"},
        },
        "precondition.overwrite": "none",
        "run.warm_up": "0s",
        "workload.synthetic": {"read_percent": 100, "size": "16KiB", "queue_depth": 2, "requests": 6},
    }
    found = run(worn, base=str(SCENARIOS / "presets" / "demo.toml"))
    assert found["host"]["failed"]["medium_error"] == 6
    # Sixteen dies and 32 pages of a block, each sensed and then re-read three times.
    assert 6 * 16 < found["flash"]["reads"] <= 6 * 16 * 32 * 4
