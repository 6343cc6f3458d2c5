"""Do names in foreign files command the terminal on which they are shown?"""

from __future__ import annotations

import io
from pathlib import Path

import pytest

from conftest import TINY, call
from outlast.cli.paper import Paper
from outlast.printable import printable

EVIL = ["\x1b[31mred", "a\rb", "\x9b1m", "\x07", "\x7f", "\u202eturned", "a\u2028b", "\x1b]0;title\x07"]


@pytest.mark.parametrize("text", EVIL)
def test_what_commands_a_terminal_is_shown_as_an_escape(text: str) -> None:
    shown = printable(text)
    assert shown.isprintable() and "\\" in shown
    said = io.StringIO()
    Paper(file=said, width=80).print(text, markup=False)
    assert said.getvalue().rstrip("\n").isprintable()


def test_other_text_stays_as_it_is() -> None:
    for text in ("Größe 4 TiB", "名前", "🦀", "two\nlines\tand a tab", "a b"):
        assert printable(text) == text


@pytest.mark.parametrize("setting", ["name", "device.model"])
@pytest.mark.parametrize("text", [r"\u001b[31mred", r"two\nlines", r"\u202eturned"])
def test_a_name_that_is_no_line_is_refused_by_its_setting(tmp_path: Path, setting: str, text: str) -> None:
    (tmp_path / "tiny.toml").write_text(TINY)
    table, _, key = setting.rpartition(".")
    head = f'extends = "tiny.toml"\n{f"[{table}]" if table else ""}\n{key} = "{text}"\n'
    (tmp_path / "evil.toml").write_text(head if table else f'{key} = "{text}"\nextends = "tiny.toml"\n')
    for command in (["validate", "evil.toml"], ["serve", "evil.toml", "--run", "true", "--image", "img"]):
        done = call(*command, cwd=tmp_path, check=False)
        assert (done.returncode, done.stderr.count("\n")) == (2, 1), done.stderr
        assert f"{setting} = " in done.stderr and "control characters" in done.stderr
        assert done.stderr.rstrip("\n").isprintable()
    assert not (tmp_path / "img").exists()


def test_messages_about_files_with_strange_names_are_a_line(tmp_path: Path) -> None:
    done = call("trace", "info", "no\x1b[31m such\rfile", cwd=tmp_path, check=False)
    assert done.returncode == 2 and done.stderr.rstrip("\n").isprintable(), repr(done.stderr)
