"""Does each shell complete commands, presets, settings and their choices, and is the manual page whole?"""

from __future__ import annotations

import os
import pty
import re
import select
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import click
import pytest

from conftest import Outlast
from outlast.cli import cli, completion, man
from outlast.cli.completion import SHELLS
from patience import PATIENCE_S

PLAIN = {
    "bash": ["bash", "--norc", "--noprofile", "-i"],
    "zsh": ["zsh", "-f", "-i"],
    "fish": ["fish", "--no-config", "-i"],
}
LOADED = {
    "bash": 'eval "$(outlast completion bash)"',
    "zsh": 'autoload -U compinit; compinit -u -D; eval "$(outlast completion zsh)"',
    "fish": "outlast completion fish | source",
}
TAB, ENTER = "\t", "\r"
PROGRAM = f"""\
#!/bin/sh
# What is asked for completions is the program; what is called says its words.
if [ -n "$_OUTLAST_COMPLETE" ] || [ "$1" = completion ]; then exec "{sys.executable}" -m outlast "$@"; fi
printf '<%s>' outlast "$@"
"""


class Terminal:
    """A shell of a person's, who types."""

    def __init__(self, command: list[str], folder: Path, environment: dict[str, str]) -> None:
        self.child, self.screen = pty.fork()
        if self.child == 0:
            os.chdir(folder)
            os.execvpe(command[0], command, environment)
        self.seen = ""

    def type(self, text: str, until: str) -> str:
        """Types, and returns what stands where `until` is matched, however long it takes."""
        begin, end = len(self.seen), time.monotonic() + PATIENCE_S
        os.write(self.screen, text.encode())
        while not (found := re.search(until, self.seen[begin:], re.M)):
            assert time.monotonic() < end, f"not seen: {until}\n{self.seen[begin:]!r}"
            if select.select([self.screen], [], [], 0.1)[0]:
                self.seen += re.sub(r"\x1b(\[[?\d;<=>]*[a-zA-Z]|[=>]|\][^\x07]*\x07)", "", self.read())
        return found[0]

    def wait(self) -> None:
        """Waits until the shell says nothing more: it is at its prompt."""
        while select.select([self.screen], [], [], 0.2)[0]:
            self.seen += self.read()

    def read(self) -> str:
        try:
            return os.read(self.screen, 65_536).decode(errors="replace")
        except OSError:
            pytest.fail(f"the shell ended: {self.seen}")

    def close(self) -> None:
        os.kill(self.child, signal.SIGKILL)
        os.waitpid(self.child, 0)
        os.close(self.screen)


@pytest.fixture(scope="module", params=list(SHELLS))
def terminal(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Terminal]:
    """A shell with the completion loaded, in a folder with a result. Line after line is typed into it, as people do."""
    shell = str(request.param)
    if shutil.which(shell) is None:
        pytest.skip(f"{shell} is not installed")
    folder = tmp_path_factory.mktemp("shell")
    (folder / "bin").mkdir()
    program = folder / "bin" / "outlast"
    program.write_text(PROGRAM)
    program.chmod(0o755)
    (folder / "some-result.json").write_text("{}")
    path = f"{program.parent}:{os.environ['PATH']}"
    own = {"PATH": path, "TERM": "xterm", "PS1": "$ ", "HOME": str(folder), "COLUMNS": "200"}
    opened = Terminal(PLAIN[shell], folder, os.environ | own)
    opened.type(f"stty cols 200; {LOADED[shell]}; printf '<%s>' ready{ENTER}", "<ready>")
    yield opened
    opened.close()


