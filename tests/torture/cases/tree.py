"""Folders and files that are made durable one operation at a time: `tree.py work|check operations=150`.

Every operation syncs what it changed, the file and the folders whose entries it touched, before it is marked. What the
tree must hold after each follows from the number of the operation alone; the one under way may be there or not, whole.
"""

from __future__ import annotations

import os
import random
from dataclasses import dataclass
from pathlib import Path

from promise import AHEAD, Marks, PromiseError, checked, corrupt, lost, main, mount

FOLDERS = ("a", "b", "c")
NAMES = tuple(f"file{number}" for number in range(6))


@dataclass(frozen=True)
class Operation:
    """Change of the tree: `write`, `move`, `link` or `remove` of a file, by names that hold a folder each.

    A write makes a new file and gives it the name, so that no other name of the old file has what is written.
    """

    kind: str
    path: str
    target: str = ""
    content: bytes = b""


def plan(count: int) -> list[Operation]:
    """The first `count` operations, of which each fits the tree that the ones before it leave."""
    draw = random.Random(1)
    paths = [f"{folder}/{name}" for folder in FOLDERS for name in NAMES]
    held: dict[str, bytes] = {}
    chosen = []
    for number in range(1, count + 1):
        kind = draw.choice(("write", "write", "move", "move", "link", "remove")) if len(held) > 3 else "write"
        content = f"{number} ".encode() + draw.randbytes(draw.choice((60, 700, 5000, 20000)))
        path = draw.choice(paths) if kind == "write" else draw.choice(sorted(held))
        free = sorted(set(paths) - held.keys())
        if kind == "link" and not free:
            kind = "remove"
        target = draw.choice(free if kind == "link" else [other for other in paths if other != path])
        operation = Operation(
            kind, path, target if kind in ("move", "link") else "", content if kind == "write" else b""
        )
        chosen.append(operation)
        apply(held, operation)
    return chosen


def apply(held: dict[str, bytes], operation: Operation) -> None:
    """Applies `operation` to names and contents. A move onto a name of the same file leaves both: rename(2)."""
    if operation.kind == "write":
        held[operation.path] = operation.content
    elif operation.kind == "remove":
        del held[operation.path]
    elif operation.kind == "link":
        held[operation.target] = held[operation.path]
    elif held.get(operation.target) != held[operation.path]:
        held[operation.target] = held.pop(operation.path)


def sync(path: Path) -> None:
    """fsync of a file or folder."""
    handle = os.open(path, os.O_RDONLY)
    os.fsync(handle)
    os.close(handle)


def carry_out(root: Path, operation: Operation, number: int) -> None:
    """`operation`, and an fsync of all that it changed."""
    path, target = root / operation.path, root / operation.target
    if operation.kind == "write":
        fresh = path.parent / f"new{number}"
        fresh.write_bytes(operation.content)
        sync(fresh)
        fresh.rename(path)
    elif operation.kind == "remove":
        path.unlink()
    elif operation.kind == "link":
        target.hardlink_to(path)
        sync(target)
    else:
        path.rename(target)
        sync(target)
    for folder in {path.parent, target.parent if operation.target else path.parent}:
        sync(folder)


def work(operations: int) -> None:
    """The operations, each marked when all that it changed has been synced."""
    say = Marks()
    for folder in FOLDERS:
        (mount() / folder).mkdir()
        sync(mount() / folder)
    sync(mount())
    say("operation 0")
    for number, operation in enumerate(plan(operations), 1):
        carry_out(mount(), operation, number)
        say(f"operation {number}")


def found(root: Path) -> dict[str, bytes]:
    """Names and contents of all files but those that had not got their name."""
    return {
        f"{folder}/{path.name}": path.read_bytes()
        for folder in FOLDERS
        for path in sorted((root / folder).iterdir())
        if not path.name.startswith("new")
    }


def read(promised: int) -> None:
    """The tree is that of the last promised operation or of the next one."""
    held = found(mount())
    tree: dict[str, bytes] = {}
    trees = [dict(tree)]
    for operation in plan(promised + 20):
        apply(tree, operation)
        trees.append(dict(tree))
    if held in trees[promised : promised + 2]:
        return
    earlier = [number for number in range(promised) if held == trees[number]]
    if earlier:
        raise lost(f"the tree is that of operation {earlier[-1]}, operation {promised} had been synced")
    if held in trees[promised + 2 :]:
        raise PromiseError(AHEAD, f"holds more than operation {promised + 1}, and {promised} was the last synced")
    due = trees[promised]
    wrong = sorted(path for path in held.keys() | due.keys() if held.get(path) != due.get(path))
    raise corrupt(f"the tree was never like this; unlike operation {promised}: {', '.join(wrong[:5])}")


def check(**_: object) -> int:
    """Is what a state holds what was promised?"""
    return checked(read)


if __name__ == "__main__":
    main(work, check, operations=150)
