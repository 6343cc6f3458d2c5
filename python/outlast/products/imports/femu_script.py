"""FEMU's run scripts (`run-blackbox.sh`), as far as they compose the options of `-device femu`.

Nothing is executed: assignments of texts are followed, and `$name`, `${name}` and `${name:-default}` are replaced.
"""

from __future__ import annotations

import re
from pathlib import Path

from outlast.errors import ScenarioError
from outlast.products.imports.xml import read_bytes

_ASSIGNMENT = re.compile(r"\s*(?:export\s+|local\s+)?(\w+)=(.*)")
_VARIABLE = re.compile(r"\$(?:(\w+)|\{(\w+)(?::?-([^}]*))?\})")
_QUOTED = re.compile(r'"([^"]*)"|\'([^\']*)\'|([^\s"\';]+)')
_OPTIONS = re.compile(r"-device\s+femu,([^\s\"']+)")


def options_of(file: Path) -> str:
    """The options of the last `-device femu` that a script composes, as QEMU gets them."""
    values: dict[str, str] = {}
    found = None
    text = read_bytes(file).decode("utf-8", errors="replace").replace("\\\n", " ")
    for line in text.splitlines():
        code = re.sub(r"(^|\s)#.*", "", line)
        if (assigned := _ASSIGNMENT.match(code)) is not None:
            values[assigned[1]] = value = _expanded(assigned[2], values)
            found = _OPTIONS.search(value) or found
        else:
            found = _OPTIONS.search(_replaced(code, values)) or found
    if found is None:
        raise ScenarioError(f"{file}: no -device femu with options in it: not a run script of FEMU")
    if "$" in found[1]:
        raise ScenarioError(f"{file}: {found[1][:60]}: computed by the script; give the options themselves")
    return found[1]


def _expanded(text: str, values: dict[str, str]) -> str:
    """The first word of a shell text, its quoted parts joined."""
    word, end = "", 0
    for part in _QUOTED.finditer(text):
        if part.start() != end:
            break  # a blank ends the word
        word += part[2] if part[2] is not None else _replaced(part[1] or part[3] or "", values)
        end = part.end()
    return word


def _replaced(text: str, values: dict[str, str]) -> str:
    return _VARIABLE.sub(lambda found: values.get(found[1] or found[2]) or found[3] or "", text)
