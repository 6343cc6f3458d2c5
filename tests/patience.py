"""Limits for waiting. No test fails because a machine is slow: it counts, or it waits this long."""

from __future__ import annotations

import time
from collections.abc import Callable

PATIENCE_S = 900.0
"""Seconds. With thirty programs to a processor a wait of seconds takes minutes; only a deadlock takes this."""


def eventually(holds: Callable[[], bool]) -> bool:
    """Waits until `holds` returns True; False after `PATIENCE_S`."""
    end = time.monotonic() + PATIENCE_S
    while time.monotonic() < end:
        if holds():
            return True
        time.sleep(0.02)
    return holds()
