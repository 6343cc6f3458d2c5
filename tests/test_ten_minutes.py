"""Does the walk that `make ten-minutes` times run a page's blocks as a new user would?"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

import ten_minutes
from conftest import ROOT
from fenced import blocks, file_of

PAGE = """\
# A page

```toml
# small.toml
scenario = "demo"
```

```bash
mkdir bin && printf '#!/bin/sh\\necho mine >said' > bin/say
chmod +x bin/say; export PATH="$PWD/bin:$PATH"
```

Words.

```python
number = 4
```

```python
open("number", "w").write(str(number))
```

```sh
sleep 0.3
say
```

```text
not run
```
"""


@pytest.fixture
def terminal(tmp_path: Path) -> ten_minutes.Terminal:
    (tmp_path / "python").symlink_to(sys.executable)
    return ten_minutes.Terminal(tmp_path, os.environ | {"PATH": f"{tmp_path}:{os.environ['PATH']}"})


def test_blocks_have_their_language_and_some_are_files() -> None:
    found = blocks(PAGE)
    assert [language for language, _ in found] == ["toml", "bash", "python", "python", "sh", "text"]
    assert found[2] == ("python", "number = 4\n")
    assert [file_of(*block) for block in found] == ["small.toml", None, None, None, None, None]
    assert file_of("c", "// mine.c\nint x;\n") == "mine.c"
    assert file_of("sh", "# run.py\n") is None and file_of("python", "# a comment\n") is None


def test_blocks_are_run_in_order_in_one_terminal(terminal: ten_minutes.Terminal) -> None:
    steps = list(ten_minutes.walk(PAGE, terminal))
    names = [name for name, _ in steps]
    assert names[0] == "mkdir bin" and names[-2:] == ["sleep 0.3", "say"]
    assert "python: 3 lines" in names and "not run" not in names
    assert (terminal.folder / "small.toml").read_text() == '# small.toml\nscenario = "demo"\n'
    assert (terminal.folder / "number").read_text() == "4", "blocks of Python that follow each other are one program"
    assert (terminal.folder / "said").read_text() == "mine\n", "what one block exports is there in the next"
    seconds = dict(steps)
    assert seconds["sleep 0.3"] >= 0.3 and seconds["mkdir bin"] > 0


@pytest.mark.parametrize("block", ["echo why; false\ntouch after", "echo why >&2; exit 3"])
def test_a_command_that_fails_ends_the_walk(terminal: ten_minutes.Terminal, block: str) -> None:
    with pytest.raises(SystemExit, match="why"):
        terminal.shell(block)
    assert not (terminal.folder / "after").exists()
    with pytest.raises(SystemExit, match="ZeroDivisionError"):
        list(ten_minutes.walk("```python\n1 / 0\n```\n", terminal))


def test_a_new_user_has_nothing_of_the_checkout(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTHONPATH", str(ROOT / "python"))
    monkeypatch.setenv("PATH", f"{ROOT / '.venv' / 'bin'}:/usr/bin:/bin")
    environment = ten_minutes.new_users(tmp_path, sys.executable)
    assert environment["PATH"] == f"{tmp_path}:/usr/bin:/bin" and "PYTHONPATH" not in environment
    asked = ["python3", "-c", "import sys; print(sys.version_info[:2])"]
    assert subprocess.check_output(asked, env=environment, text=True).strip() == str(sys.version_info[:2])


def test_the_page_installs_the_wheel_and_asks_its_questions() -> None:
    page = ten_minutes.PAGE.read_text()
    shell = "".join(text for language, text in blocks(page) if language in ("sh", "bash"))
    assert "pip install outlast-" in shell and "outlast run demo" in shell and "outlast sweep" in shell


def test_a_wheel_that_is_not_there_is_refused(tmp_path: Path) -> None:
    command = [sys.executable, str(ROOT / "tests" / "ten_minutes.py"), str(tmp_path / "none.whl")]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 2 and "none.whl" in done.stderr and "Traceback" not in done.stderr
