"""Plans of fleets from settings: where drives are, how they fail, how long repairs take."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from outlast import _core
from outlast.errors import ScenarioError
from outlast.fleet import ceph, drives
from outlast.fleet.keys import SCOPES
from outlast.fleet.layout import YEAR_HOURS, Layout
from outlast.fleet.reading import Settings
from outlast.fleet.rebuilds import check_at_once, read_failure_of, rebuild_hours

LEAST_FRAILTY = 1e-9
"""Variance below which all batches are alike."""
SAMPLES = 200_000
"""Samples of the distribution of frailty whose parts give the factors of batches."""
LEAST_REPAIR_HOURS = 1e-6
"""Least hours of detection and rebuild: in a hundred years, moments are a ten-thousandth of that apart."""
MOST_DRIVES = 4_000_000
MOST_PIECES = 64_000_000


@dataclass(frozen=True)
class Planned:
    """A fleet, and what results need to know of it."""

    settings: Settings
    layout: Layout
    plan: _core.FleetPlan
    code: dict[str, Any]
    hazard: tuple[list[float], list[float]]
    """Ages in hours, and failures per hour from each on."""
    rebuild_hours: float
    piece_bytes: float
    data_pieces: int
    """Pieces whose bytes are the user's."""
    read_pieces: float
    """Pieces that the rebuild of one reads, in the mean over the pieces of a group."""
    read_failure: float
    mean_frailty: float
    sharing: dict[str, Any] | None
    """Bandwidth that rebuilds at one time share; None if each is as fast as alone."""


def code_of(settings: Settings) -> tuple[dict[str, Any], int, int, float, int]:
    """The code for the core; pieces of a group, those with data, those a rebuild reads, how many may be missing."""
    said = settings["code"]
    kind = said["kind"]
    if kind == "copies":
        copies = said["copies"]
        return {"kind": "mds", "data": 1, "parity": copies - 1}, copies, 1, 1.0, copies - 1
    if kind == "rs":
        data, parity = said["data"], said["parity"]
        found = ({"kind": "mds", "data": data, "parity": parity}, data + parity, data, float(data), parity)
    elif kind == "lrc":
        data, local, parities = said["data"], said["local"], said["global"]
        if data % local:
            raise settings.refused("code.local", local, f"must divide data = {data}")
        code = {"kind": "lrc", "data": data, "local": local, "global": parities}
        width = data + local + parities
        # A global parity is made of all data, any other piece of those in its local group.
        read = ((data + local) * data / local + parities * data) / width
        found = (code, width, data, read, parities + 1)
    else:
        rows, columns, row, column = (said[key] for key in ("rows", "columns", "row_parity", "column_parity"))
        if row >= columns or column >= rows:
            raise settings.refused("code.row_parity", row, "must be below columns, and column_parity below rows")
        code = {"kind": "product", "rows": rows, "columns": columns, "row_parity": row, "column_parity": column}
        kept = float(columns - row)
        found = (code, rows * columns, (rows - column) * (columns - row), kept, (row + 1) * (column + 1) - 1)
    if found[1] > 64:
        raise settings.refused("code.kind", kind, f"a group has {found[1]} pieces: at most 64")
    return found