@pytest.mark.parametrize(
    ("typed", "becomes"),
    [
        (f"outlast repo{TAB}out", "outlast report out"),
        (f"outlast presets sh{TAB}hrm{TAB}", "outlast presets show hrm-200g"),
        (f"outlast run --pres{TAB}hrm{TAB}", "outlast run --preset hrm-200g"),
        (f"outlast run pm1643-r{TAB}--quiet", "outlast run pm1643-raid5 --quiet"),
        (f"outlast run demo --set dev{TAB}ftl.gc.pol{TAB}fi{TAB}", "outlast run demo --set device.ftl.gc.policy=fifo"),
        (f"outlast run demo --set run.ca{TAB}", "outlast run demo --set run.ca"),
        (
            f"outlast run demo --set device.reliability.chip=tlc{TAB}",
            "outlast run demo --set device.reliability.chip=tlc-72-layer",
        ),
        (f"outlast chips tl{TAB}--json", "outlast chips tlc-72-layer --json"),
        (f"outlast report some{TAB}", "outlast report some-result.json"),
    ],
)
def test_tab_completes(terminal: Terminal, typed: str, becomes: str) -> None:
    terminal.wait()
    words = terminal.type(f"{typed}{ENTER}", r"<outlast>(<\S+>)*")
    assert words == "".join(f"<{word}>" for word in becomes.split())


def asked(line: str, breaks: str = "=:") -> list[str]:
    """Completions that bash receives, asked for as its script does."""
    own = {"COMP_WORDS": line, "COMP_BREAKS": breaks, "_OUTLAST_COMPLETE": "bash_complete"}
    done = subprocess.run(
        [sys.executable, "-m", "outlast"], env=os.environ | own, text=True, capture_output=True, timeout=PATIENCE_S
    )
    assert done.stderr == "" and done.returncode == 0
    return done.stdout.split()


def test_words_that_bash_breaks_are_completed() -> None:
    fifo = ["plain,fifo"]
    assert asked("outlast run --set device.ftl.gc.policy=f") == fifo
    assert asked("outlast run --set=device.ftl.gc.policy=f") == fifo
    assert asked("outlast run --set device.ftl.gc.policy=f", "") == ["plain,device.ftl.gc.policy=fifo"]
    assert asked("outlast run --set run.causes=") == ["plain,true", "plain,false"]
    assert "plain,device.ftl." in asked("outlast run --set=device.")
    assert asked("outlast run --set nothing.of.that=") == ["file,"]
    assert asked("outlast ru") == ["plain,run"]


def test_what_zsh_is_to_leave_open_is_in_its_script() -> None:
    script = SHELLS["zsh"].source_template
    assert completion._ZSH_OPEN + completion._ZSH_DESCRIBED in script, "click's script for zsh is another one now"


def test_a_shell_that_is_not_known_is_named(outlast: Outlast) -> None:
    done = outlast("completion", "tcsh", check=False)
    assert done.returncode == 2 and done.stderr.count("\n") == 1 and "tcsh" in done.stderr


def test_the_manual_page_has_every_command_and_option(outlast: Outlast) -> None:
    page = outlast("man").stdout
    plain = page.replace("\\-", "-")
    with click.Context(cli, info_name="outlast") as root:
        commands = list(man._commands(root))
        assert len(commands) > 30
        for context in commands:
            section = plain.split(f".SS {context.command_path}\n")[1].split("\n.SS ")[0]
            for parameter in context.command.params:
                if isinstance(parameter, click.Option) and not parameter.hidden:
                    assert parameter.help, f"{context.command_path} {parameter.opts}: no help"
                    assert parameter.opts[0] in section, context.command_path
    # Nothing of the text is taken for a command of roff's.
    known = (".TH ", ".SH ", ".SS ", ".TP", ".PP", ".nf", ".fi")
    assert all(line.startswith(known) for line in page.splitlines() if line.startswith((".", "'")))
    assert "\b" not in page and "  outlast run demo --out out/demo" in plain


def test_the_manual_page_is_typeset_without_a_warning(outlast: Outlast) -> None:
    if shutil.which("groff") is None:
        pytest.skip("groff is not installed")
    page = outlast("man").stdout
    command = ["groff", "-man", "-Tutf8", "-Kutf8", "-ww", "-P-cbou"]
    done = subprocess.run(command, input=page, text=True, capture_output=True, timeout=PATIENCE_S)
    assert done.stderr == "" and done.returncode == 0
    for words in ("outlast - Simulate solid-state drives", "--preset NAME", "Exit codes: 0 done"):
        assert words in done.stdout
