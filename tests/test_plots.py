"""Are printed charts those of the report, as wide as asked, the same to the byte, and tables a result's figures?"""

from __future__ import annotations

import csv
import io
import json
import re
from itertools import combinations, pairwise
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import outlast
from conftest import Outlast
from outlast.plots import FORMATS, Style, charts_of, length, save, tabular
from outlast.plots import style as styles
from outlast.plots.saving import _draw
from outlast.plots.style import matplotlib as matplotlib_of
from outlast.report.figure import Figure
from test_bad_input import refused

matplotlib = pytest.importorskip("matplotlib.figure")
RESULTS = ("weak_result", "array_result", "jobs_result", "repair_result", "causes_result")


@pytest.mark.parametrize("fixture", RESULTS)
def test_every_chart_of_a_result_is_drawn(request: pytest.FixtureRequest, tmp_path: Path, fixture: str) -> None:
    result = outlast.load(request.getfixturevalue(fixture))
    charts = charts_of(result)
    assert len(charts.names) > 4
    for name in charts.names:
        file = save(result, name, tmp_path / f"{name}.svg", Style(dpi=50))
        assert file.read_bytes().startswith(b"<?xml")


def drawn(figure: Figure, style: Style) -> Any:
    """A chart as matplotlib has it."""
    page = matplotlib.Figure()
    _draw(page, figure, style)
    return page


def test_lines_have_the_numbers_of_the_report(weak_result: Path) -> None:
    figure = charts_of(outlast.load(weak_result)).figure_of("distribution")
    axes = drawn(figure, Style()).axes[0]
    assert [line.get_label() for line in axes.get_lines()] == [trace["name"] for trace in figure.data]
    for line, trace in zip(axes.get_lines(), figure.data, strict=True):
        assert (list(line.get_xdata()), list(line.get_ydata())) == (trace["x"], trace["y"])
    assert axes.get_xscale() == "log"
    assert axes.get_xlabel() == figure.layout["xaxis"]["title"]["text"]


def shown(page: Any) -> list[Any]:
    """Boxes of the labels of the x axis, from left to right."""
    page.draw_without_rendering()
    axes = page.axes[-1]
    low, high = sorted(axes.get_xlim())
    labels = zip(axes.get_xticks(), axes.get_xticklabels(), strict=True)
    boxes = [label.get_window_extent() for at, label in labels if low <= at <= high and label.get_text()]
    return sorted(boxes, key=lambda box: box.x0)


@pytest.mark.parametrize(("width", "least"), [(2.4, 2), (3.3, 3), (7.0, 6)])
def test_labels_of_an_axis_do_not_touch(weak_result: Path, width: float, least: int) -> None:
    figure = charts_of(outlast.load(weak_result)).figure_of("distribution")
    style = Style(width_in=width)
    with matplotlib_of("matplotlib").rc_context(style.parameters()):
        page = matplotlib.Figure(figsize=(width, 0.68 * width), layout="constrained")
        _draw(page, figure, style)
        boxes = shown(page)
    assert len(boxes) >= least
    assert all(left.x1 + 1 < right.x0 for left, right in pairwise(boxes))


def test_long_names_below_bars_are_turned() -> None:
    names = [f"a layout of number {number}" for number in range(6)]
    bars = Figure("test", [{"type": "bar", "x": names, "y": [1.0] * 6}])
    page = matplotlib.Figure(figsize=(3.3, 2.2), layout="constrained")
    _draw(page, bars, Style())
    labels = page.axes[0].get_xticklabels()
    assert [label.get_text() for label in labels] == names and {label.get_rotation() for label in labels} == {30.0}
    page = matplotlib.Figure(figsize=(3.3, 2.2), layout="constrained")
    _draw(page, Figure("test", [{"type": "bar", "x": ["a", "b"], "y": [1.0, 2.0]}]), Style())
    assert {label.get_rotation() for label in page.axes[0].get_xticklabels()} == {0.0}


@pytest.mark.parametrize("across", [False, True])
def test_stacked_bars_stand_on_each_other(across: bool) -> None:
    series = {"a": [1.0, 2.0], "b": [3.0, 0.5]}
    keys = ("y", "x") if across else ("x", "y")
    data = [{"type": "bar", "name": name, keys[0]: ["one", "two"], keys[1]: own} for name, own in series.items()]
    data = [trace | ({"orientation": "h"} if across else {}) for trace in data]
    axes = drawn(Figure("test", data, {"barmode": "stack"}), Style()).axes[0]
    boxes = [patch.get_bbox() for patch in axes.patches]
    ends = [(box.x0, box.x1) if across else (box.y0, box.y1) for box in boxes]
    assert ends == [(0, 1), (0, 2), (1, 4), (2, 2.5)]


