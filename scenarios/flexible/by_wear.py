"""Section 3.4 of Flexible: which code a block group gets is decided whenever it is opened, by its wear."""

from outlast.policies import Opening

WORN = 1000
"""Erasures from which on a block group is given the stronger code: assumed."""


def by_wear(opening: Opening) -> tuple[int, int] | None:
    """(7,1) while it is young; then the code of the class, (6,2)."""
    return (7, 1) if opening.erases < WORN else None
