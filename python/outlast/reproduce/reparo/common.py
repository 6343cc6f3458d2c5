"""What the figures of Reparo share: the drives of section 7.1, and that closed forms need no cells."""

from __future__ import annotations

from outlast.reproduce.model import Cell, Setting

CORES = 4
"""Flash cores (section 7.1)."""
DIES = {"4 TB": 64, "8 TB": 128, "16 TB": 256, "32 TB": 512}
"""Dies by capacity: 512 Gib each (section 1)."""
DIE_BYTES = 2**36
UTILISATION = 0.9
"""Logical over physical space (section 7.1)."""


def no_cells(_: Setting) -> list[Cell]:
    """Nothing is run."""
    return []
