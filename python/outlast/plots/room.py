"""Room on a printed page: legend, titles of axes and labels of ticks that neither touch nor leave the page."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise
from textwrap import wrap
from typing import Any
from warnings import catch_warnings, simplefilter

from outlast.plots.style import MOST_IN, Style, matplotlib

COLOUR_BAR = "<colorbar>"
"""Label of the axes of a colour bar, by matplotlib."""
MOST_COLUMNS = 4
"""Columns of a legend."""
SHORTEST_LINE = 8
"""Letters to which a line of a legend is broken."""
LEAST_SHARE = 0.62
"""Height that axes keep on a page whose height nobody asked for, over that of a page with a legend of one line."""
LEAST_AXES_PT = 18.0
"""Width and height, in points, below which axes show nothing."""
MOST_STEPS = 8
"""Steps by which a page grows until its axes have any room."""
TURNED = 30.0
"""Degrees by which names below bars are turned where they would touch."""


class NoRoomError(Exception):
    """Type leaves a chart no room on a page of this size."""


def add_legend(page: Any, layout: Mapping[str, Any]) -> None:
    """A legend above all axes, in as many columns as the page is wide for; names that are wider than it are broken."""
    handles, labels = [], []
    for axes in page.axes:
        own_handles, own_labels = axes.get_legend_handles_labels()
        handles += own_handles
        labels += own_labels
    if not labels or not layout.get("showlegend", len(labels) > 1):
        return
    room = page.bbox.width
    kept = {
        "loc": "outside upper left", "frameon": False, "borderaxespad": 0.2, "columnspacing": 1.0,
        "handlelength": 2.2,
    }  # fmt: skip
    for columns in range(min(len(labels), MOST_COLUMNS), 0, -1):
        legend = page.legend(handles, labels, ncols=columns, **kept)
        if legend.get_window_extent().width <= room:
            return
        legend.remove()
    for letters in range(max(map(len, labels)), SHORTEST_LINE - 1, -1):
        broken = ["\n".join(wrap(label, letters)) for label in labels]
        legend = page.legend(handles, broken, ncols=1, **kept)
        if legend.get_window_extent().width <= room:
            return
        legend.remove()
    raise NoRoomError


def fit(page: Any, style: Style, *, named_below: bool, named_rows: int) -> None:
    """Makes type fit on a page: bars have names below them, or `named_rows` rows have names beside them.

    Without a height asked for, the page grows until its axes have about the height that they would have beside one line
    of type above and one below, and each named row a line. Raises `NoRoomError`.
    """
    own = [axes for axes in page.axes if axes.get_label() != COLOUR_BAR]
    _break_titles(page, before=True)
    asked_in, has_room = page.get_figheight(), _laid_out(page)
    for _ in range(MOST_STEPS):
        if has_room or style.height_in is not None or page.get_figheight() >= MOST_IN:
            break
        page.set_figheight(min(1.3 * page.get_figheight(), MOST_IN))
        has_room = _laid_out(page)
    if not has_room:
        raise NoRoomError
    _fit_below(own[-1], named=named_below)
    for _ in range(2):
        _laid_out(page)
        if style.height_in is None:
            _grow(page, style, own, named_rows, asked_in)
        _break_titles(page, before=False)
    _laid_out(page)
    for axes in page.axes:
        # Names of rows are all needed, and have room made for them.
        if not (named_rows and axes in own):
            _fit_beside(axes)
    least = LEAST_AXES_PT * page.dpi / 72
    if not _laid_out(page) or any(min(_size(axes)) < least for axes in own):
        raise NoRoomError


def _laid_out(page: Any) -> bool:
    """Lays a page out; false if its type leaves axes nothing, and they stay where they were."""
    with catch_warnings(record=True) as told:
        simplefilter("always")
        page.draw_without_rendering()
    return not any("collapsed to zero" in str(each.message) for each in told)


def _size(axes: Any) -> tuple[float, float]:
    box = axes.get_window_extent()
    return box.width, box.height


def _break_titles(page: Any, *, before: bool) -> None:
    """Breaks titles of axes into lines no longer than these, or before there is a layout, than most of the page."""
    for axes in page.axes:
        wide, high = _size(axes)
        if before:
            wide, high = 0.75 * page.bbox.width, LEAST_SHARE * page.bbox.height
        for axis, room in ((axes.xaxis, wide), (axes.yaxis, high)):
            if axis.label.get_text():
                extent = axis.label.get_window_extent()
                length = extent.width if axis is axes.xaxis else extent.height
                if length > room:
                    _break(axis.label, room / length)


def _break(label: Any, share: float) -> None:
    """Breaks a label into lines of this share of its length, as far as its words allow."""
    text = label.get_text()
    words, now = " ".join(text.split("\n")), text.count("\n") + 1
    longest = max(map(len, text.split("\n")))
    lines = wrap(words, max(int(longest * share), 1), break_long_words=False, break_on_hyphens=False)
    if len(lines) <= now:
        return
    # Lines of about one length are as many, and look better.
    for letters in range(-(-len(words) // len(lines)), longest + 1):
        if len(even := wrap(words, letters, break_long_words=False, break_on_hyphens=False)) <= len(lines):
            lines = even
            break
    label.set_text("\n".join(lines))


def _grow(page: Any, style: Style, own: list[Any], rows: int, asked_in: float) -> None:
    """Makes a page higher whose axes type has left too little of."""
    start = page.get_figheight()
    line_in = 1.35 * (style.size_pt - 1) / 72
    wanted_in = max(LEAST_SHARE * asked_in, rows * line_in)
    lost_in = wanted_in - sum(_size(axes)[1] for axes in own) / page.dpi
    if lost_in <= 0.0:
        return
    page.set_figheight(min(start + lost_in, MOST_IN))
    _laid_out(page)


def _texts(axis: Any, low: float, high: float) -> list[tuple[float, Any]]:
    """Places and labels of the ticks that are seen."""
    pairs = zip(axis.get_majorticklocs(), axis.get_majorticklabels(), strict=False)
    return [(at, label) for at, label in pairs if low <= at <= high and label.get_text()]


def _fit_below(axes: Any, *, named: bool) -> None:
    """Keeps labels of the x axis from touching: names are turned, of numbers only each second, third, … stays.

    The figure has been laid out; a label needs half a letter of room on each side.
    """
    low, high = sorted(axes.get_xlim())
    shown = _texts(axes.xaxis, low, high)
    if not shown:
        return
    letter = shown[0][1].get_fontsize() * axes.figure.dpi / 72
    boxes = [label.get_window_extent() for _, label in shown]

    def touch(step: int) -> bool:
        kept = sorted(boxes[::step], key=lambda box: box.x0)
        return any(left.x1 + 0.5 * letter > right.x0 for left, right in pairwise(kept))

    if not touch(1):
        return
    if not named:
        step = next((step for step in range(2, len(shown)) if not touch(step)), len(shown))
        _keep(axes.xaxis, {at for at, _ in shown[::step]})
        return
    middles = sorted((box.x0 + box.x1) / 2 for box in boxes)
    apart = min((right - left for left, right in pairwise(middles)), default=letter)
    tall = 1.2 * letter * max(label.get_text().count("\n") + 1 for _, label in shown)
    # Turned labels are a line's height apart, across themselves: half of their distance, or upright all of it.
    degrees = TURNED if apart / 2 >= tall else 90.0
    axes.tick_params(axis="x", labelrotation=degrees)
    for _, label in shown:
        label.set(ha="right", rotation_mode="anchor", va="top" if degrees == TURNED else "center")
    if degrees == 90.0 and apart < tall:
        step = -int(-tall // apart)
        _keep(axes.xaxis, {at for at, _ in shown[::step]})


def _fit_beside(axes: Any) -> None:
    """Leaves out labels beside a y axis that touch one nearer to its upper end."""
    low, high = sorted(axes.get_ylim())
    shown = [(label.get_window_extent(), at) for at, label in _texts(axes.yaxis, low, high)]
    shown.sort(key=lambda each: -each[0].y0)
    kept: list[tuple[Any, float]] = []
    for box, at in shown:
        if not kept or box.y1 <= kept[-1][0].y0:
            kept.append((box, at))
    if len(kept) < len(shown):
        _keep(axes.yaxis, {at for _, at in kept})


def _keep(axis: Any, kept: set[float]) -> None:
    """Leaves the labels of an axis at these places only; its ticks stay."""
    ticker = matplotlib("matplotlib.ticker")
    places = list(axis.get_majorticklocs())
    texts: Sequence[str] = [label.get_text() for label in axis.get_majorticklabels()]
    words = [text if at in kept else "" for at, text in zip(places, texts, strict=False)]
    axis.set_major_locator(ticker.FixedLocator(places))
    axis.set_major_formatter(ticker.FixedFormatter(words))
