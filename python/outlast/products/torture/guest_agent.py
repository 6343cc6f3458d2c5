"""The program within a guest: its first process, which mounts the disk, runs commands and passes marks on.

Lines of JSON go to and from the host on a virtio-serial port. The host says `{"do": "check"|"record", …}`; the agent
says `{"stage": …}` when it begins the next thing, `{"mark": text}` and waits for an answer, `{"output": text}`, and at
last `{"ended": …}`, `{"refused": why}` or `{"failed": traceback}`. Meanwhile the host may say `{"signal": number}`.
"""

from __future__ import annotations

import errno
import fcntl
import os
import signal
import struct
import threading
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from json import dumps, loads
from pathlib import Path
from queue import Queue
from typing import Any

from outlast.errors import TortureError
from outlast.products.torture import command as commands
from outlast.products.torture import linux
from outlast.products.torture.marks import Marks, RefusedError
from outlast.products.torture.workload import HostWorkload, Job, Surroundings

NAME = "agent"
"""The port's."""
DEVICE = "/dev/vda"
PLACE = Path("/run/outlast")
MOUNT = PLACE / "mount"
BLKFLSBUF, BLKGETSIZE64 = 0x1261, 0x80081272
KERNEL_LINES = 20
"""Messages of the kernel about a file system that it refuses."""


class Port:
    """The line to the host: requests, answers to marks, and signals for the command that runs."""

    def __init__(self) -> None:
        self._handle = os.open(_port(), os.O_RDWR | os.O_CLOEXEC)
        self._sending, self._marking = threading.Lock(), threading.Lock()
        self.requests: Queue[dict[str, Any]] = Queue()
        self._answers: Queue[dict[str, Any]] = Queue()
        self.on_signal: Callable[[signal.Signals], bool] | None = None
        threading.Thread(target=self._read, daemon=True).start()

    def send(self, **message: Any) -> None:
        """Tells the host."""
        data = memoryview(dumps(message).encode() + b"\n")
        with self._sending:
            while data:
                data = data[os.write(self._handle, data) :]

    def mark(self, text: str) -> None:
        """Has the host make a mark, and returns when it has; raises what it refuses."""
        with self._marking:
            self.send(mark=text)
            answer = self._answers.get()
        if "error" in answer:
            raise RefusedError(answer["error"])

    def _read(self) -> None:
        with open(self._handle, "rb", closefd=False) as lines:
            for line in lines:
                message = loads(line)
                if "do" in message:
                    self.requests.put(message)
                elif "signal" not in message:
                    self._answers.put(message)
                elif self.on_signal is not None:
                    self.on_signal(signal.Signals(message["signal"]))
        # Nobody is there any more. Without its first process the kernel gives up, and the machine ends.
        os._exit(1)


def _port() -> str:
    for name in Path("/sys/class/virtio-ports").iterdir():
        if (name / "name").read_text().strip() == NAME:
            return f"/dev/{name.name}"
    raise FileNotFoundError(f"no port {NAME}")


def end_others() -> None:
    """Kills all processes but this one, which is the first, and waits for them."""
    with suppress(ProcessLookupError):
        os.kill(-1, signal.SIGKILL)
    with suppress(ChildProcessError):
        while True:
            os.wait()


