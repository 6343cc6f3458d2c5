"""A scenario in the making: settings with their origins, and the parameters that have no counterpart."""

from __future__ import annotations

import json
import textwrap
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from outlast.printable import printable

LONGEST = 80
"""Characters of a foreign value that the list of unmatched parameters shows."""

WIDTH = 118
"""Columns of a comment in the scenario that is written."""


@dataclass(frozen=True)
class Unmatched:
    """A parameter that no setting stands for, and what it would change."""

    name: str
    value: str
    effect: str

    def __str__(self) -> str:
        return f"{self.name} = {self.value}: {self.effect}" if self.value else f"{self.name}: {self.effect}"


@dataclass
class Draft:
    """Settings by dotted name in the order in which they are set, each with its origin."""

    source: str
    """The other simulator."""
    files: tuple[str, ...]
    """Names of what it was read from, as messages show it."""
    settings: dict[str, tuple[Any, str]] = field(default_factory=dict)
    unmatched: list[Unmatched] = field(default_factory=list)

    def set(self, name: str, value: Any, origin: str) -> None:
        """Sets `name`, which comes from `origin`: a parameter with its value, or a reason."""
        self.settings[name] = (value, origin)

    def leave(self, name: str, value: Any, effect: str) -> None:
        """Notes a parameter that is left out, and what it would change."""
        self.unmatched.append(Unmatched(printable(name), printable(str(value))[:LONGEST], effect))

    def value(self, name: str) -> Any:
        """The value that a setting was given."""
        return self.settings[name][0]

    def text(self) -> str:
        """The scenario as TOML, with its origins and what was left out as comments."""
        lines = _comment(f"Imported from {self.source}: {', '.join(self.files)}.")
        table = ""
        for name in sorted(self.settings, key=self._order):
            value, origin = self.settings[name]
            own, _, key = name.rpartition(".")
            if own != table:
                table = own
                lines += ["", f"[{own}]"]
            lines += _setting(key, value, origin)
        if self.unmatched:
            lines += ["", *_comment(f"Parameters of {self.source} without a counterpart, and what they would change:")]
            for each in self.unmatched:
                lines += _comment(f"- {each}", indent="  ")
        return "\n".join(lines) + "\n"

    def _order(self, name: str) -> tuple[bool, int, int]:
        """Settings of the top come first, tables in the order of their first setting, as TOML needs it."""
        names = list(self.settings)
        table = name.rpartition(".")[0]
        first = next(at for at, each in enumerate(names) if each.rpartition(".")[0] == table)
        return bool(table), first, names.index(name)


def _comment(text: str, indent: str = "") -> list[str]:
    return textwrap.wrap(text, WIDTH, initial_indent="# ", subsequent_indent=f"# {indent}", break_on_hyphens=False)


def _setting(key: str, value: Any, origin: str) -> list[str]:
    if isinstance(value, str) and "\n" in value:
        return [*_comment(origin), f"{key} = '''", *value.rstrip("\n").split("\n"), "'''"]
    line = f"{key} = {_literal(value)}"
    if len(line) + len(origin) + 4 <= WIDTH:
        return [f"{line}  # {origin}"]
    return [*_comment(origin), line]


def _literal(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return json.dumps(value, ensure_ascii=False)
    if isinstance(value, dict):
        return "{ " + ", ".join(f"{key} = {_literal(each)}" for key, each in value.items()) + " }"
    if isinstance(value, Sequence):
        return "[" + ", ".join(map(_literal, value)) + "]"
    return repr(value)


def size(count: int) -> str:
    """Bytes as a setting has them, in the largest unit that divides them."""
    for power, unit in ((40, "TiB"), (30, "GiB"), (20, "MiB"), (10, "KiB")):
        if count and count % (1 << power) == 0:
            return f"{count >> power}{unit}"
    return f"{count}B"


def nanoseconds(count: float) -> str:
    """A time as a setting has it, from nanoseconds."""
    whole = round(count)
    for factor, unit in ((10**9, "s"), (10**6, "ms"), (10**3, "us")):
        if whole >= factor and whole % (factor // 1000) == 0:
            return f"{whole / factor:.3f}".rstrip("0").rstrip(".") + unit
    return f"{whole}ns"


def rate(bytes_per_s: float) -> str:
    """A bandwidth as a setting has it, to a kilobyte."""
    return f"{bytes_per_s / 1e6:.3f}".rstrip("0").rstrip(".") + "MB/s"


def assume_load(draft: Draft) -> None:
    """A workload, for configurations that have none, and a drive in its steady state."""
    origin = f"assumed: {draft.source}'s configuration has no workload"
    for setting, value in (("pattern", "uniform"), ("read_percent", 70), ("size", "4KiB"), ("queue_depth", 32)):
        draft.set(f"workload.synthetic.{setting}", value, origin)
    draft.set("workload.synthetic.duration", "2s", origin)
    draft.set("precondition.overwrite", "random", "assumed: a used drive")
