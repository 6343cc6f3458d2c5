"""Have fleets and plans figures and tables for a paper, and do intervals of curves become bands?"""

from __future__ import annotations

import copy
import csv
import io
import json
from pathlib import Path
from typing import Any

import pytest

import outlast as package
from conftest import ROOT, Outlast
from outlast import fleet
from outlast.plots import Style, charts_of, document_at, save
from outlast.plots.drawing import Drawer

ENDINGS = {"pdf": b"%PDF", "svg": b"<?xml", "png": b"\x89PNG"}
LAYOUT = {
    "name": "RAID-5",
    "usable_bytes": 5e12,
    "loss_per_year": 1e-5,
    "loss_in_period": 5e-5,
    "rebuild_hours": 3.5,
    "rebuild_mib_s": 400.0,
    "failures": 0.2,
    "write_amplification": 2.5,
    "dwpd_used": 0.1,
    "dwpd_left": None,
    "tbw_years": None,
    "flash_years": 40.0,
    "drives_bought": 6,
    "price": 600.0,
    "energy_kwh": None,
    "price_per_tb_year": 24.0,
    "latency_us": {"healthy": {"read": 200.0, "write": 30.0}, "rebuilding": {"read": 900.0, "write": None}},
}
PLAN = {"plan": {"name": "six drives"}, "layouts": [LAYOUT, LAYOUT | {"name": "RAID-6", "loss_in_period": 1e-9}]}


@pytest.fixture(scope="module")
def studied(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a small fleet's result, as `outlast fleet --out` writes it."""
    folder = tmp_path_factory.mktemp("fleet")
    result = fleet.study(str(ROOT / "scenarios" / "fleet" / "exact.toml"))
    (folder / "result.json").write_text(json.dumps(result, allow_nan=False))
    return folder


@pytest.fixture
def plan(tmp_path: Path) -> Path:
    file = tmp_path / "plan.json"
    file.write_text(json.dumps(PLAN))
    return file


@pytest.mark.parametrize("ending", ENDINGS)
def test_the_losses_of_a_fleet_are_a_figure(studied: Path, tmp_path: Path, ending: str) -> None:
    document = document_at(str(studied))
    assert document is not None
    assert "loss-by-year" in document.plots.names
    file = save(document, "loss-by-year", tmp_path / f"losses.{ending}", Style(grey=True))
    assert file.read_bytes().startswith(ENDINGS[ending])


@pytest.mark.parametrize("chart", ["loss", "capacity", "rebuild", "life", "price", "latency-read", "latency-write"])
def test_every_figure_of_a_plan_is_drawn(plan: Path, tmp_path: Path, chart: str) -> None:
    document = document_at(str(plan))
    assert document is not None
    first, second = (save(document, chart, tmp_path / f"{name}.pdf") for name in ("one", "two"))
    assert first.read_bytes() == second.read_bytes()


def test_a_loss_that_spans_decades_has_a_logarithmic_axis(plan: Path) -> None:
    document = document_at(str(plan))
    assert document is not None
    assert charts_of(document).figure_of("loss").layout["yaxis"]["type"] == "log"
    assert charts_of(document).figure_of("price").layout["yaxis"]["type"] == "linear"


def test_the_table_of_a_plan_has_its_layouts_side_by_side(outlast: Outlast, plan: Path) -> None:
    rows = list(csv.reader(io.StringIO(outlast("table", plan, "--format", "csv").stdout)))
    assert rows[0] == ["figure", "RAID-5", "RAID-6"]
    assert ["usable_bytes", "5000000000000.0", "5000000000000.0"] in rows
    assert not any(row[0] == "energy_kwh" for row in rows)
    shown = outlast("table", plan, "--format", "latex").stdout
    assert r"usable capacity, TB & 5 & 5 \\" in shown
    assert r"loss of data in the period & 5 $\cdot$ 10$^{-5}$ & 1 $\cdot$ 10$^{-9}$ \\" in shown


@pytest.mark.parametrize("what", ["losses", "changes", "causes", "year"])
def test_tables_of_a_fleet_have_its_numbers(outlast: Outlast, studied: Path, what: str) -> None:
    result = json.loads((studied / "result.json").read_text())
    rows = list(csv.reader(io.StringIO(outlast("table", studied, what, "--format", "csv").stdout)))
    first: dict[str, list[Any]] = {
        "losses": [1, *(result["loss_by_year"][0]["fleet"][end] for end in ("mean", "low", "high"))],
        "changes": [result["change_first"][0]["setting"], result["change_first"][0]["elasticity"]],
        "causes": ["cause", "percent"],  # none: a chain has no last failure
        "year": ["drives_failed_a_year", result["life"]["drives_failed_a_year"]],
    }
    row = rows[0 if what == "causes" else 1]
    assert row[: len(first[what])] == list(map(str, first[what]))
    assert outlast("table", studied).stdout.startswith("| year | loss of any data |")


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("plot", "F", "loss-by-yaer", "-o", "x.pdf"), 'did you mean "loss-by-year"'),
        (("plot", "F", "loss-by-year", "-o", "x.html"), "the ending must be .pdf, .svg, .png"),
        (("plot", "F", "loss-by-year", "-o", "x"), "the ending must be .pdf, .svg, .png"),
        (("plot", "F", "F", "loss-by-year", "-o", "x.pdf"), "a fleet is drawn by itself"),
        (("table", "F", "cost"), "no [cost]"),
        (("table", "F", "latency"), 'no table "latency" of a fleet'),
        (("table", "F", "--figure", "throughput.iops"), "the table of a fleet is its own"),
        (("table", "F", "-o", "x.pdf"), "the ending must be .csv, .md or .tex"),
    ],
)
def test_what_a_fleet_has_not_is_refused(
    outlast: Outlast, studied: Path, arguments: tuple[str, ...], says: str
) -> None:
    done = outlast(*(str(studied) if each == "F" else each for each in arguments), check=False)
    assert done.returncode != 0
    assert says in done.stderr
    assert "Traceback" not in done.stderr


