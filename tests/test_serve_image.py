"""Is the image of a served drive bounded, safe on the host's disk where asked for, and open to be looked into?"""

from __future__ import annotations

import json
import shutil
import signal
import subprocess
from pathlib import Path

import pytest

import outlast
from conftest import call
from patience import PATIENCE_S
from served import SYSTEM_PYTHON, files_of, needs_libnbd, start

pytestmark = needs_libnbd

COUNTED = r"""
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int fdatasync(int fd) {
    char link[64], name[4096];
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    ssize_t length = readlink(link, name, sizeof name - 1);
    int told = open(getenv("FDATASYNCS"), O_WRONLY | O_APPEND | O_CREAT, 0600);
    int done = ((int (*)(int))dlsym(RTLD_NEXT, "fdatasync"))(fd);
    if (length > 0 && told >= 0) {
        name[length] = '\n';
        if (write(told, name, length + 1) < 0) abort();
    }
    close(told);
    return done;
}
"""
"""Notes in a file which files are brought to the disk, each when it is there."""


def by_libnbd(uri: str, commands: str) -> None:
    """Commands of a client `h`, which must succeed."""
    connect = "import nbd, sys; h = nbd.NBD(); h.connect_uri(sys.argv[1])\n"
    command = [SYSTEM_PYTHON, "-c", connect + commands, uri]
    done = subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE_S)
    assert done.returncode == 0, done.stderr


@pytest.mark.skipif(shutil.which("cc") is None, reason="cc absent")
@pytest.mark.parametrize("sync", [True, False])
def test_sync_brings_the_log_to_the_disk_before_a_flush_is_acknowledged(
    tmp_path: Path, small: Path, sync: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "count.c").write_text(COUNTED)
    library, told = tmp_path / "count.so", tmp_path / "told"
    subprocess.run(["cc", "-shared", "-fPIC", "-o", library, tmp_path / "count.c", "-ldl"], check=True, cwd=tmp_path)
    told.write_text("")
    monkeypatch.setenv("FDATASYNCS", str(told))
    monkeypatch.setenv("LD_PRELOAD", str(library))
    options = ["--image", "image", "--clock", "virtual", *(["--sync"] if sync else [])]
    served = start(tmp_path, small.name, *options)
    monkeypatch.delenv("LD_PRELOAD")
    # What is there when an answer has come was there before it left.
    count = f"sum('/log/' in line for line in open({str(told)!r}))"
    by_libnbd(
        served.uri,
        f"""
for turn in range(20):
    start = {count}
    h.pwrite(b'w' * 4096, turn * 4096)
    h.pread(4096, turn * 4096)
    plain = {count}
    h.pwrite(b'f' * 4096, turn * 4096, nbd.CMD_FLAG_FUA)
    forced = {count}
    h.flush()
    flushed = {count}
    found = plain - start, forced - plain, flushed - forced
    assert found == {(0, 1, 1) if sync else (0, 0, 0)}, found
""",
    )
    clocks = [line for line in told.read_text().splitlines() if line.endswith("/clock")]
    assert len(clocks) == (40 if sync else 0), "the time is there, too, before the answer leaves"
    served.stop()


def test_an_image_stays_small_and_nothing_is_lost(tmp_path: Path, small: Path) -> None:
    image = tmp_path / "image"
    options = ["--image", str(image), "--checkpoint-every", "1MiB", "--clock", "virtual"]
    served = start(tmp_path, small.name, *options)
    written = "b''.join(bytes([turn % 251]) * 4096 for turn in range(256))"
    by_libnbd(served.uri, f"for turn in range(24): h.pwrite({written}, turn % 8 * 2**20)\nh.flush()")
    served.process.send_signal(signal.SIGKILL)
    served.process.communicate(timeout=PATIENCE_S)
    log = sum(path.stat().st_size for path in (image / "log").iterdir())
    checkpoints = [path for path in (image / "checkpoints").iterdir() if path.suffix != ".new"]
    assert log < 24 << 20 and len(checkpoints) >= 1, "the log is shorter than what was written"
    served = start(tmp_path, "--image", str(image), "--clock", "virtual")
    by_libnbd(served.uri, f"for turn in range(8): assert h.pread(2**20, turn * 2**20) == {written}")
    code, said = served.stop()
    assert code == 0
    inputs = int(said.split(" inputs replayed")[0].split()[-1])
    assert "lost its power when its server ended" in said and inputs < 24 * 2, said


