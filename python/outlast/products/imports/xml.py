"""XML of foreign configurations, by a parser that expands no entities and takes bounded memory.

A document type is refused where it begins, and with it every entity of the file's own; what is left are the five of XML
itself and characters by number. Nothing outside the file is ever read.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from xml.parsers import expat

from outlast.errors import ScenarioError
from outlast.inputs import MOST_BYTES

DEEPEST = 16
"""Elements within each other; MQSim's files have 4."""
MOST_ELEMENTS = 20_000
"""Elements of a file; MQSim's largest published one has some hundred."""


@dataclass
class XmlElement:
    """An element with its text and the line it begins in. Attributes are not kept: no configuration here has any."""

    name: str
    line: int
    text: str = ""
    children: list[XmlElement] = field(default_factory=list)

    def child(self, name: str) -> XmlElement | None:
        """The first child of a name."""
        return next((each for each in self.children if each.name == name), None)


def read_xml(file: Path) -> XmlElement:
    """The outermost element of a file. Raises ScenarioError with one line."""
    return parse_xml(str(file), read_bytes(file))


def read_bytes(file: Path) -> bytes:
    """A configuration file, at most as long as any has reason to be."""
    try:
        with file.open("rb") as source:
            content = source.read(MOST_BYTES + 1)
    except OSError as error:
        raise ScenarioError(f"{file}: cannot be read: {error.strerror}") from error
    if len(content) > MOST_BYTES:
        raise ScenarioError(f"{file}: longer than {MOST_BYTES} bytes, which no configuration is")
    return content


def parse_xml(name: str, content: bytes) -> XmlElement:
    """The outermost element of a document; `name` is what messages call it."""
    tree = _Tree(name)
    try:
        # Files that MQSim comes with have `</<Name>`, which its own parser skips over up to the next `>`.
        tree.parser.Parse(content.replace(b"</<", b"</"), True)
    except expat.ExpatError as error:
        reason = expat.errors.messages[error.code] if error.code in expat.errors.messages else str(error)
        raise ScenarioError(f"{name}:{error.lineno}: not XML: {reason}") from error
    except (LookupError, ValueError) as error:
        raise ScenarioError(f"{name}:1: not XML: {error}") from error
    assert tree.top is not None  # the parser refuses a document without one
    return tree.top


class _Tree:
    def __init__(self, name: str) -> None:
        self.name = name
        self.top: XmlElement | None = None
        self._open: list[XmlElement] = []
        self._count = 0
        self.parser = expat.ParserCreate()
        self.parser.buffer_text = True
        self.parser.StartElementHandler = self._begin
        self.parser.EndElementHandler = self._end
        self.parser.CharacterDataHandler = self._text
        self.parser.StartDoctypeDeclHandler = self._refuse

    def _begin(self, name: str, _: Any) -> None:
        self._count += 1
        if len(self._open) >= DEEPEST or self._count > MOST_ELEMENTS:
            limit = f"at most {DEEPEST} elements within each other and {MOST_ELEMENTS} in all"
            raise ScenarioError(f"{self.name}:{self.parser.CurrentLineNumber}: {limit}")
        element = XmlElement(name, self.parser.CurrentLineNumber)
        if self._open:
            self._open[-1].children.append(element)
        else:
            self.top = element
        self._open.append(element)

    def _end(self, _: str) -> None:
        element = self._open.pop()
        element.text = element.text.strip()

    def _text(self, text: str) -> None:
        if self._open:
            self._open[-1].text += text

    def _refuse(self, *_: Any) -> None:
        raise ScenarioError(f"{self.name}:{self.parser.CurrentLineNumber}: a document type is not read")
