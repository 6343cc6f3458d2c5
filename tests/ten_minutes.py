"""A new user's ten minutes by the clock: docs/guide/ten-minutes.md, from installation to its last block.

    python tests/ten_minutes.py dist/*.whl [--python python3.12] [--out FOLDER]

The wheel lies in an empty folder outside the checkout, and there every block of the page is run in order, as if typed
into one terminal: shell by bash, Python by the Python of the environment that the page makes; blocks with a name are
written to files. Prints what each command took. An error where a command fails, or where the commands and the time to
read the page take more than ten minutes.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

from fenced import blocks, file_of

ROOT = Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs" / "guide" / "ten-minutes.md"
LIMIT_S = 600
WORDS_A_SECOND = 200 / 60
"""Reading speed of a person, in words a second."""

SCRIPT = """\
set -e
trap 'printf "%s %s\\0" "$EPOCHREALTIME" "$BASH_COMMAND" >>"$0.log"' DEBUG
{block}
trap - DEBUG
env -0 >"$0.environment"
"""
"""A block of shell. Bash says before each command when it begins and what it is, and at the end what was exported."""

Step = tuple[str, float]
"""A command and its seconds."""


class Terminal:
    """A terminal in a folder: what one block exports is there in the next."""

    def __init__(self, folder: Path, environment: dict[str, str]) -> None:
        self.folder = folder
        self.environment = environment

    def shell(self, block: str) -> list[Step]:
        """Runs a block of shell; the seconds of each of its commands."""
        with tempfile.TemporaryDirectory() as own:
            script = Path(own) / "block"
            script.write_text(SCRIPT.format(block=block), encoding="utf-8")
            self._run(block, "bash", script)
            exported = Path(f"{script}.environment").read_text(encoding="utf-8")
            self.environment = dict(entry.split("=", 1) for entry in exported.split("\0") if entry)
            log = Path(f"{script}.log").read_text(encoding="utf-8").split("\0")
        begun = [entry.split(" ", 1) for entry in log if entry]
        return [(command, _seconds(after) - _seconds(at)) for (at, command), (after, _) in pairwise(begun)]

    def python(self, program: str) -> Step:
        """Runs a Python program; its seconds."""
        began = time.monotonic()
        self._run(program, "python", "-c", program)
        return f"python: {len(program.splitlines())} lines", time.monotonic() - began

    def _run(self, block: str, *command: str | Path) -> None:
        done = subprocess.run(
            command,
            cwd=self.folder,
            env=self.environment,
            text=True,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
        )
        if done.returncode != 0:
            sys.exit(f"{block.rstrip()}\n\nended with {done.returncode}:\n{done.stdout}")


def _seconds(clock: str) -> float:
    # Bash prints the decimal point of the user's language.
    return float(clock.replace(",", "."))


def walk(page: str, terminal: Terminal) -> Iterator[Step]:
    """Runs the blocks of a page; blocks of Python that follow each other are one program."""
    python: list[str] = []
    for language, text in [*blocks(page), ("sh", "")]:
        if name := file_of(language, text):
            (terminal.folder / name).write_text(text, encoding="utf-8")
        elif language == "python":
            python.append(text)
        elif language in ("sh", "bash"):
            if python:
                yield terminal.python("\n".join(python))
                python.clear()
            yield from terminal.shell(text)


def new_users(folder: Path, python: str) -> dict[str, str]:
    """The environment of someone who has this Python as python3, and neither this checkout nor pip's cache."""
    foreign = ("PYTHONPATH", "PYTHONHOME", "VIRTUAL_ENV")
    kept = {key: value for key, value in os.environ.items() if key not in foreign}
    (folder / "python3").symlink_to(python)
    path = [place for place in kept["PATH"].split(os.pathsep) if not Path(place).resolve().is_relative_to(ROOT)]
    return kept | {"PATH": os.pathsep.join([str(folder), *path]), "PIP_NO_CACHE_DIR": "1"}


def time_page(wheel: Path, python: str, folder: Path) -> None:
    """Prints a row for each command, and what they and the reading took."""
    work, programs = folder / "work", folder / "programs"
    work.mkdir()
    programs.mkdir()
    shutil.copy(wheel, work)
    terminal = Terminal(work, new_users(programs, python))
    page, seconds = PAGE.read_text(encoding="utf-8"), 0.0
    print("| command | seconds |\n|---|---|")
    for command, took in walk(page, terminal):
        print(f"| `{command.splitlines()[0]}` | {took:.1f} |", flush=True)
        seconds += took
    terminal.shell(f'case "$(command -v outlast)" in "{work}"/*) ;; *) command -v outlast; false; esac')
    words = len(page.split())
    reading = words / WORDS_A_SECOND
    print(f"| all commands | {seconds:.1f} |\n| reading {words} words, at 200 a minute | {reading:.0f} |")
    if seconds + reading > LIMIT_S:
        sys.exit(f"{seconds + reading:.0f} s, {LIMIT_S} at most")


def main() -> None:
    """Runs the page in a folder that is kept or not."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("wheel", type=Path, nargs="+", help="what is installed; of several the newest")
    parser.add_argument("--python", default=sys.executable, help="which Python the user has [this one]")
    parser.add_argument("--out", type=Path, help="a folder that is not there yet, to keep what was made")
    asked = parser.parse_args()
    for path in asked.wheel:
        if not path.is_file():
            parser.error(f"{path}: no such wheel")
    wheel = max(asked.wheel, key=lambda path: path.stat().st_mtime).resolve()
    # A Python of an environment would make the user's environment out of that one.
    own = subprocess.run([asked.python, "-c", "import sys; print(sys.base_prefix)"], text=True, stdout=subprocess.PIPE)
    if own.returncode != 0:
        parser.error(f"{asked.python}: not a Python")
    python = str(Path(own.stdout.strip()) / "bin" / "python3")
    if asked.out is not None:
        asked.out.mkdir(parents=True)
        time_page(wheel, python, asked.out.resolve())
        return
    with tempfile.TemporaryDirectory(prefix="outlast-ten-minutes.") as folder:
        time_page(wheel, python, Path(folder).resolve())


if __name__ == "__main__":
    main()
