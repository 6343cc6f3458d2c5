"""Formats of the log: a line of text for each record, or a JSON object."""

from __future__ import annotations

import json
import logging
import sys
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from typing import Any

from outlast.log import INFO, JSON
from outlast.printable import printable


def line(seconds: float, facts: Mapping[str, Any]) -> str:
    """An object on one line, with its time; in ASCII, so that no terminal obeys what a foreign file is called."""
    return json.dumps({"time": _time(seconds), **facts}, default=str)


def _time(seconds: float) -> str:
    return datetime.fromtimestamp(seconds, UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


class _Formatter(logging.Formatter):
    """Writes a record in the format that holds at that moment."""

    def __init__(self, form: Callable[[], str]) -> None:
        super().__init__()
        self._form = form

    def format(self, record: logging.LogRecord) -> str:
        """The line of a record."""
        facts: dict[str, Any] = getattr(record, "facts", {})
        head = {"level": record.levelname.lower(), "logger": record.name, "message": record.getMessage()}
        if self._form() == JSON:
            return line(record.created, {**head, **facts})
        text = f"{_time(record.created)} {record.levelname:<7} {record.name}: {head['message']}"
        return printable(" ".join([text, *(f"{name}={_value(value)}" for name, value in facts.items())]))


def _value(value: object) -> str:
    """A value after its name: as it is where no blank is in it, else as JSON."""
    text = value if isinstance(value, str) else json.dumps(value, default=str)
    return text if text and not any(each.isspace() or each == '"' for each in text) else json.dumps(value, default=str)


class _Handler(logging.StreamHandler[Any]):
    """Standard error, which whoever read it may have closed: the work goes on without it."""

    def handleError(self, record: logging.LogRecord) -> None:  # noqa: N802 - logging's name
        """Nobody is left to be told."""


def logger_of(name: str, form: Callable[[], str]) -> logging.Logger:
    """The logger of a command; records of its level and above go to standard error and nowhere else."""
    logger, handler = logging.getLogger(name), _Handler(sys.stderr)
    handler.setFormatter(_Formatter(form))
    logger.addHandler(handler)
    logger.setLevel(INFO)
    logger.propagate = False
    return logger