def layout_of(settings: Settings, width: int) -> Layout:
    """Drives in nodes, racks and sites, and the drives of each group."""
    said = settings["placement"]
    if said["kind"] == "ceph":
        return _of_ceph(settings, width, code_of(settings)[2])
    cluster = settings["cluster"]
    racks = cluster["sites"] * cluster["racks"]
    nodes = racks * cluster["nodes"]
    drives = nodes * cluster["drives"]
    if drives > MOST_DRIVES:
        raise settings.refused("cluster.drives", cluster["drives"], f"makes {drives} drives: at most {MOST_DRIVES}")
    node = np.repeat(np.arange(nodes), cluster["drives"])
    rack = np.repeat(np.arange(racks), cluster["nodes"])
    site = np.repeat(np.arange(cluster["sites"]), cluster["racks"])
    if said["kind"] == "random":
        choice, pieces = {"kind": "random", "groups": said["groups"]}, said["groups"] * width
    else:
        # Copysets: each permutation brings width − 1 other drives (Cidon et al., section 3).
        many = {"aligned": 1, "declustered": said["pieces"], "copysets": -(-said["scatter"] // max(width - 1, 1))}
        choice = {"kind": "permutations", "count": many[said["kind"]]}
        pieces = drives * many[said["kind"]]
    if pieces > MOST_PIECES:
        raise settings.refused("placement.kind", said["kind"], f"makes {pieces} pieces: at most {MOST_PIECES}")
    domain = {"drive": np.arange(drives), "node": node, "rack": rack[node], "site": site[rack[node]]}[said["apart"]]
    apart = None if said["apart"] == "drive" else said["apart"]
    try:
        groups = _core.fleet_place(
            json.dumps({"choice": choice, "apart": apart}), domain.tolist(), width, settings["seed"]
        )
    except ScenarioError as error:
        raise settings.refused("placement.apart", said["apart"], str(error)) from error
    if groups.size == 0:
        raise settings.refused("placement.kind", said["kind"], f"no group of {width} pieces fits {drives} drives")
    return Layout(node.tolist(), rack.tolist(), site.tolist(), groups, width, None)


def _of_ceph(settings: Settings, width: int, data: int) -> Layout:
    said = settings["placement"]
    for key in ("osd_dump", "pg_dump"):
        if not said[key]:
            raise settings.refused(f"placement.{key}", said[key], "must name a file with placement.kind = ceph")
    tree = settings.path("placement", "osd_tree") if said["osd_tree"] else None
    osd_dump, pg_dump = (settings.path("placement", key) for key in ("osd_dump", "pg_dump"))
    found = ceph.read(osd_dump, pg_dump, tree, said["pool"], width, data)
    return Layout(found.node, found.rack, found.site, found.groups, width, found.piece_bytes)


def planned(settings: Settings, layout: Layout | None = None) -> Planned:
    """The fleet of the settings, on a layout that they have made before, if given.

    Raises `ScenarioError` for settings that do not fit each other.
    """
    settings = drives.with_results(settings)
    code, width, data_pieces, read_pieces, survives = code_of(settings)
    layout = layout or layout_of(settings, width)
    said, repair = settings["drive"], settings["repair"]
    if repair["threshold"] > max(survives, 1):
        raise settings.refused(
            "repair.threshold",
            repair["threshold"],
            f"must be at most {max(survives, 1)}, the failures that the code survives",
        )
    hazard = drives.hazard_of(settings)
    piece_bytes = layout.piece_bytes or said["capacity"] * said["used"] / layout.pieces_of_drive
    hours, sharing = rebuild_hours(settings, layout, piece_bytes, read_pieces)
    if hours + repair["detection_hours"] < LEAST_REPAIR_HOURS:
        place = "hours" if repair["hours"] else "drive_mb_s"
        limit = f"makes a repair last {hours:.3g} h: at least {LEAST_REPAIR_HOURS:g}, detection_hours included"
        raise settings.refused(f"repair.{place}", repair[place], limit)
    read_failure = read_failure_of(settings, piece_bytes, read_pieces)
    frailty, batch = _batches(settings, layout.drives)
    if sharing is not None:
        check_at_once(settings, layout.drives, hazard, hours, sharing["parts"])
    plan = _plan(settings, code, hazard, frailty, hours, read_failure)
    plan["repair"]["sharing"] = sharing
    if said["ages_apart"]:
        age = _ages_apart(settings, layout)
    elif said["age_spread"]:
        # Evenly, in an order that has nothing to do with places.
        spread = np.random.default_rng(settings["seed"]).permutation(layout.drives) / layout.drives
        age = ((said["age"] + spread * said["age_spread"]) * YEAR_HOURS).tolist()
    else:
        age = [said["age"] * YEAR_HOURS]
    try:
        core = _core.FleetPlan(
            json.dumps(plan), layout.node, layout.rack, layout.site, np.ascontiguousarray(layout.groups), age, batch
        )
    except ScenarioError as error:
        raise ScenarioError(f"{settings.source}: {error}") from error
    return Planned(
        settings,
        layout,
        core,
        code,
        hazard,
        hours,
        piece_bytes,
        data_pieces,
        read_pieces,
        read_failure,
        float(np.mean(frailty)),
        sharing,
    )


def _ages_apart(settings: Settings, layout: Layout) -> list[float]:
    """Ages in hours of members of a group, spread evenly over the life of a drive that is replaced for its age."""
    said = settings["drive"]
    if settings["placement"]["kind"] != "aligned" or not said["retire_years"] or said["age_spread"] or said["age"]:
        limit = "needs placement.kind = aligned and drive.retire_years or retire_wear, without age and age_spread"
        raise settings.refused("drive.ages_apart", said["ages_apart"], limit)
    age = np.zeros(layout.drives)
    # Which member is the oldest differs from group to group.
    place = (np.arange(layout.groups.size) + np.arange(layout.groups.size) // layout.width) % layout.width
    age[layout.groups] = place * said["retire_years"] / layout.width * YEAR_HOURS
    return [float(each) for each in age]


def _plan(
    settings: Settings,
    code: dict[str, Any],
    hazard: tuple[list[float], list[float]],
    frailty: list[float],
    hours: float,
    read_failure: float,
) -> dict[str, Any]:
    """The plan as the core reads it, without where drives and pieces are."""
    said, repair = settings["drive"], settings["repair"]
    order = repair["order"] or ("together" if settings["placement"]["kind"] == "aligned" else "exposure")
    return {
        "code": code,
        "hazard": {"from": hazard[0], "rate": hazard[1]},
        "frailty": frailty,
        "die_share": said["die_share"],
        "die_repair": said["die_repair_hours"] if said["die_repair"] else None,
        "contagion": [
            {"scope": one["scope"], "probability": one["probability"], "window": one["window_hours"]}
            for one in settings["contagion"]
            if one["probability"]
        ],
        "bursts": [
            {"scope": one["scope"], "rate": one["per_year"] / YEAR_HOURS, "probability": one["probability"]}
            for one in settings["bursts"]
            if one["per_year"] and one["probability"]
        ],
        "repair": {
            "detection": repair["detection_hours"],
            "rebuild": hours,
            "distribution": repair["distribution"],
            "parallel": repair["mode"] == "parallel",
            "order": order,
            "threshold": repair["threshold"],
            "pieces_of_drive": 0,
            "shared": 0.0,
        },
        "read_failure": read_failure,
        "retire_at": said["retire_years"] * YEAR_HOURS or None,
    }


def _batches(settings: Settings, drives: int) -> tuple[list[float], list[int]]:
    """Factor of each batch, and the batch of each drive: batches fill node by node.

    Factors are not drawn: the mean of twenty that are would differ from 1 by a quarter, and losses by its fourth power.
    They are means of equal parts of the distribution, given to batches by chance.
    """
    said = settings["drive"]
    count = min(said["batches"], drives)
    if said["frailty"] < LEAST_FRAILTY or count == 1:
        return [1.0], [0]
    each = max(SAMPLES // count, 1)
    samples = np.sort(np.random.default_rng(0).gamma(1.0 / said["frailty"], said["frailty"], count * each))
    parts = samples.reshape(count, each).mean(axis=1)
    factors = np.random.default_rng([settings["seed"], 1]).permutation(_spread(parts, said["frailty"]))
    return factors.tolist(), (np.arange(drives) * count // drives).tolist()


def _spread(parts: NDArray[np.float64], variance: float) -> NDArray[np.float64]:
    """Factors with the mean 1 and a variance, or as much of it as so few can have, by a power of those of the parts."""
    low, high = 0.5, 20.0
    for _ in range(60):
        middle = (low + high) / 2.0
        found = parts**middle
        found = found / found.mean()
        low, high = (middle, high) if found.var() < variance else (low, middle)
    return found


def scope_sizes(layout: Layout) -> dict[str, int]:
    """Nodes, racks and sites that have drives."""
    racks = {layout.rack[node] for node in set(layout.node)}
    return dict(
        zip(SCOPES, (len(set(layout.node)), len(racks), len({layout.site[rack] for rack in racks})), strict=True)
    )
