"""A program that is recorded in a guest: no root is needed, and the drive is the guest's disk."""

from __future__ import annotations

import dataclasses
import shutil
import signal
import threading

from outlast.errors import TortureError
from outlast.products.torture import guest
from outlast.products.torture.guest_boot import Boot, LostError, agent_request, talk
from outlast.products.torture.guest_machine import Machine, nbd_node
from outlast.products.torture.loop import program
from outlast.products.torture.workload import MAKE, Job, Surroundings


class GuestWorkload:
    """A job in a guest, done in one thread and ended, if need be, from another.

    The command finds `OUTLAST_MARK_SOCKET` and `OUTLAST_MARK_FD` as outside; the sockets behind `OUTLAST_URI` and
    `OUTLAST_CONTROL` are not within its reach.
    """

    def __init__(self, job: Job) -> None:
        self._job = job
        self._boot = Boot()
        self._lock = threading.Lock()
        self._machine: Machine | None = None
        self._unwanted = False

    @property
    def backend(self) -> str:
        """Program that mounts it."""
        return f"guest, {self._boot.how}"

    def check(self) -> None:
        """Refuses what this computer cannot do."""
        if shutil.which(self._job.command[0]) is None:
            raise TortureError(f"{self._job.command[0]}: no such program, or it cannot be run")
        if (lack := guest.missing(self._job.fs)) is not None:
            raise TortureError(f"--fs {self._job.fs}: recording in a guest: {lack}")
        program(MAKE[self._job.fs][0])

    def run(self, around: Surroundings) -> int:
        """Boots a guest with the drive as its disk, and has its agent do the job; the command's exit code."""
        env = {name: text for name, text in around.env.items() if name not in ("OUTLAST_URI", "OUTLAST_CONTROL")}
        request = agent_request(self._job.fs, self._job.mount_options, self._job.command, env)
        request |= {"do": "record", "size": None, "job": dataclasses.asdict(self._job)}
        try:
            with self._boot.machine(nbd_node(around.uri)) as machine:
                with self._lock:
                    if self._unwanted:
                        raise TortureError(f"{self._job.command[0]}: was stopped before it started")
                    self._machine = machine
                try:
                    ended, _ = talk(machine, request, None, around.note)
                finally:
                    with self._lock:
                        self._machine = None
        except LostError as lost:
            raise TortureError(" ".join(str(lost).split())) from lost
        finally:
            self._boot.close()
        code: int = ended["exit"]
        return code

    def end(self, by: signal.Signals) -> bool:
        """Sends a signal to the command and its group, if it runs; it does not begin any more if it has not begun."""
        with self._lock:
            self._unwanted = True
            if self._machine is None:
                return False
            self._machine.send({"signal": int(by)})
            return True
