"""The transactions that every database of the cases is given, and what it must hold after each.

A transaction changes several of some fifty keys, adds one, sometimes takes one out, and counts itself, so that what a
database holds says which transaction was the last, and whether any of the earlier ones is there in part.
"""

from __future__ import annotations

import random

from promise import AHEAD, PromiseError, corrupt, lost

KEYS = 48
COUNTER = "commit"


def transaction(number: int, largest: int = 900) -> dict[str, bytes | None]:
    """Changes of transaction `number` (from 1); `None` deletes a key. Values have up to `largest` bytes."""
    draw = random.Random(number)
    changes: dict[str, bytes | None] = {COUNTER: str(number).encode()}
    for _ in range(3):
        changes[f"key{draw.randrange(KEYS):03}"] = draw.randbytes(draw.randint(20, largest))
    changes[f"log{number:06}"] = draw.randbytes(100)
    if number % 5 == 0:
        changes[f"log{number - 4:06}"] = None
    return changes


def after(number: int) -> dict[str, bytes]:
    """Content of a database after transactions 1 to `number`."""
    held: dict[str, bytes] = {}
    for each in range(1, number + 1):
        for key, value in transaction(each).items():
            if value is None:
                held.pop(key, None)
            else:
                held[key] = value
    return held


def judge(held: dict[str, bytes], promised: int) -> None:
    """Raises PromiseError unless `held` is what the last promised transaction left, or the one under way behind it."""
    found = int(held.get(COUNTER, b"0"))
    if found > promised + 1:
        raise PromiseError(AHEAD, f"holds commit {found}, and commit {promised} was the last acknowledged")
    expected = after(found)
    if held != expected:
        wrong = sorted(key for key in held.keys() | expected.keys() if held.get(key) != expected.get(key))
        raise corrupt(f"of commit {found} these keys are wrong: {', '.join(wrong[:5])} ({len(wrong)} in all)")
    if found < promised:
        raise lost(f"holds commit {found}, commit {promised} had been acknowledged")
