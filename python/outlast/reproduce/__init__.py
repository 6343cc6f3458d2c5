"""Figures of published papers, run again: each as a table, a chart and a verdict on what the paper says of it.

A paper is a folder of data, see `outlast.reproduce.data`, or a module that has `PAPER`, see `outlast.reproduce.model`.
Nothing of a paper is known outside of it.
"""

from __future__ import annotations

from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING

from outlast.errors import ScenarioError

if TYPE_CHECKING:
    from outlast.reproduce.model import Paper

PAPERS = {
    "diff-raid": "outlast.reproduce.diffraid",
    "flexible": "outlast.reproduce.flexible",
    "hrm": "outlast.reproduce.hrm",
    "lfs": "outlast.reproduce.lfs",
    "msapl": "outlast.reproduce.msapl",
    "reparo": "outlast.reproduce.reparo",
}
"""Module by name of paper, or folder of data: one that has `paper.toml`."""
DRIVES = {"drives": "outlast.reproduce.drives"}
"""What is judged likewise and is no paper: it is only run if it is named."""


def paper(name: str) -> Paper:
    """The paper of that name."""
    known = PAPERS | DRIVES
    if name not in known:
        raise ScenarioError(f'no paper "{name}"; there are {", ".join(known)}')
    if (folder := Path(__file__).parent / known[name].rpartition(".")[2]).joinpath("paper.toml").is_file():
        from outlast.reproduce.data import load

        return load(folder)
    found: Paper = import_module(known[name]).PAPER
    return found


__all__ = ["DRIVES", "PAPERS", "paper"]