def broken() -> list[Any]:
    """Plans that nobody wrote: without a part, or with one of another kind."""
    found: list[Any] = [{"plan": 1, "layouts": 2}, {"plan": {}, "layouts": [3]}, {"plan": {}, "layouts": []}]
    for key in ("name", "loss_in_period", "latency_us"):
        whole = copy.deepcopy(PLAN)
        del whole["layouts"][0][key]  # type: ignore[index]
        found.append(whole)
    text = copy.deepcopy(PLAN)
    text["layouts"][0]["loss_in_period"] = "much"  # type: ignore[index]
    return [*found, text, {"loss_by_year": []}, {"loss_by_year": {"a": 1}, "engine": []}]


@pytest.mark.parametrize("content", broken(), ids=str)
def test_documents_that_nobody_wrote_are_refused_in_a_line(tmp_path: Path, content: Any) -> None:
    (tmp_path / "x.json").write_text(json.dumps(content))
    document = document_at(str(tmp_path / "x.json"))
    assert document is not None
    try:
        names = document.plots.names
        for name in names:
            save(document, name, tmp_path / "x.png", Style(dpi=50))
        table = document.table()
    except package.OutlastError as error:
        assert "\n" not in str(error)
    else:
        assert names or table.titles


def test_intervals_of_a_curve_are_bands_and_points_keep_their_bars(monkeypatch: pytest.MonkeyPatch) -> None:
    from matplotlib.figure import Figure

    def drawn(bands: bool, mode: str) -> tuple[int, int]:
        axes = Figure().subplots()
        trace = {"type": "scatter", "mode": mode, "x": [1, 2, 3], "y": [3.0, 2.0, 1.0]}
        Drawer(axes, Style(bands=bands, grey=True), "group").draw(trace | {"error_y": {"array": [0.5, 0.5, 0.5]}})
        (low, high) = (min(axes.dataLim.y0, 9), axes.dataLim.y1)
        assert (low, high) == (0.5, 3.5)
        return len(axes.collections), len(axes.containers)

    assert drawn(True, "lines+markers") == (1, 0)
    assert drawn(False, "lines+markers") == (1, 1)
    assert drawn(True, "markers") == (1, 1)
