"""Figures of published papers, run again: each as a table, a chart and a verdict on what the paper says of it.

A paper is a module that has `PAPER`; see `outlast.reproduce.model`. Nothing of a paper is known outside its module.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

from outlast.errors import ScenarioError

if TYPE_CHECKING:
    from outlast.reproduce.model import Paper

PAPERS = {
    "diff-raid": "outlast.reproduce.diffraid",
    "flexible": "outlast.reproduce.flexible",
    "hrm": "outlast.reproduce.hrm",
    "msapl": "outlast.reproduce.msapl",
    "reparo": "outlast.reproduce.reparo",
}
"""Module by name of paper."""
DRIVES = {"drives": "outlast.reproduce.drives"}
"""What is judged likewise and is no paper: it is only run if it is named."""


def paper(name: str) -> Paper:
    """The paper of that name."""
    known = PAPERS | DRIVES
    if name not in known:
        raise ScenarioError(f'no paper "{name}"; there are {", ".join(known)}')
    found: Paper = import_module(known[name]).PAPER
    return found


__all__ = ["DRIVES", "PAPERS", "paper"]
