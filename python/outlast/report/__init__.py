"""Reports: one self-contained page of HTML for a result, or one that lays several beside each other."""

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
