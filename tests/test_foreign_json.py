"""Does text that others wrote end in a value or in one line, whatever is in it?"""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import outlast
from disturbed import MANY
from outlast import foreign
from outlast.serving.control import answer_to

STRANGE_JSON = [
    b"",
    b"x",
    b"\xff\xfe",
    b"[" * 60_000,
    b'{"do":' * 10_000,
    b'{"do":"mark","text":"\\ud800"}',
    b'{"do":"mark","\\udfff":1}',
    b'{"do":"clock","speed":NaN}',
    b'{"do":"clock","speed":-Infinity}',
    b'{"do":"clock","speed":1e999}',
    b'{"do":"clock","speed":' + b"9" * 5000 + b"}",
    b'{"do":"mark","do":"metrics","text":"x"}',
    b"[]",
    b"null",
    b'"state"',
    b"1",
]


class Strict:
    """A server that takes what any JSON parser takes, and nothing else."""

    def request(self, text: str) -> str:
        value = json.loads(text, parse_constant=lambda name: pytest.fail(f"{name} comes through"))
        text.encode("utf-8")
        assert isinstance(value, dict)
        return json.dumps({"ok": value})


@pytest.mark.parametrize("line", STRANGE_JSON, ids=lambda line: repr(line[:30]))
def test_strange_json_on_the_control_socket_is_answered_in_one_line(line: bytes) -> None:
    answer = json.loads(answer_to(Strict(), line + b"\n"))
    assert list(answer) == ["error"] and len(answer["error"].splitlines()) == 1


def test_what_the_server_raises_is_the_answer() -> None:
    class Broken:
        def request(self, _: str) -> str:
            raise outlast.OutlastError("two\nlines")

    assert json.loads(answer_to(Broken(), b'{"do":"state"}')) == {"error": "two lines"}


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(st.characters(), max_size=8),
    lambda below: st.lists(below, max_size=4) | st.dictionaries(st.text(max_size=6), below, max_size=4),
)


@MANY
@given(st.one_of(JSON.map(lambda value: json.dumps(value).encode()), st.binary(max_size=60)))
def test_any_line_has_one_answer(line: bytes) -> None:
    answer = json.loads(answer_to(Strict(), line))
    assert list(answer) in (["ok"], ["error"])


@MANY
@given(JSON)
def test_what_is_read_can_be_written_again(value: Any) -> None:
    try:
        read = foreign.json_of(json.dumps(value))
    except ValueError as error:
        assert len(str(error).splitlines()) == 1
    else:
        json.dumps(read, allow_nan=False, ensure_ascii=False).encode("utf-8")