def test_areas_are_stacked_and_maps_keep_their_cells() -> None:
    areas = [{"type": "scatter", "x": [0, 1], "y": own, "stackgroup": "one"} for own in ([1.0, 2.0], [3.0, 4.0])]
    axes = drawn(Figure("test", areas), Style()).axes[0]
    tops = [collection.get_paths()[0].vertices[:, 1].max() for collection in axes.collections]
    assert tops == [2.0, 6.0]
    grid = {"type": "heatmap", "x": [0, 1, 2], "y": [0, 1], "z": [[1, 2, None], [4, 5, 6]]}
    mesh = drawn(Figure("test", [grid]), Style()).axes[0].collections[0]
    assert mesh.get_array().filled(-1).tolist() == [[1, 2, -1], [4, 5, 6]]


@pytest.mark.parametrize("ending", FORMATS)
def test_the_same_chart_is_the_same_bytes(weak_result: Path, tmp_path: Path, ending: str) -> None:
    result = outlast.load(weak_result)
    one, two = (save(result, "throughput", tmp_path / f"{name}.{ending}").read_bytes() for name in "ab")
    assert one == two


@pytest.mark.parametrize(("text", "points"), [("3.3in", 237.6), ("84mm", 238.11), ("8.4cm", 238.11), ("240pt", 240)])
def test_a_pdf_is_as_wide_as_it_should_be(weak_result: Path, tmp_path: Path, text: str, points: float) -> None:
    file = save(outlast.load(weak_result), "throughput", tmp_path / "a.pdf", Style(width_in=length(text)))
    box = re.search(rb"/MediaBox \[ ?0 0 ([\d.]+) ([\d.]+)", file.read_bytes())
    assert box is not None
    assert float(box[1]) == pytest.approx(points, abs=0.02)


def lightness(colour: str) -> float:
    """Relative luminance of sRGB (IEC 61966-2-1), 0 to 1."""
    parts = [int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)]
    linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
    return sum(weight * part for weight, part in zip((0.2126, 0.7152, 0.0722), linear, strict=True))


def test_series_differ_without_colour() -> None:
    for colours in (styles.COLOURS, styles.GREYS):
        looks = list(zip(map(lightness, colours), map(str, styles.DASHES), styles.MARKERS, styles.HATCHES, strict=True))
        for one, two in combinations(looks, 2):
            assert one[1:] != two[1:]
        # Neighbours, of which most charts have no more, differ in lightness, too.
        for one, two in combinations(looks[:3], 2):
            assert abs(one[0] - two[0]) > 0.02


def test_the_command_lists_charts_and_writes_them(outlast: Outlast, weak_result: Path, tmp_path: Path) -> None:
    listed = outlast("plot", weak_result).stdout
    assert "distribution " in listed
    outlast("plot", weak_result, "distribution", "-o", "a.pdf", "--width", "84mm", "--grey", "--font", "serif")
    assert (tmp_path / "a.pdf").read_bytes().startswith(b"%PDF")
    outlast("plot", weak_result, weak_result, "causes", "-o", "b.png")
    assert (tmp_path / "b.png").read_bytes().startswith(b"\x89PNG")


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["distribution", "-o", "a.html"], "a.html: the ending must be .pdf, .svg, .png"),
        (["distribution", "-o", "report"], "report: the ending must be"),
        (["distributoin", "-o", "a.pdf"], 'did you mean "distribution"?'),
        (["distribution"], "name a RESULT, a CHART and -o FILE"),
        (["distribution", "-o", "a.pdf", "--width", "3ft"], "3ft: must be a length such as 3.3in"),
        (["distribution", "-o", "a.pdf", "--width", "100in"], "must be within 0.5 and 50 inches"),
        (["distribution", "-o", "absent/a.pdf"], "absent"),
        (["distribution", "-o", "a.pdf", "--width", "0.5in"], "a.pdf: a page of 0.5 x 0.34 inches has no room"),
    ],
)
def test_what_cannot_be_drawn_is_refused(
    outlast: Outlast, weak_result: Path, tmp_path: Path, arguments: list[str], said: str
) -> None:
    refused(outlast, tmp_path, "plot", weak_result, *arguments, says=[said])


