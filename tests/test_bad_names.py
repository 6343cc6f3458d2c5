"""Is a name that no file can have, or that leads nowhere, refused in a line that names it, as other bad input is?"""

from __future__ import annotations

import errno
import os
import subprocess
import sys
from pathlib import Path

import pytest

import outlast as package
from conftest import Outlast, files_below
from outlast.cli import failures
from outlast.output import OutputFolder, write_file
from patience import PATIENCE_S
from test_bad_input import refused

LONG = "x" * 300
"""A name that no file system takes."""
LONGEST = "y" * 255
SWEEP = 'scenario = "tiny.toml"\n[[vary]]\nsetting = "seed"\nvalues = [1]\n'
TRACE = "".join(f"{128166372003061629 + i * 1000},h,0,Write,{4096 * i},4096,0\n" for i in range(20))
COMMANDS = [
    *("report L", "compare L L", "table L", "plot L", "validate L", "run L", "explain L", "image trace L L"),
    *("run tiny.toml --out L", "run tiny.toml --report L", "run tiny.toml --junit L", "run tiny.toml --trace L"),
    *("run tiny.toml --repeats 2 --out L", "sweep s.toml --out L", "snapshot tiny.toml -o L", "new study L"),
    *("run tiny.toml --out new/L/out", "trace convert m.csv L --to spc", "fit --plan f --size 1GB -o L", "fleet L"),
    *("model uper --plot L", "chips tlc-72-layer --plot L", "run tiny.toml --set policies.gc=L.py:choose"),
]


@pytest.fixture
def inputs(tiny: Path, tmp_path: Path) -> Path:
    """A folder with a scenario, a sweep and a trace."""
    assert tiny.is_file()
    (tmp_path / "s.toml").write_text(SWEEP)
    (tmp_path / "m.csv").write_text(TRACE)
    return tmp_path


@pytest.mark.parametrize("command", COMMANDS)
def test_a_name_too_long_for_any_file_is_refused_by_each_command(outlast: Outlast, inputs: Path, command: str) -> None:
    words = [word.replace("L", LONG) for word in command.split()]
    # A name without a path and an ending may be that of a preset.
    reason = "no preset or file" if command in ("run L", "validate L") else "File name too long"
    refused(outlast, inputs, *words, says=[LONG, reason])


def test_a_name_as_long_as_can_be_holds_a_result(inputs: Path, outlast: Outlast) -> None:
    outlast("run", "tiny.toml", "--out", LONGEST, "--report", f"{LONGEST[:-5]}.html", "--quiet")
    outlast("run", "tiny.toml", "--out", LONGEST, "--force", "--quiet")
    assert files_below(inputs / LONGEST) >= {Path("result.json"), Path("report.html")}
    assert not [path for path in files_below(inputs) if path.name.startswith(".")]


@pytest.mark.parametrize(
    "command",
    [
        *("fleet loop", "sweep loop", "plan loop", "report loop", "fleet loop/x", "trace info loop", "run loop"),
        *("run tiny.toml --out loop", "sweep s.toml --out loop", "run tiny.toml --out loop/x", "image trace loop a"),
    ],
)
def test_a_symbolic_link_to_itself_is_refused(outlast: Outlast, inputs: Path, command: str) -> None:
    (inputs / "loop").symlink_to("loop")
    refused(outlast, inputs, *command.split(), says=["loop"])


@pytest.mark.parametrize("command", ["run tiny.toml --out", "run tiny.toml --repeats 2 --out", "sweep s.toml --out"])
def test_a_symbolic_link_in_place_of_a_folder_is_called_one(outlast: Outlast, inputs: Path, command: str) -> None:
    (inputs / "real").mkdir()
    (inputs / "link").symlink_to("real")
    refused(outlast, inputs, *command.split(), "link", says=["link: is a symbolic link"])


@pytest.mark.parametrize("command", ["report tiny.toml/x", "sweep tiny.toml/x", "fleet tiny.toml/x", "run tiny.toml/x"])
def test_a_path_below_a_file_is_refused(outlast: Outlast, inputs: Path, command: str) -> None:
    refused(outlast, inputs, *command.split(), says=["tiny.toml/x", "Not a directory"])


