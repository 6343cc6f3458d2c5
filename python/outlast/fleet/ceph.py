"""The map of a real cluster: groups and drives from the JSON of `ceph osd dump`, `ceph pg dump` and `ceph osd tree`.

These files come from elsewhere: what they hold is bounded, and a field that is not what it has to be is named with
file and value.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from outlast import foreign
from outlast.errors import ScenarioError
from outlast.inputs import is_stream
from outlast.printable import printable

MOST_BYTES = 1 << 29
"""Limit of a file: a placement group takes some kilobytes, and a large cluster has a hundred thousand."""
MOST_OSDS = 1 << 20
MOST_LEVELS = 32
"""Most buckets above an OSD; Ceph has twelve types of them."""
REPLICATED, ERASURE = 1, 3
"""Types of pools."""
MOST_PGS = 1 << 20
MOST_PG_BYTES = 1e18
NONE = 2**31 - 1
"""Number that Ceph writes for a piece that is on no drive."""


@dataclass(frozen=True)
class Map:
    """Drives with data, numbered from 0 in the order of their OSD numbers, and the groups of a pool."""

    osds: list[int]
    node: list[int]
    rack: list[int]
    site: list[int]
    groups: NDArray[np.uint32]
    piece_bytes: float | None
    """Mean bytes of a piece, if the dump says how many there are."""
    left_out: int
    """Placement groups that were degraded when the map was taken."""


class _File:
    """A JSON file, and refusals that name it."""

    def __init__(self, path: Path) -> None:
        self.path = path
        if is_stream(path):
            raise ScenarioError(f"{path}: must be a regular file, not a pipe or device")
        try:
            size = path.stat().st_size
            if size > MOST_BYTES:
                raise ScenarioError(f"{path}: has {size} bytes: at most {MOST_BYTES}")
            self.whole = foreign.json_of(path.read_bytes())
        except OSError as error:
            raise ScenarioError(f"{path}: cannot be read: {error.strerror}") from error
        except ValueError as error:
            raise ScenarioError(f"{path}: {error}") from error

    def refused(self, place: str, value: Any, limit: str) -> ScenarioError:
        shown = json.dumps(value, default=str)[:60]
        return ScenarioError(f"{self.path}: {place} = {shown}: {limit}")

    def get(self, table: Any, place: str, key: str, kind: type | tuple[type, ...], limit: str) -> Any:
        value = table.get(key) if isinstance(table, Mapping) else None
        if not isinstance(value, kind) or isinstance(value, bool):
            raise self.refused(f"{place}{key}", value, limit)
        return value

    def rows(self, table: Any, place: str, key: str, most: int) -> list[Any]:
        rows: list[Any] = self.get(table, place, key, list, "must be a list")
        if len(rows) > most:
            raise self.refused(f"{place}{key}", len(rows), f"has too many rows: at most {most}")
        return rows


def read(osd_dump: Path, pg_dump: Path, osd_tree: Path | None, pool: str, width: int, data: int) -> Map:
    """The groups of a pool, whose code has `width` pieces, `data` of them with data.

    Raises `ScenarioError` with file, field and value for what is not as Ceph writes it.
    """
    dump = _File(osd_dump)
    number = _pool(dump, pool, width, data)
    osds = dump.rows(dump.whole, "", "osds", MOST_OSDS)
    known = {}
    for index, osd in enumerate(osds):
        place = f"osds[{index}]."
        name = dump.get(osd, place, "osd", int, "must be the number of an OSD")
        if not 0 <= name < NONE or name in known:
            raise dump.refused(f"{place}osd", name, "must be a number of its own, at least 0")
        known[name] = dump.get(osd, place, "in", int, "must be 0 or 1") == 1
    groups, size, left_out = _groups(_File(pg_dump), number, width, known, str(osd_dump))
    used = sorted({osd for group in groups for osd in group})
    place_of = {osd: position for position, osd in enumerate(used)}
    places = _places(_File(osd_tree), used) if osd_tree is not None else [(osd, 0, 0) for osd in used]
    # Racks without a number of their own, in different sites, are different racks.
    nodes = {place: position for position, place in enumerate(dict.fromkeys(places))}
    racks = {rack: position for position, rack in enumerate(dict.fromkeys(place[1:] for place in nodes))}
    sites = {site: position for position, site in enumerate(dict.fromkeys(rack[1] for rack in racks))}
    return Map(
        used,
        [nodes[place] for place in places],
        [racks[place[1:]] for place in nodes],
        [sites[rack[1]] for rack in racks],
        np.array([place_of[osd] for group in groups for osd in group], dtype=np.uint32),
        # What Ceph counts are the bytes of objects, of which each piece with data has its part.
        None if size is None else size / data,
        left_out,
    )


def _pool(dump: _File, name: str, width: int, data: int) -> int:
    pools = dump.rows(dump.whole, "", "pools", 100_000)
    named = {}
    for index, pool in enumerate(pools):
        place = f"pools[{index}]."
        found = dump.get(pool, place, "pool_name", str, "must be the name of a pool")
        if found in named:
            raise dump.refused(f"{place}pool_name", found, "is the name of another pool, too")
        named[found] = (place, pool)
    if not name and len(named) == 1:
        name = next(iter(named))
    if name not in named:
        there = ", ".join(printable(pool, keep="") for pool in list(named)[:10]) or "none"
        raise dump.refused("pools", name, f"no such pool; there are {there}")
    place, pool = named[name]
    size = dump.get(pool, place, "size", int, "must be the number of pieces")
    if size != width:
        raise dump.refused(f"{place}size", size, f"the code has {width} pieces: set [code] as the pool has it")
    kind = pool.get("type", REPLICATED if data == 1 else ERASURE)
    if kind not in (REPLICATED, ERASURE) or isinstance(kind, (bool, float)):
        raise dump.refused(f"{place}type", kind, f"must be {REPLICATED} (replicated) or {ERASURE} (erasure)")
    if (kind == REPLICATED) != (data == 1):
        raise dump.refused(f"{place}type", kind, f"[code] has {data} pieces with data: set it as the pool has it")
    profile = pool.get("erasure_code_profile")
    profiles = dump.whole.get("erasure_code_profiles", {})
    known = profiles.get(profile) if isinstance(profiles, Mapping) and isinstance(profile, str) else None
    if kind == ERASURE and isinstance(known, Mapping) and "k" in known and str(known["k"]) != str(data):
        raise dump.refused(
            f"erasure_code_profiles.{printable(str(profile), keep='')[:40]}.k",
            known["k"],
            f"[code] has {data} pieces with data: set it as the pool has it",
        )
    return int(dump.get(pool, place, "pool", int, "must be the number of a pool"))


def _groups(
    dump: _File, pool: int, width: int, known: dict[int, bool], osd_dump: str
) -> tuple[list[list[int]], float | None, int]:
    """The drives of each placement group of the pool that is whole, and the mean bytes of a piece."""
    inner = dump.whole.get("pg_map", dump.whole) if isinstance(dump.whole, Mapping) else dump.whole
    rows = dump.rows(inner, "", "pg_stats", MOST_PGS)
    groups, total, left_out = [], 0.0, 0
    seen: set[str] = set()
    for index, row in enumerate(rows):
        place = f"pg_stats[{index}]."
        name = dump.get(row, place, "pgid", str, "must be a placement group such as 1.2f")
        head = name.partition(".")[0]
        if not head.isdecimal() or len(head) > 18:
            raise dump.refused(f"{place}pgid", name, "must be a placement group such as 1.2f")
        if int(head) != pool:
            continue
        if name in seen:
            raise dump.refused(f"{place}pgid", name, "is listed twice")
        seen.add(name)
        acting = dump.rows(row, place, "acting", 64)
        for osd in acting:
            if not isinstance(osd, int) or isinstance(osd, bool) or (osd != NONE and osd not in known):
                raise dump.refused(f"{place}acting", acting, f"has an OSD that {osd_dump} does not list")
        if len(acting) != width or NONE in acting or len(set(acting)) != width:
            left_out += 1
            continue
        groups.append(acting)
        found = row.get("stat_sum")
        size = found.get("num_bytes", 0) if isinstance(found, Mapping) else 0
        if not isinstance(size, (int, float)) or isinstance(size, bool) or not 0 <= size <= MOST_PG_BYTES:
            raise dump.refused(f"{place}stat_sum.num_bytes", size, f"must be a number from 0 to {MOST_PG_BYTES:g}")
        total += size
    if not groups:
        raise dump.refused("pg_stats", len(rows), f"no placement group of pool {pool} has {width} pieces on drives")
    return groups, total / len(groups) or None, left_out


def _places(tree: _File, osds: list[int]) -> list[tuple[int, int, int]]:
    """Host, rack and datacenter of each OSD by their numbers; 0 for a rack or datacenter that there is not."""
    nodes = tree.rows(tree.whole, "", "nodes", 4 * MOST_OSDS)
    kinds: dict[int, str] = {}
    parents: dict[int, int] = {}
    for index, node in enumerate(nodes):
        place = f"nodes[{index}]."
        kind = tree.get(node, place, "type", str, "must be the type of a bucket")
        name = tree.get(node, place, "id", int, "must be the number of a bucket")
        if name in kinds:
            raise tree.refused(f"{place}id", name, "is the number of another bucket, too")
        kinds[name] = kind
        children = tree.rows(node, place, "children", MOST_OSDS) if "children" in node else []
        for child in children:
            if not isinstance(child, int) or isinstance(child, bool):
                raise tree.refused(f"{place}children", child, "must be numbers of buckets")
            if parents.setdefault(child, name) != name:
                raise tree.refused(f"{place}children", child, f"is a child of {parents[child]}, too")
    return [_place(tree, kinds, parents, osd) for osd in osds]


def _place(tree: _File, kinds: dict[int, str], parents: dict[int, int], osd: int) -> tuple[int, int, int]:
    """Host, rack and datacenter of one OSD, up from bucket to bucket."""
    found: dict[str, int] = {}
    at, climbed = parents.get(osd), 0
    while at is not None:
        found.setdefault(kinds[at], at)
        at, climbed = parents.get(at), climbed + 1
        if climbed > MOST_LEVELS:
            raise tree.refused("nodes", osd, f"an OSD is beneath more than {MOST_LEVELS} buckets")
    if "host" not in found:
        raise tree.refused("nodes", osd, "an OSD with data is in no host")
    return found["host"], found.get("rack", 0), found.get("datacenter", 0)