def test_a_table_as_csv_has_the_figures_of_the_result(outlast: Outlast, weak_result: Path) -> None:
    names = ("throughput.iops", "latency_us.read.p99", "write_amplification.total")
    chosen = [word for name in names for word in ("--figure", name)]
    rows = list(csv.reader(io.StringIO(outlast("table", weak_result, weak_result, *chosen, "--format", "csv").stdout)))
    summary = json.loads((weak_result / "result.json").read_text())
    assert rows[0] == ["figure", "weak", "weak"]
    for row, name in zip(rows[1:], names, strict=True):
        value = summary
        for step in name.split("."):
            value = value[step]
        assert row[0] == name
        assert [float(cell) for cell in row[1:]] == [value, value]


def test_the_percentiles_and_tables_of_a_result(outlast: Outlast, weak_result: Path) -> None:
    summary = json.loads((weak_result / "result.json").read_text())
    rows = list(csv.DictReader(io.StringIO(outlast("table", weak_result, "latency", "--format", "csv").stdout)))
    found = {row["latency_us"]: row["read"] for row in rows}
    assert float(found["p99"]) == summary["latency_us"]["read"]["p99"]
    assert found["p99_9999"] == ""
    series = outlast("table", weak_result, "timeseries", "--format", "csv").stdout
    columns = outlast_columns(weak_result, "timeseries")
    read = list(csv.DictReader(io.StringIO(series)))
    assert [float(row["iops"]) for row in read] == list(columns["iops"])


def outlast_columns(folder: Path, table: str) -> Any:
    """Columns of a table of a result."""
    return outlast.load(folder).columns(table)


def test_markdown_and_latex_have_a_cell_for_each_column(outlast: Outlast, weak_result: Path, tmp_path: Path) -> None:
    markdown = outlast("table", weak_result).stdout.splitlines()
    assert len({line.count("|") for line in markdown}) == 1
    outlast("table", weak_result, "-o", "a.tex")
    text = (tmp_path / "a.tex").read_text()
    rows = [line for line in text.splitlines() if line.endswith(r"\\")]
    assert len(rows) == len(markdown) - 1
    assert all(len(re.findall(r"(?<!\\)&", row)) == 1 for row in rows)


@given(st.text())
def test_latex_leaves_no_sign_of_its_own_unescaped(text: str) -> None:
    escaped = re.sub(r"\$\^\{[-0-9]+\}\$", "", tabular.latex(text))
    for known in sorted(set(tabular._LATEX.values()), key=len, reverse=True):
        escaped = escaped.replace(known, "")
    assert not set(escaped) & set("\\&%$#_{}~^")


def test_rows_of_latex_and_markdown_keep_what_is_in_a_cell() -> None:
    names = ["[a]", "*b", "a|b", "x<y", "1.5 · 10⁻¹⁷", "two\nlines", "a--b"]
    table = tabular.Tabular(
        ["", "value"], ["figure", "value"], [[name, 1] for name in names], [[n, "1"] for n in names]
    )
    rows = [line.removesuffix(r" & 1 \\") for line in table.text("latex").splitlines() if line.endswith(r"& 1 \\")]
    # After the end of a row a bracket and a star are arguments of it; in the fonts of old | and < are other signs.
    assert rows == [
        "{}[a]", "{}*b", r"a\textbar{}b", r"x\textless{}y", r"1.5 $\cdot$ 10$^{-17}$", "two lines", "a-{}-b",
    ]  # fmt: skip
    assert len(table.text("markdown").splitlines()) == 2 + len(names)
    assert r"| a\|b | 1 |" in table.text("markdown")


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["-o", "a.html"], "the ending must be .csv, .md or .tex"),
        (["nothing"], "no table 'nothing'"),
        (["--figure", "throughput.iosp"], 'did you mean "throughput.iops"?'),
        (["latency", "--figure", "throughput.iops"], "--figure belongs to figures"),
    ],
)
def test_what_is_no_table_is_refused(
    outlast: Outlast, weak_result: Path, tmp_path: Path, arguments: list[str], said: str
) -> None:
    refused(outlast, tmp_path, "table", weak_result, *arguments, says=[said])


def test_a_png_of_more_dots_than_fit_into_memory_is_refused(
    outlast: Outlast, weak_result: Path, tmp_path: Path
) -> None:
    size = ("--width", "50in", "--height", "50in", "--dpi", "1200")
    says = ["big.png", "3600 million dots", "at most 100 million"]
    refused(outlast, tmp_path, "plot", weak_result, "distribution", "-o", tmp_path / "big.png", *size, says=says)
