"""Text of others on a terminal: names, file names and messages of foreign files command it nothing."""

from __future__ import annotations

import unicodedata

TURNING = {*range(0x202A, 0x202F), *range(0x2066, 0x206A), 0x2028, 0x2029}
"""Characters that reorder what stands beside them, or end a line, without being control characters."""


def printable(text: str, keep: str = "\n\t") -> str:
    """The text with control characters, and what else is no part of a line, as escapes; those in `keep` stay."""
    return "".join(
        letter
        if letter in keep or not (unicodedata.category(letter) in ("Cc", "Cs") or ord(letter) in TURNING)
        else letter.encode("unicode_escape", "surrogatepass").decode()
        for letter in text
    )
