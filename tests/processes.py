"""Other processes as `/proc` shows them, which may close a file or end while it is read."""

from __future__ import annotations

import contextlib
from pathlib import Path


def open_files(pid: int) -> set[str]:
    """Targets of the descriptors of a process; without those that it closes meanwhile."""
    targets = set()
    with contextlib.suppress(OSError):
        for link in Path(f"/proc/{pid}/fd").iterdir():
            with contextlib.suppress(OSError):
                targets.add(str(link.readlink()))
    return targets


def has_ended(pid: int | str) -> bool:
    """True if a process is gone, or has ended and is listed only until it is waited for."""
    try:
        return not Path(f"/proc/{pid}/cmdline").read_bytes()
    except OSError:
        return True
