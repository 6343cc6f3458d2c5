"""Do messages and labels keep the rules that need no reader? `tests/messages.py` lists them for one."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from messages import AREAS, files, messages

UNLIKE_ENGLISH = {
    "a unit written": "for each unit written",
    "begins? anew": "starts again",
    "is told from": "can be distinguished from",
    "in the mean": "on average",
    "let be": "left as it is",
    "look different": "are distinct",
    "may, too": "may as well",
    "name the server: none": "no server runs",
    "nobody serves": "no server listens",
    "not of this machine alone": "other machines can reach it",
    "not well": "failed or failing",
    "nothing to tell": "not measured",
    "somebody uses": "is in use",
    "told to another": "sent to another",
    "what was asked": "commands",
    "whatever comes": "in any case",
    "works on as before": "continues",
}
"""Phrases that readers stumbled over, as patterns, and what to write."""


@pytest.mark.parametrize("area", AREAS)
def test_messages_are_plain_english(area: str) -> None:
    found = [
        f"{message}\n    {phrase}: {instead}"
        for path in files(area)
        for message in messages(path)
        for phrase, instead in UNLIKE_ENGLISH.items()
        if re.search(rf"\b{phrase}\b", message.text, re.IGNORECASE)
    ]
    assert not found, "\n".join(found)


@pytest.mark.parametrize("area", AREAS)
def test_messages_have_neither_stray_blanks_nor_two_ends(area: str) -> None:
    wrong = re.compile(r" [,;:](\s|$)|\.\.(?!\.)(?<!\.\.\.)$|,,|;;|\( | \)")
    found = [str(each) for path in files(area) for each in messages(path) if wrong.search(each.text)]
    assert not found, "\n".join(found)


def test_every_area_has_messages_in_each_language(tmp_path: Path) -> None:
    kinds = {path.suffix for area in AREAS for path in files(area) if any(messages(path))}
    assert kinds == {".py", ".rs", ".js", ".html"}
    source = tmp_path / "one.py"
    source.write_text('"""A docstring of words."""\nraise ValueError(f"{name}: cannot be read: {why}")\n')
    assert [each.text for each in messages(source)] == ["{}: cannot be read: {}"]
    source = tmp_path / "one.rs"
    code = 'fn f() { refuse("must be a power of two"); }\n'
    source.write_text(f'// "not a message here"\n{code}#[cfg(test)]\nmod tests {{ "no message at all" }}\n')
    assert [each.text for each in messages(source)] == ["must be a power of two"]
