"""A document saved by write, fsync, rename: `rename_save.py work|check folder=no` forgets the fsync of the folder."""

from __future__ import annotations

import hashlib
import os
import socket

from promise import AHEAD, PromiseError, checked, corrupt, lost, main, mount

FILE = "document"


def text(number: int) -> bytes:
    """Text of version `number` of the document, after a hash that proves that all of it is there."""
    body = f"version {number}\n".encode() * (20 + number * 37 % 400)
    return hashlib.sha256(body).hexdigest().encode() + b"\n" + body


def work(folder: str, saves: int) -> None:
    """Saves the document again and again, and marks each version when it has been saved."""
    recorder = socket.socket(fileno=int(os.environ["OUTLAST_MARK_FD"]))
    place = os.open(mount(), os.O_RDONLY | os.O_DIRECTORY)
    for number in range(1, saves + 1):
        file = os.open("document.new", os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o644, dir_fd=place)
        os.write(file, text(number))
        os.fsync(file)
        os.close(file)
        os.rename("document.new", FILE, src_dir_fd=place, dst_dir_fd=place)
        if folder == "yes":
            os.fsync(place)
        recorder.sendall(f"saved {number}\n".encode())
        if recorder.recv(1) != b"\n":
            raise OSError("the recorder has gone")


def read(promised: int) -> None:
    """The document is whole, and no older than promised."""
    try:
        held = (mount() / FILE).read_bytes()
    except FileNotFoundError:
        raise lost(f"no document, version {promised} had been saved") from None
    digest, _, body = held.partition(b"\n")
    if hashlib.sha256(body).hexdigest().encode() != digest:
        raise corrupt(f"the document has {len(held)} bytes and is no version of it")
    number = int(body.split()[1])
    if number > promised + 1:
        raise PromiseError(AHEAD, f"the document is version {number}, and version {promised} was the last saved")
    if number < promised:
        raise lost(f"the document is version {number}, version {promised} had been saved")


def check(**_: object) -> int:
    """Is what a state holds what was promised?"""
    return checked(read)


if __name__ == "__main__":
    main(work, check, folder="no", saves=30)
