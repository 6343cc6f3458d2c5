"""What the figures of Flexible share: the codes of Table 1 as settings."""

from __future__ import annotations

from typing import Any

NONE, SINGLE, DOUBLE, TWO_LEVEL = "none", "(7,1) card", "(6,2) card", "(7,1) card + (63,1) block"
DATA, PARITY, BLOCK = (f"device.protection.{name}" for name in ("data", "parity", "block"))
CODES: dict[str, dict[str, Any]] = {
    NONE: {"device.protection": None},
    SINGLE: {},
    DOUBLE: {DATA: 6, PARITY: 2},
    TWO_LEVEL: {BLOCK: 63},
}
"""Changes to the preset."""


def codes() -> dict[str, dict[str, Any]]:
    """Choices of an axis: each code of Table 1, and none. A `null` takes a setting of the preset away."""
    return {
        label: {name: "null" if own is None else own for name, own in code.items()} for label, code in CODES.items()
    }
