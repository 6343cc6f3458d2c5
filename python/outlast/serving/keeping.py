"""How a served machine is kept beyond the end of its server."""

from __future__ import annotations

from typing import TypedDict


class Keeping(TypedDict, total=False):
    """The image of a machine and how it is used: `outlast serve --image` has an option for each."""

    image: str | None
    """The folder, made if need be."""
    sync: bool
    """Safe from a crash of this computer, too; flushes take longer."""
    salvage: bool
    """Use what a crash of this computer has left, though promises are broken."""
    keep_log: bool
    """Keep the log before a checkpoint, and with it the machine as it was at any moment of its life."""
    checkpoint_every: str | None
    """How much log is written before the next checkpoint."""
    at: str | None
    """Serve the machine as it was at this time, and keep nothing of what becomes of it."""
