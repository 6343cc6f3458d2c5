"""Reports: one self-contained page of HTML for a result, or one that lays several beside each other.

A result becomes plain data for plotly.js (`figure`). One module for each part of the page makes figures and
sentences, `single` and `comparison` put the page together, and `assets/` has the style and the script that draws.
Colours are names that the script replaces for light or dark pages. Nothing here imports plotly's Python package.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from outlast.result import Result


def render(results: Sequence[Result]) -> str:
    """The report of one result, or the comparison of several."""
    if len(results) == 1:
        from outlast.report.single import page
    else:
        from outlast.report.comparison import page
    return page(results)


__all__ = ["render"]