def test_a_drive_is_served_as_it_was(tmp_path: Path, small: Path) -> None:
    image = tmp_path / "image"
    with outlast.serve(small, image=image) as served:
        by_libnbd(served.uri, "h.pwrite(b'1' * 4096, 0); h.flush()")
        then = served.state()["clock"]["now_ns"]
        by_libnbd(served.uri, "h.pwrite(b'2' * 4096, 0); h.flush()")
    before = files_of(image)
    past = start(tmp_path, "--image", str(image), "--at", f"{then}ns", "--clock", "virtual")
    by_libnbd(past.uri, "assert h.pread(4096, 0) == b'1' * 4096; h.pwrite(b'3' * 4096, 0); h.flush()")
    code, said = past.stop()
    assert code == 0 and f"as it was at {then}ns; the image stays as it is" in said
    assert files_of(image) == before
    now = start(tmp_path, "--image", str(image), "--clock", "virtual")
    by_libnbd(now.uri, "assert h.pread(4096, 0) == b'2' * 4096")
    now.stop()
    future = call("serve", "--image", image, "--at", "1h", "--listen", f"unix:{tmp_path / 'other'}", check=False)
    assert future.returncode == 2 and future.stderr.startswith(f"error: {image}/log: ends at "), future.stderr
    assert future.stderr.endswith(", before 1h\n") and files_of(image).keys() == before.keys()


def test_the_log_of_an_image_is_a_trace_for_a_run(tmp_path: Path, small: Path) -> None:
    image, trace = tmp_path / "image", tmp_path / "image.blkparse"
    with outlast.serve(small, image=image) as served:
        by_libnbd(
            served.uri,
            "for turn in range(50): h.pwrite(b'w' * 8192, turn * 8192); h.pread(4096, turn * 8192)\n"
            "h.trim(65536, 0); h.flush()",
        )
        served.mark("half")
    made = call("image", "trace", image, trace)
    # The last flush is that of the shutdown.
    assert made.stderr == f"103 requests and 1 remark written to {trace}\n"
    info = json.loads(call("trace", "info", trace, "--json").stdout)
    expected = {"reads": 50, "writes": 50, "trims": 1, "flushes": 2}
    assert {kind: info[kind]["count"] for kind in expected} == expected
    options: list[str | Path] = ["--trace", trace, "--set", "run.warm_up=0s", "--json"]
    run = json.loads(call("run", image / "scenario.toml", *options, cwd=tmp_path).stdout)
    assert {kind: run["host"][kind] for kind in expected} == expected
    assert " m   N mark half\n" in trace.read_text()


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["demo", "--keep-log", "--sync"], "--sync, --keep-log: only with --image"),
        (["demo", "--at", "1s"], "--at: only with --image"),
        (["--image", "x", "--at", "1s", "--keep-log"], "--keep-log: not with --at, which keeps no changes"),
        (["demo", "--image", "x", "--at", "1s"], "--at serves the machine of an image: name no SCENARIO"),
        (["demo", "--image", "x", "--checkpoint-every", "7"], "checkpoint_every = 7B: must be at least 64KiB"),
        (["demo", "--image", "x", "--checkpoint-every", "much"], 'checkpoint_every = "much": '),
        (["--image", "x", "--at", "noon"], 'at = "noon": '),
        (
            ["--image", "x", "--at", "1s"],
            "x: is not an Outlast image; to create one: outlast serve SCENARIO --image DIR",
        ),
    ],
)
def test_options_that_make_no_sense_are_refused(tmp_path: Path, options: list[str], said: str) -> None:
    refused = call("serve", *options, "--listen", f"unix:{tmp_path / 'socket'}", cwd=tmp_path, check=False)
    assert refused.returncode == 2 and refused.stderr.startswith(f"error: {said}"), refused.stderr
    assert refused.stderr.count("\n") == 1 and not any(tmp_path.iterdir())
