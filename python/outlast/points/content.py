"""Hash of a file's content, never mistaken for that of an earlier file under the same path."""

from __future__ import annotations

import hashlib
import os
import stat
import time
from pathlib import Path

from outlast.errors import WorkloadError

Identity = tuple[int, int, int, int, int]

SETTLED_NS = 2_000_000_000
"""A file that changed less than this before its hash was taken may change once more within the same tick of the file
system's clock, unseen (ticks are 4 ms on Linux, up to 2 s on FAT). Its hash is taken again next time."""

_hashes: dict[Identity, str] = {}


def content_hash(path: str) -> str:
    """The SHA-256 of the file's bytes. Bytes are read again only if the file is another or has changed."""
    try:
        with Path(path).open("rb") as file:
            before = os.fstat(file.fileno())
            if not stat.S_ISREG(before.st_mode):
                raise WorkloadError(f"{path}: is not a regular file, so that runs cannot be kept under its content")
            known = _hashes.get(_identity(before))
            if known is not None:
                return known
            began = time.time_ns()
            digest = hashlib.file_digest(file, "sha256").hexdigest()
            after = os.fstat(file.fileno())
    except OSError as error:
        raise WorkloadError(f"{path}: cannot be opened: {error.strerror or error}") from error
    settled = began - max(after.st_mtime_ns, after.st_ctime_ns) > SETTLED_NS
    if settled and _identity(before) == _identity(after):
        _hashes[_identity(after)] = digest
    return digest


def _identity(of: os.stat_result) -> Identity:
    return of.st_dev, of.st_ino, of.st_size, of.st_mtime_ns, of.st_ctime_ns
