"""Do legends, titles and labels of a printed chart fit on its page, and are names and series shown as they are?"""

from __future__ import annotations

from itertools import combinations
from typing import Any

import pytest

import outlast
from outlast.plots import Style, charts_of
from outlast.plots.room import NoRoomError
from outlast.plots.saving import _draw
from outlast.plots.style import matplotlib as matplotlib_of
from outlast.report.figure import Figure
from test_plots import drawn

matplotlib = pytest.importorskip("matplotlib.figure")


def faults(page: Any) -> list[str]:
    """Texts of a page that leave it, and pairs that touch; those that are turned are left out of pairs."""
    page.draw_without_rendering()
    hidden = set()
    for axis in (axis for axes in page.axes for axis in (axes.xaxis, axes.yaxis)):
        low, high = sorted(axis.get_view_interval())
        for tick in [*axis.get_major_ticks(), *axis.get_minor_ticks()]:
            hidden |= set() if low <= tick.get_loc() <= high else {tick.label1, tick.label2}
    texts = [each for each in page.findobj(matplotlib_of("matplotlib.text").Text) if each.get_text().strip()]
    boxes = [(each, each.get_window_extent()) for each in texts if each.get_visible() and each not in hidden]
    wide, high = page.bbox.width + 1, page.bbox.height + 1
    found = [text.get_text() for text, box in boxes if min(box.x0, box.y0) < -1 or box.x1 > wide or box.y1 > high]
    level = [(text.get_text(), box) for text, box in boxes if text.get_rotation() in (0, 90)]
    for (one, a), (two, b) in combinations(level, 2):
        if min(a.x1, b.x1) - max(a.x0, b.x0) > 1 and min(a.y1, b.y1) - max(a.y0, b.y0) > 2:
            found.append(f"{one} on {two}")
    return found


def laid_out(figure: Figure, style: Style) -> Any:
    """A chart as it is printed."""
    with matplotlib_of("matplotlib").rc_context(style.parameters()):
        page = matplotlib.Figure(figsize=(style.width_in, 0.68 * style.width_in), layout="constrained")
        _draw(page, figure, style)
        page.draw_without_rendering()
    return page


@pytest.mark.parametrize("fixture", ["array_result", "repair_result", "causes_result"])
def test_type_neither_touches_nor_leaves_the_page(request: pytest.FixtureRequest, fixture: str) -> None:
    charts = charts_of(outlast.load(request.getfixturevalue(fixture)))
    style = Style(width_in=3.3)
    for name in charts.names:
        page = laid_out(charts.figure_of(name), style)
        assert faults(page) == [], name
        box = page.axes[0].get_window_extent()
        assert box.width > 0.5 * page.bbox.width and box.height > 0.3 * page.bbox.height, name


LINE = {"type": "scatter", "x": [0, 1], "y": [1, 2]}


def test_long_names_are_broken_and_do_not_narrow_the_axes() -> None:
    names = [f"a run of the layout that has the number {number} and many settings of its own" for number in range(3)]
    layout = {"yaxis": {"title": {"text": "bytes that were programmed for each byte that was written by the host"}}}
    page = laid_out(Figure("test", [LINE | {"name": name} for name in names], layout), Style(width_in=2.4))
    assert faults(page) == []
    assert page.axes[0].get_window_extent().width > 0.5 * page.bbox.width
    shown = [text.get_text().replace("\n", " ") for text in page.legends[0].get_texts()]
    assert shown == names


def test_a_page_grows_for_its_type_unless_its_height_is_asked_for() -> None:
    lines = [LINE | {"name": f"a curve with a long name of its own, {number}"} for number in range(12)]
    free = laid_out(Figure("test", lines), Style(width_in=2.4))
    assert free.get_figheight() > 1.5 * 0.68 * 2.4
    with pytest.raises(NoRoomError):
        laid_out(Figure("test", lines), Style(width_in=2.4, height_in=1.0))


def test_spans_begin_where_they_begin() -> None:
    bars = [
        {"type": "bar", "orientation": "h", "name": name, "x": [2.0] * len(base), "base": base, "y": ["a"] * len(base)}
        for name, base in (("clean", [0.0, 5.0]), ("degraded", [2.0]))
    ]
    axes = drawn(Figure("test", bars, {"barmode": "overlay"}), Style()).axes[0]
    assert [(patch.get_x(), patch.get_width()) for patch in axes.patches] == [(0, 2), (5, 2), (2, 2)]


@pytest.mark.parametrize("name", [r"a\b", "$x$ and $y$", r"\$a$", "_hidden", "50 % {a}"])
def test_names_are_shown_as_they_are(name: str) -> None:
    page = laid_out(Figure("test", [LINE | {"name": name}, LINE | {"name": "b"}]), Style())
    (label, _) = page.legends[0].get_texts()
    text, math = label._preprocess_math(label.get_text())
    assert (text.strip(), math) == (name, False)


def test_no_two_of_many_series_look_alike() -> None:
    for grey in (False, True):
        style = Style(grey=grey)
        for look in (style.hatch, style.dash, style.marker):
            assert len({(style.colour(index), str(look(index))) for index in range(36)}) == 36


def test_large_numbers_have_their_factor_beside_them() -> None:
    page = laid_out(Figure("test", [LINE | {"y": [1.2e6, 3.4e6]}]), Style())
    axis = page.axes[0].yaxis
    assert axis.get_offset_text().get_text() == ""
    assert "2M" in [label.get_text() for label in axis.get_majorticklabels()]