@pytest.mark.parametrize(
    "command",
    [
        *("run B", "validate B", "sweep B", "explain B", "trace info B", "snapshot tiny.toml -o B", "B", "model B"),
        *("run tiny.toml --set name=B", "run tiny.toml --set policies.gc=B:choose", "run tiny.toml --B", "torture B"),
    ],
)
def test_an_argument_that_is_not_utf_8_is_refused_with_its_bytes_as_escapes(inputs: Path, command: str) -> None:
    name = b"b\xff.toml"
    (inputs / os.fsdecode(name)).write_bytes((inputs / "tiny.toml").read_bytes())
    before = files_below(inputs)
    words = [word.encode().replace(b"B", name) for word in command.split()]
    program = [os.fsencode(sys.executable), b"-m", b"outlast", *words]
    done = subprocess.run(program, cwd=inputs, capture_output=True, text=True, timeout=PATIENCE_S)
    assert (done.returncode, done.stdout) == (2, "")
    shown = words[-1].replace(b"\xff", rb"\xff").decode()
    assert done.stderr == f'error: argument "{shown}": not UTF-8\n'
    assert files_below(inputs) == before


def test_a_folder_whose_name_is_not_utf_8_is_no_defect_of_a_sweep(inputs: Path) -> None:
    folder = inputs / os.fsdecode(b"d\xff")
    folder.mkdir()
    for name in ("tiny.toml", "s.toml"):
        (folder / name).write_bytes((inputs / name).read_bytes())
    program = [sys.executable, "-m", "outlast", "sweep", "s.toml", "--out", "sw"]
    done = subprocess.run(program, cwd=folder, capture_output=True, text=True, timeout=PATIENCE_S)
    assert done.returncode == 2 and "no preset or file has such a name" in done.stderr, done.stderr
    assert files_below(folder) == {Path("tiny.toml"), Path("s.toml")}


@pytest.mark.parametrize(
    ("line", "says"),
    [
        (r'scenario = "a\u0000b"', r'scenario = "a\u0000b": no preset or file has such a name'),
        (r'scenario = ["tiny.toml", "a\u0000"]', r'scenario = "a\u0000"'),
        (r'scenario = { extends = "a\u0000" }', r'scenario = "a\u0000"'),
        ('scenario = "tiny.toml"\nname = "a\\u0000b"', r'name = "a\u0000b": must be one line without control'),
        ('scenario = "tiny.toml"\nname = "a\\u001bb"', r'name = "a\u001bb": must be one line without control'),
        ('scenario = "tiny.toml"\nname = "a\\u202eb"', "name = "),
    ],
)
def test_control_characters_in_the_names_of_a_sweep_are_refused(
    outlast: Outlast, inputs: Path, line: str, says: str
) -> None:
    (inputs / "n.toml").write_text(f'{line}\n[[vary]]\nsetting = "seed"\nvalues = [1]\n')
    refused(outlast, inputs, "sweep", "n.toml", says=["n.toml: ", says])


@pytest.mark.parametrize(
    ("error", "message"),
    [
        (OSError(errno.ENAMETOOLONG, "File name too long", "long"), "long: cannot be used: File name too long"),
        (NotADirectoryError(errno.ENOTDIR, "Not a directory", "file/x"), "file/x: cannot be used: Not a directory"),
        (RuntimeError("Symlink loop from 'loop'"), "'loop': cannot be used: Too many levels of symbolic links"),
        (ValueError("embedded null byte"), "a zero byte"),
        (UnicodeEncodeError("utf-8", "one\ntwo \udcff\nthree", 8, 9, "surrogates not allowed"), "two \\xff: not UTF-8"),
    ],
    ids=lambda value: type(value).__name__,
)
def test_what_python_says_of_a_bad_name_is_no_defect(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], error: Exception, message: str
) -> None:
    monkeypatch.delenv("OUTLAST_DEBUG", raising=False)
    code = failures.of_system(error) if isinstance(error, OSError) else failures.of_exception(error)
    said = capsys.readouterr().err
    assert code == failures.BAD_INPUT and message in said and said.count("\n") == 1, said


def test_a_removed_current_folder_is_told(tmp_path: Path) -> None:
    script = 'mkdir gone; cd gone; rmdir ../gone; exec "$0" -m outlast run demo --out out'
    done = subprocess.run(["sh", "-c", script, sys.executable], cwd=tmp_path, capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (2, "error: the current folder has been removed; change to another\n")


@pytest.mark.parametrize("name", [LONG, "a\0b", f"new/{LONG}"])
def test_python_refuses_the_names_as_its_own_errors(tmp_path: Path, name: str) -> None:
    for call in (lambda: OutputFolder(tmp_path / name), lambda: package.load(tmp_path / name)):
        with pytest.raises(package.OutlastError):
            call()
    with pytest.raises(package.OutlastError):
        package.run(str(tmp_path / name))
    if "\0" not in name:
        with pytest.raises(package.OutlastError, match="too long"):
            write_file(tmp_path / name, "")
    assert files_below(tmp_path) <= {Path("new")}
