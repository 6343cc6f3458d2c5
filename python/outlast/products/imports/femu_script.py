"""FEMU's run scripts (`run-blackbox.sh`), as far as they compose the options of `-device femu`.

Nothing is executed: assignments of texts are followed, and `$name`, `${name}` and `${name:-default}` are replaced.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from outlast.errors import ScenarioError
from outlast.products.imports.xml import read_bytes

LONGEST = 1 << 16
"""Characters of a line, or of a value of a variable, at most: FEMU's own options are some hundred."""
MOST_EXPANDED = 1 << 22
"""Characters that all expansions of a script have together, at most."""
_ASSIGNMENT = re.compile(r"\s*(?:export\s+|local\s+)?(\w+)=(.*)")
_VARIABLE = re.compile(r"\$(?:(\w+)|\{(\w+)(?::?-([^}]*))?\})")
_QUOTED = re.compile(r'"([^"]*)"|\'([^\']*)\'|([^\s"\';]+)')
_OPTIONS = re.compile(r"-device\s+femu,([^\s\"']+)")


def options_of(file: Path) -> str:
    """The options of the last `-device femu` that a script composes, as QEMU gets them."""
    found = _Script(file).device_options()
    if found is None:
        raise ScenarioError(f"{file}: no -device femu with options in it: not a run script of FEMU")
    if "$" in found:
        raise ScenarioError(f"{file}: {found[:60]}: computed by the script; give the options themselves")
    return found


class _Script:
    """A script whose assignments are followed line by line, within limits on the texts that expansions make."""

    def __init__(self, file: Path) -> None:
        self._file, self._line = file, 0
        self._values: dict[str, str] = {}
        self._expanded_in_all = 0

    def device_options(self) -> str | None:
        """The options of the last `-device femu`; `None` where there are none."""
        found = None
        for line in self._joined_lines():
            code = re.sub(r"(^|\s)#.*", "", line)
            if (assigned := _ASSIGNMENT.match(code)) is not None:
                self._values[assigned[1]] = value = self._first_word(assigned[1], assigned[2])
                found = _OPTIONS.search(value) or found
            else:
                found = _OPTIONS.search(self._replaced("a line", code)) or found
        return None if found is None else found[1]

    def _joined_lines(self) -> Iterator[str]:
        """Lines, each with those that a backslash at its end continues it by."""
        joined = ""
        for number, line in enumerate(read_bytes(self._file).decode("utf-8", errors="replace").splitlines(), 1):
            self._line = number
            self._check("a line", joined + line)
            if line.endswith("\\"):
                joined += line[:-1] + " "
                continue
            yield joined + line
            joined = ""
        yield joined

    def _first_word(self, name: str, text: str) -> str:
        """The first word of a shell text, its quoted parts joined."""
        parts, end = list[str](), 0
        for part in _QUOTED.finditer(text):
            if part.start() != end:
                break  # a blank ends the word
            parts.append(part[2] if part[2] is not None else self._replaced(name, part[1] or part[3] or ""))
            end = part.end()
        word = "".join(parts)
        self._check(name, word)
        return word

    def _replaced(self, what: str, text: str) -> str:
        """A text with its variables replaced; refused before it is longer than texts may be."""
        length = len(text)

        def value(found: re.Match[str]) -> str:
            nonlocal length
            replacement = self._values.get(found[1] or found[2]) or found[3] or ""
            length += len(replacement) - len(found[0])
            if length > LONGEST:
                raise self._too_long(what, length)
            return replacement

        expanded = _VARIABLE.sub(value, text)
        self._expanded_in_all += len(expanded)
        if self._expanded_in_all > MOST_EXPANDED:
            limit = f"must be at most {MOST_EXPANDED}"
            raise ScenarioError(f"{self._file}:{self._line}: characters of all expanded values: {limit}")
        return expanded

    def _check(self, what: str, text: str) -> None:
        if len(text) > LONGEST:
            raise self._too_long(what, len(text))

    def _too_long(self, what: str, length: int) -> ScenarioError:
        limit = f"must be at most {LONGEST}"
        return ScenarioError(f"{self._file}:{self._line}: characters of {what[:60]} = {length} or more: {limit}")
