"""Memory: what a run needs, and what is free. The simulator tells the first, the system the second."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path

from outlast import _core
from outlast.errors import OutlastError

GIB = 2**30
MIB = 2**20

#: Python, and a little of the 11 MiB of numpy, which tables and charts need and a summary does not.
PYTHON_BYTES = 8.5 * MIB
#: The part of the simulator's library that a run touches. Both: peaks of short runs with libraries of 17 and 29 MB.
TOUCHED = 0.63


class MemoryLimitError(OutlastError):
    """A run needs more memory than is free."""


@cache
def process_bytes() -> int:
    """Memory of the process when the simulator returns, without the run's own, in bytes."""
    return int(PYTHON_BYTES + TOUCHED * Path(_core.__file__).stat().st_size)


def amount(size: float) -> str:
    """`8.4 GiB`."""
    return f"{size / GIB:.1f} GiB" if size >= GIB else f"{max(size / MIB, 1):.0f} MiB"


def check(needed: int) -> None:
    """Raises where a run that needs `needed` bytes would not fit into what is free."""
    free = free_bytes()
    if free is not None and needed > free:
        raise MemoryLimitError(
            f"needs about {amount(needed)} of memory, {amount(free)} are free: lower the capacity or enlarge "
            "device.ftl.mapping_unit (--any-memory runs it all the same)"
        )


def free_bytes() -> int | None:
    """Bytes that this process can still take; `None` where the system does not tell.

    The least of what the machine has and what its control groups and its own limits allow.
    """
    known = [free for free in (_machine(), _address_space(), *_control_groups()) if free is not None]
    return max(0, min(known)) if known else None


def _fields(path: Path) -> dict[str, int]:
    """`MemAvailable: 123 kB` and the like, in bytes."""
    fields = {}
    try:
        lines = path.read_text().splitlines()
    except OSError:
        return {}
    for line in lines:
        name, _, amount_text = line.partition(":")
        parts = amount_text.split()
        if len(parts) == 2 and parts[1] == "kB" and parts[0].isdigit():
            fields[name] = int(parts[0]) * 1024
    return fields


def _machine() -> int | None:
    return _fields(Path("/proc/meminfo")).get("MemAvailable")


def _address_space() -> int | None:
    try:
        import resource
    except ImportError:  # not on Windows
        return None
    limit, _ = resource.getrlimit(resource.RLIMIT_AS)
    if limit == resource.RLIM_INFINITY:
        return None
    return limit - _fields(Path("/proc/self/status")).get("VmSize", 0)


def _control_groups(root: Path = Path("/sys/fs/cgroup"), own: Path = Path("/proc/self/cgroup")) -> list[int]:
    """Free bytes of each control group around the process, for versions 1 and 2."""
    try:
        lines = own.read_text().splitlines()
    except OSError:
        return []
    left = []
    for line in lines:
        _, controllers, path = (*line.split(":", 2), "", "")[:3]
        if controllers == "":
            base, names = root, ("memory.max", "memory.current", "inactive_file")
        elif "memory" in controllers.split(","):
            base, names = (
                root / "memory",
                ("memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file"),
            )
        else:
            continue
        group = base / path.lstrip("/")
        for place in (group, *group.parents):
            left += _left(place, *names)
            if place == base:
                break
    return left


def _left(group: Path, limit_name: str, used_name: str, reclaimable: str) -> list[int]:
    try:
        limit, used = (group / limit_name).read_text().strip(), int((group / used_name).read_text())
        stat = (group / "memory.stat").read_text().split()
    except (OSError, ValueError):
        return []
    if not limit.isdigit() or int(limit) >= 2**60:
        return []
    cached = next((int(value) for name, value in zip(stat[::2], stat[1::2], strict=False) if name == reclaimable), 0)
    return [int(limit) - used + cached]


@contextmanager
def without_collector() -> Iterator[None]:
    """Suspends Python's search for circles: tables of thousands of rows have none, and it takes a fifth of the time."""
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()


def peak_rss_mib() -> float | None:
    """The most memory that the process has held, in MiB; `None` where the system does not tell."""
    try:
        import resource
    except ImportError:  # not on Windows
        return None
    import sys

    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return round(peak / (2**20 if sys.platform == "darwin" else 2**10), 1)
