"""Journal of verdicts in a folder: results.jsonl, and run.json, which identifies the check that it belongs to."""

from __future__ import annotations

import hashlib
import json
import os
import stat
import threading
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import TracebackType
from typing import Any, Literal, Self, TextIO

from outlast import foreign, shapes
from outlast.errors import OutlastError, TortureError
from outlast.output import cannot_write, check_writable, write_file

RUN, LINES, RESULT, JUNIT, REPORT, LOGS, TWICE = (
    *("run.json", "results.jsonl", "result.json", "junit.xml", "report.html"),
    *("logs", "twice"),
)
FILES = {RUN, LINES, RESULT, JUNIT, REPORT, LOGS, TWICE}
"""All that lies in the folder of a check."""
Stage = Literal["start", "mount", "check", "fsck", "done"]
Purpose = Literal["first", "plan", "shrink"]
LONGEST_OUTPUT = 4096
"""Characters of a state's output in results.jsonl; logs/STATE.txt has all of a bad one's."""
MOST_WITNESSES = 20
"""Lost writes that are told of a bad state. Shrinking leaves few."""


@dataclass(frozen=True)
class Verdict:
    """Verdict on a state: a line of results.jsonl."""

    state: str
    model: str
    event: int
    at_ns: int
    mark: str | None
    spans_ns: list[tuple[int, int]]
    verdict: Literal["good", "bad"]
    stage: Stage
    """Stage at which it failed: start of the device, mount, check, fsck; or `done`."""
    exit: int | None
    """The exit code of what failed; `None` in process."""
    seconds: float
    output: str
    bad: list[tuple[int, int]]
    """Offset and length of what cannot be read, in bytes."""
    timed_out: bool = False
    lost: int = 0
    """Pieces of writes that the state lacks."""
    witness: list[dict[str, Any]] = field(default_factory=list)
    """Lost writes of a bad state, and the reasons why they may be lost."""
    purpose: Purpose = "plan"
    """`first`: whether the check is right at all; `shrink`: on the way to a smaller bad state."""

    @property
    def is_bad(self) -> bool:
        """True if the state must not occur."""
        return self.verdict == "bad"

    @property
    def group(self) -> str:
        """See `group_of`."""
        return group_of(self.state)

    @property
    def failure(self) -> tuple[str, str, int | None, bool]:
        """Key that failures of the same kind share."""
        return self.group.partition("/")[0], self.stage, self.exit, self.timed_out

    def line(self) -> str:
        """The verdict as a line of `results.jsonl` has it."""
        return json.dumps(vars(self), ensure_ascii=False) + "\n"


def group_of(state: str) -> str:
    """The model of a state's id with its fault, such as `die3`: the states of a group share out the time."""
    return state.partition("@")[0]


def verdict_of(line: str) -> Verdict:
    """The verdict of a line of results.jsonl. Raises ValueError or OutlastError where it is none."""
    fields = foreign.json_of(line)
    shapes.check(Path(LINES), fields, "verdict")
    for name in ("spans_ns", "bad"):
        fields[name] = [(int(start), int(end)) for start, end in fields[name]]
    return Verdict(**fields)


def file_name(state: str) -> str:
    """A state's id as the name of a file: short, and in one folder."""
    plain = state.replace("/", "_")
    return plain if len(plain) <= 100 else f"{plain[:80]}…{hashlib.sha256(plain.encode()).hexdigest()[:12]}"


def of_files(words: list[str]) -> dict[str, str]:
    """The words that name files, with the hash of what they hold: a check that has changed is another check."""
    found = {}
    for word in words:
        path = Path(word)
        if path.is_file():
            with path.open("rb") as file:
                found[word] = hashlib.file_digest(file, "sha256").hexdigest()
    return found


