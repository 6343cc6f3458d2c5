"""Figures of published papers, run again: each as a table, a chart and a verdict on what the paper says of it.

A paper is a folder of data, see `outlast.products.reproduce.data`. Nothing of a paper is known outside of it.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from outlast.errors import ScenarioError

if TYPE_CHECKING:
    from outlast.products.reproduce.model import Paper

PAPERS = ("diff-raid", "flexible", "hrm", "lfs", "msapl", "reparo")
"""Their folders are called like them, without the dash."""
DRIVES = ("drives", "warp", "cachelib-fdp", "zn540", "client-drives", "heat")
"""Measurements of drives that are judged likewise: they only run if they are named."""


def paper(name: str) -> Paper:
    """The paper of that name."""
    if name not in (*PAPERS, *DRIVES):
        raise ScenarioError(f'no paper "{name}"; there are {", ".join((*PAPERS, *DRIVES))}')
    from outlast.products.reproduce.data import load

    return load(Path(__file__).parent / name.replace("-", ""))


__all__ = ["DRIVES", "PAPERS", "paper"]