class Agent:
    """Work for the host, one request after another."""

    def __init__(self) -> None:
        self._port = Port()
        self._log = os.open("/dev/kmsg", os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
        MOUNT.mkdir(parents=True, exist_ok=True)

    def serve(self) -> None:
        """Serves requests of the host until the machine ends."""
        self._port.send(ready=True)
        while True:
            request = self._port.requests.get()
            try:
                self._enter_environment(request)
                ended = self._check(request) if request["do"] == "check" else self._record(request)
            except TortureError as error:
                self._port.send(refused=str(error))
            except Exception:
                # Not the state's fault, and not to be taken for one.
                self._port.send(failed=traceback.format_exc())
            else:
                self._port.send(ended=ended, memory=_free_memory())

    def _enter_environment(self, request: dict[str, Any]) -> None:
        os.environ.clear()
        os.environ.update(request["env"] | {"OUTLAST_MOUNT": str(MOUNT), "OUTLAST_DEVICE": DEVICE})
        for name, text in request["files"].items():
            path = PLACE / name
            path.write_text(text)
            os.environ[name] = str(path)
        os.chdir(request["folder"])
        device = os.open(DEVICE, os.O_RDWR | os.O_CLOEXEC)
        try:
            # Nothing of what was on this disk before may be remembered.
            fcntl.ioctl(device, BLKFLSBUF)
            size: int = struct.unpack("=Q", fcntl.ioctl(device, BLKGETSIZE64, bytes(8)))[0]
        finally:
            os.close(device)
        if request["size"] not in (None, size):
            raise TortureError(f"the guest sees a disk of {size} bytes, not of {request['size']}")

    def _check(self, request: dict[str, Any]) -> dict[str, Any]:
        try:
            self._mount(request)
        except OSError as error:
            said = f"mount: {error.strerror}\n{self._kernel_said()}"
            return _ended("mount", error.errno or 1, said)
        try:
            self._port.send(stage="check")
            ended = commands.run(request["command"], {}, request["timeout"])
        finally:
            self._port.send(stage="unmount")
            end_others()
            linux.unmount(MOUNT)
        if ended.exit != 0 or request["fsck"] is None:
            stage = "check" if ended.exit else "done"
            return _ended(stage, ended.exit, ended.output, ended.timed_out)
        self._port.send(stage="fsck")
        found = commands.run([*request["fsck"], DEVICE], {}, None)
        output = ended.output + found.output
        return _ended("fsck" if found.exit else "done", found.exit, output)

    def _record(self, request: dict[str, Any]) -> dict[str, Any]:
        workload = _Workload(Job(**request["job"]), self._mount, request)
        self._port.on_signal = workload.end
        with self._output_forwarded(), Marks(lambda line: self._port.send(output=f"{line}\n")) as marks:
            code = workload.run(Surroundings("", {}, marks, self._port.mark))
        self._port.on_signal = None
        return _ended("check" if code else "done", code, "")

    @contextmanager
    def _output_forwarded(self) -> Iterator[None]:
        """Meanwhile, what this process and its children print goes to the host as it comes."""
        reading, writing = os.pipe()
        usual = [os.dup(stream) for stream in (1, 2)]
        for stream in (1, 2):
            os.dup2(writing, stream)
        os.close(writing)
        pump = threading.Thread(target=self._pump, args=(reading,))
        pump.start()
        try:
            yield
        finally:
            for stream, console in zip((1, 2), usual, strict=True):
                os.dup2(console, stream)
                os.close(console)
            end_others()
            pump.join()

    def _pump(self, reading: int) -> None:
        with os.fdopen(reading, "rb", buffering=0) as stream:
            while data := stream.read(1 << 14):
                self._port.send(output=data.decode(errors="replace"))

    def _mount(self, request: dict[str, Any]) -> None:
        os.lseek(self._log, 0, os.SEEK_END)
        flags, data = linux.options(request["options"])
        self._port.send(stage="mount")
        try:
            linux.mount(DEVICE, MOUNT, request["fs"], flags, data)
        except OSError as error:
            if error.errno == errno.ENODEV:
                raise TortureError(f"the guest's kernel has no {request['fs']}") from error
            raise

    def _kernel_said(self) -> str:
        lines = []
        with suppress(BlockingIOError):
            while True:
                lines.append(os.read(self._log, 8192).decode(errors="replace").partition(";")[2].partition("\n")[0])
        return "\n".join(lines[-KERNEL_LINES:])


class _Workload(HostWorkload):
    """A job on the guest's disk."""

    def __init__(self, job: Job, mount: Callable[[dict[str, Any]], None], request: dict[str, Any]) -> None:
        super().__init__(job)
        self._mount, self._request = mount, request

    def _on_file_system(self, around: Surroundings) -> int:
        self._make(DEVICE)
        try:
            self._mount(self._request)
        except OSError as error:
            raise TortureError(f"--fs {self._job.fs}: cannot be mounted: {error.strerror}") from error
        try:
            code = self._perform(around, {}, PLACE, MOUNT)
        finally:
            end_others()
            linux.unmount(MOUNT)
        around.note("outlast:unmounted")
        return code


def _ended(stage: str, code: int, output: str, timed_out: bool = False) -> dict[str, Any]:
    return {"stage": stage, "exit": code, "output": output, "timed_out": timed_out}


def _free_memory() -> float:
    """The part of the memory that programs can have yet."""
    kib = {line.split(":")[0]: int(line.split()[1]) for line in Path("/proc/meminfo").read_text().splitlines()}
    return kib["MemAvailable"] / kib["MemTotal"]


def main() -> None:
    """The first process of a guest; when it ends, the machine does."""
    Agent().serve()
