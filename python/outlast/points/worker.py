"""The program that runs jobs for another: a line of JSON in, a line of JSON out, until there are no more."""

from __future__ import annotations

import json
import os
import select
import signal
import sys
from threading import Thread
from typing import Any


def main() -> None:
    """Serves standard input."""
    # Who asks handles Ctrl-C, and ends this program.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    Thread(target=_end_with_caller, daemon=True).start()
    # Whatever else may print goes to where messages go.
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    from outlast.points.job import measure_elsewhere

    for line in sys.stdin.buffer:
        job = json.loads(line)
        answer: dict[str, Any]
        try:
            answer = {"record": measure_elsewhere(**job)}
        except Exception as error:
            answer = {"error": type(error).__name__, "message": str(error)}
        try:
            answers.write(json.dumps(answer, allow_nan=False) + "\n")
            answers.flush()
        except BrokenPipeError:
            os._exit(1)  # nobody waits for it any more


def _end_with_caller() -> None:
    """Ends this program when nobody is left who could take an answer, even in the middle of a run of hours."""
    caller = select.poll()
    caller.register(0, 0)  # no event but the end of the other side
    caller.poll()
    os._exit(1)


if __name__ == "__main__":
    main()
