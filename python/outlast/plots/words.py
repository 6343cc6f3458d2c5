"""Text of charts, which the report writes as HTML, as plain text."""

from __future__ import annotations

import html
import re
from typing import Any

_BREAK, _TAG = re.compile(r"<br\s*/?>"), re.compile(r"<[^>]*>")


def tagless(value: Any) -> str:
    """Text without tags and entities."""
    return html.unescape(_TAG.sub("", _BREAK.sub("\n", str(value))))


def plain_text(value: Any) -> str:
    """Text for matplotlib, whose own sign for mathematics is text, too. A backslash is one: it escapes nothing else."""
    return tagless(value).replace("$", r"\$")
