"""Connection to a Dask scheduler, refused in one line where there can be none."""

from __future__ import annotations

import logging
import re
import signal
from contextlib import AbstractContextManager, suppress
from typing import Any

from outlast.errors import ScenarioError

ANSWER_WITHIN_S = 10
ADDRESS = re.compile(r"(tcp|tls|ws|wss)://(\[[^\s\[\]]+\]|[^\s\[\]:/]+):([0-9]{1,5})", re.ASCII)
"""Scheme, host and port."""
OF_THIS_PROCESS = re.compile(r"inproc://[^\s/]+/[0-9]+/[0-9]+", re.ASCII)
"""Address of a scheduler that the calling program has itself."""
MOST_PORT = 65_535


def needed(module: str, on: str) -> Any:
    """A module of the extra `cluster`."""
    from importlib import import_module

    handler = signal.getsignal(signal.SIGINT)
    try:
        return import_module(module)
    except ImportError as error:
        raise ScenarioError(f"on = {on}: needs {module}; install outlast[cluster]") from error
    finally:
        # dask_jobqueue, as it is loaded, makes Ctrl-C end the program with exit code 0 and nothing tidied up.
        if handler is not None and signal.getsignal(signal.SIGINT) is not handler:
            signal.signal(signal.SIGINT, handler)


def told(error: BaseException) -> str:
    """Message of an exception, in one line."""
    return " ".join(str(error).split()) or type(error).__name__


def quiet() -> AbstractContextManager[None]:
    """Context in which Dask's log is silent: what goes wrong is said once, by the error that it becomes."""
    utils = needed("distributed.utils", "dask")
    silent: AbstractContextManager[None] = utils.silence_logging_cmgr(logging.CRITICAL + 1)
    return silent


def client_of(on: str, cluster: Any = None) -> Any:
    """A client of the scheduler at the address `on`, or of `cluster`."""
    distributed = needed("distributed", on)
    if cluster is None:
        _check(on, distributed)
    try:
        return _connected(distributed, on if cluster is None else cluster)
    except OSError as error:
        raise ScenarioError(f"on = {on}: no Dask scheduler answers there within {ANSWER_WITHIN_S} s") from error
    except Exception as error:
        # Whatever else answers there, or this Dask cannot do, shows itself by any exception.
        raise ScenarioError(f"on = {on}: no Dask scheduler can be used there: {told(error)}") from error


def _check(on: str, distributed: Any) -> None:
    """Refuses an address that no scheduler can have: Dask's errors of it are those of a program, not of a setting."""
    if OF_THIS_PROCESS.fullmatch(on):
        return
    found = ADDRESS.fullmatch(on)
    if found is None or not 1 <= int(found[3]) <= MOST_PORT:
        wanted = f"tcp://HOST:PORT or tls://HOST:PORT, with a port from 1 to {MOST_PORT}"
        raise ScenarioError(f"on = {on}: must be the address of a Dask scheduler, {wanted}, or slurm")
    if found[1] not in ("tls", "wss"):
        return
    certificates = "needs TLS certificates under distributed.comm.tls in Dask's configuration"
    try:
        context = distributed.Security().get_connection_args("client").get("ssl_context")
    except Exception as error:
        raise ScenarioError(f"on = {on}: {certificates}: {told(error)}") from error
    if context is None:
        raise ScenarioError(f"on = {on}: {certificates}: ca-file, client.cert and client.key")


def _connected(distributed: Any, address: Any) -> Any:
    """A client that is connected. One whose scheduler does not answer is closed before the error is raised.

    Else it would be closed when it is collected, by when its event loop may have ended, and Python prints that error.
    """
    made: list[Any] = []

    class Client(distributed.Client):  # type: ignore[misc]  # `distributed` may not be there
        def start(self, **options: Any) -> Any:
            made.append(self)
            return super().start(**options)

    try:
        return Client(address, timeout=ANSWER_WITHIN_S, set_as_default=False)
    except BaseException:
        for each in made:
            with suppress(Exception):
                each.close(timeout=1)
            # `__del__` closes what is neither closed nor new.
            each.status = "closed"
        raise
