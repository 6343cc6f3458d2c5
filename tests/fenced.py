"""The fenced blocks of a page of the documentation."""

from __future__ import annotations

import re

FENCE = re.compile(r"^```(\w+)\n(.*?)^```$", re.M | re.S)
NAME = re.compile(r"(?:#|//) (\S+\.(?:toml|py|c))\n")


def blocks(page: str) -> list[tuple[str, str]]:
    """Language and text of each block."""
    return FENCE.findall(page)


def file_of(language: str, text: str) -> str | None:
    """Which file a block is, by its first line: a comment that is a name; None for a block that is none."""
    match = NAME.match(text)
    return match[1] if match and language in ("toml", "python", "c") else None
