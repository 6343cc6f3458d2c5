"""The fenced blocks of a page of the documentation."""

from __future__ import annotations

import re

FENCE = re.compile(r"^```(\w+)\n(.*?)^```$", re.M | re.S)
NAME = re.compile(r"(?:#|//) (\S+\.(?:toml|py|c))\n")


def blocks(page: str) -> list[tuple[str, str]]:
    """Language and text of each block."""
    return FENCE.findall(page)


def file_of(language: str, text: str) -> str | None:
    """File name in the comment that opens a block; `None` for a block without one."""
    match = NAME.match(text)
    return match[1] if match and language in ("toml", "python", "c") else None