class Journal:
    """The folder of a check: what was found so far, and what is found from now on."""

    def __init__(self, folder: Path, agreement: Mapping[str, Any], *, fresh: bool) -> None:
        self.folder = folder
        self.known: dict[str, Verdict] = {}
        self.added = 0
        """Verdicts that are new."""
        self._file: TextIO | None = None
        self._lock = threading.Lock()
        # Lists in place of tuples, as JSON reads them back.
        self._agreement: dict[str, Any] = json.loads(json.dumps(agreement))
        self._check_folder()
        if not fresh and (folder / RUN).is_file():
            self._check_agreement()
            self._read()

    def _check_folder(self) -> None:
        if self.folder.is_symlink():
            raise TortureError(f"{self.folder}: is a symbolic link; name the folder itself")
        if self.folder.exists() and not self.folder.is_dir():
            raise TortureError(f"{self.folder}: not a folder")
        try:
            names = sorted(path.name for path in self.folder.iterdir()) if self.folder.is_dir() else []
        except OSError as error:
            raise TortureError(f"{self.folder}: cannot be read: {error.strerror}") from error
        others = [name for name in names if name not in FILES and not name.startswith(".")]
        if others:
            raise TortureError(f"{self.folder}: holds {others[0]}, which is not part of a check; name another folder")
        for name in names:
            _check_kind(self.folder / name)
        check_writable(self.folder / RUN)

    def _check_agreement(self) -> None:
        path = self.folder / RUN
        try:
            before = foreign.read(path)
        except (OSError, ValueError) as error:
            raise TortureError(f"{path}: cannot be read: {error}; --fresh starts again") from error
        if not isinstance(before, dict):
            raise TortureError(f"{path}: not a result of a check; --fresh starts again")
        for name in {**before, **self._agreement}:
            was, now = before.get(name), self._agreement.get(name)
            if was != now:
                raise TortureError(
                    f"{self.folder}: holds the results of another check: {name} was {_difference(was, now)}, "
                    f"and is {_difference(now, was)}; --fresh starts again, --out names another folder"
                )

    def _read(self) -> None:
        try:
            lines = (self.folder / LINES).read_text(encoding="utf-8").splitlines(keepends=True)
        except FileNotFoundError:
            return
        except (OSError, UnicodeDecodeError) as error:
            raise TortureError(f"{self.folder / LINES}: cannot be read: {error}; --fresh starts again") from error
        for number, line in enumerate(lines, 1):
            try:
                verdict = verdict_of(line)
            except (ValueError, TypeError, OutlastError) as error:
                if number == len(lines):
                    break  # being written when the check was killed
                raise TortureError(
                    f"{self.folder / LINES}: line {number}: not a verdict; --fresh starts again"
                ) from error
            self.known[verdict.state] = verdict

    def __enter__(self) -> Self:
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            write_file(self.folder / RUN, json.dumps(self._agreement, indent=2, ensure_ascii=False) + "\n")
            write_file(self.folder / LINES, "".join(verdict.line() for verdict in self.known.values()))
            self._file = (self.folder / LINES).open("a", encoding="utf-8")
        except OSError as error:
            raise cannot_write(self.folder, error) from error
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._file is not None:
            self._file.close()

    def add(self, verdict: Verdict) -> Verdict:
        """Keeps a verdict, from any thread, with the end of its output; all a bad one's goes to its own file."""
        output = verdict.output
        shown = output if len(output) <= LONGEST_OUTPUT else f"…{output[-LONGEST_OUTPUT:]}"
        kept = replace(verdict, output=shown)
        with self._lock:
            self.known[verdict.state] = kept
            self.added += 1
            if self._file is not None:
                self._write(self._file, kept.line())
            if self._file is not None and kept.is_bad and output:
                self._write_log(verdict)
        return kept

    def _write_log(self, verdict: Verdict) -> None:
        path = self.folder / LOGS / f"{file_name(verdict.state)}.txt"
        try:
            path.parent.mkdir(exist_ok=True)
            # Not through a link: folders of checks are passed on, too.
            how = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
            with os.fdopen(os.open(path, how, 0o666), "w", encoding="utf-8", errors="replace") as file:
                file.write(verdict.output)
        except OSError as error:
            raise cannot_write(path, error) from error

    def _write(self, file: TextIO, line: str) -> None:
        try:
            file.write(line)
            file.flush()
        except OSError as error:
            raise cannot_write(self.folder / LINES, error) from error


def _check_kind(path: Path) -> None:
    """Refuses what leads out of the folder of a check, or would keep its reader waiting."""
    kind = path.lstat().st_mode
    is_folder = path.name in (LOGS, TWICE)
    if is_folder and stat.S_ISDIR(kind):
        for entry in path.iterdir():
            _check_kind(entry)
        return
    if not (stat.S_ISDIR(kind) if is_folder else stat.S_ISREG(kind)):
        what = "a symbolic link" if stat.S_ISLNK(kind) else "something else"
        raise TortureError(f"{path}: is {what}, but must be {'a folder' if is_folder else 'a plain file'}")


def _difference(value: Any, other: Any) -> str:
    """A value of run.json, of a table only what differs."""
    if isinstance(value, dict) and isinstance(other, dict):
        value = {key: entry for key, entry in value.items() if other.get(key) != entry}
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= 200 else f"{text[:200]}…"
