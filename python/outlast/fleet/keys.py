"""Settings of a fleet file: names, kinds, ranges, defaults, meanings."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

SCOPES = ("node", "rack", "site")
"""Failure domains above a drive, from small to large."""


@dataclass(frozen=True)
class Key:
    """A setting."""

    kind: str
    """`whole`, `number`, `text`, `size` (bytes, or a text such as 32TB), `flag`, `list` (numbers), `file`."""
    default: Any
    """Value if absent."""
    meaning: str
    """Meaning, with its unit."""
    least: float = 0.0
    most: float = 1e15
    choices: tuple[str, ...] = ()
    when: tuple[str, ...] = ()
    """Conditions for it to have an effect: `code.kind=rs|lrc`, `drive.result` (not 0 or empty); `!` turns one round."""
    required: bool = False


TOP = {
    "name": Key("text", "fleet", "name in results"),
    "preset": Key("text", "", "preset of a field study, whose failures come first; see `outlast fleet --presets`"),
    "years": Key("whole", 5, "years of the study", 1, 100),
    "seed": Key("whole", 1, "seed of random draws", 0, 2**63 - 1),
}
TABLES: dict[str, dict[str, Key]] = {
    "cluster": {
        "sites": Key("whole", 1, "sites", 1, 10_000, when=("!placement.kind=ceph",)),
        "racks": Key("whole", 1, "racks of a site", 1, 100_000, when=("!placement.kind=ceph",)),
        "nodes": Key("whole", 1, "nodes of a rack", 1, 100_000, when=("!placement.kind=ceph",)),
        "drives": Key("whole", 12, "drives of a node", 1, 100_000, when=("!placement.kind=ceph",)),
    },
    "drive": {
        "capacity": Key("size", 10**13, "capacity of a drive in bytes", 1, 1e18),
        "used": Key("number", 0.7, "share of the capacity that holds data and parity", 1e-9, 1.0),
        "afr": Key(
            "number",
            0.01,
            "share of drives that fail within a year, at every age",
            0.0,
            0.999999,
            when=("!drive.weibull_shape", "!drive.afr_by_age"),
        ),
        "afr_by_age": Key(
            "list", [], "shares that fail within a year, by age from each of `ages` on", when=("!drive.weibull_shape",)
        ),
        "ages": Key(
            "list",
            [],
            "ages in years from which each of `afr_by_age` holds; the first is 0",
            when=("!drive.weibull_shape",),
        ),
        "weibull_shape": Key("number", 0.0, "shape of a Weibull distribution of lives instead; 0 for none", 0.0, 20.0),
        "weibull_scale": Key(
            "number", 0.0, "scale of the Weibull distribution in years", 0.0, 1e4, when=("drive.weibull_shape",)
        ),
        "age": Key("number", 0.0, "age of the drives at the start in years", 0.0, 100.0),
        "age_spread": Key("number", 0.0, "years over which ages are spread evenly, upwards from `age`", 0.0, 100.0),
        "frailty": Key(
            "number", 0.0, "variance of the factor that each batch has on its failures (gamma, mean 1)", 0.0, 25.0
        ),
        "batches": Key("whole", 20, "batches of drives", 1, 100_000, when=("drive.frailty",)),
        "die_share": Key("number", 0.0, "share of failures that are failures of one die", 0.0, 1.0),
        "dies": Key("whole", 128, "dies of a drive", 1, 100_000),
        "die_repair": Key("flag", False, "drives repair a failed die by themselves", when=("drive.die_share",)),
        "die_repair_hours": Key("number", 0.2, "hours of the repair of a die", 0.0, 1e5),
        "uber": Key("number", 0.0, "bits that cannot be read, per bit read in a rebuild", 0.0, 1e-3),
        "latent_per_year": Key("number", 0.0, "latent sector errors of a drive in a year", 0.0, 1e6),
        "scrub_days": Key(
            "number", 14.0, "days between scrubs, which find latent errors", 0.01, 1e5, when=("drive.latent_per_year",)
        ),
        "retire_years": Key(
            "number", 0.0, "age in years at which a drive is replaced before it fails; 0 for never", 0.0, 100.0
        ),
        "retire_wear": Key(
            "number",
            0.0,
            "the same by wear: share of `endurance`, with `result`; 0 for never, above 1 for late",
            0.0,
            10.0,
        ),
        "ages_apart": Key(
            "flag",
            False,
            "members of a group begin with ages spread over a life, as one replacement after the other brings",
        ),
        "parity_percent": Key(
            "list",
            [],
            "stripes in which each member has parity, the oldest first (Diff-RAID), with `ages_apart`; in per cent",
            when=("drive.retire_wear",),
        ),
        "result": Key("file", "", "result of `outlast run`, whose wear and error rates a drive has"),
        "endurance": Key(
            "number", 0.0, "P/E cycles after which wear-out begins, with `result`", 0.0, 1e7, when=("drive.result",)
        ),
        "dwpd": Key(
            "number",
            0.0,
            "capacities that the host writes a day, with `result`; 0: as much as in the run",
            0.0,
            1e4,
            when=("drive.result",),
        ),
        "sweep": Key(
            "file", "", "sweep of a drive over its P/E cycles, with `result`: `uber` is the mean over ages in the years"
        ),
        "wear_afr": Key(
            "number",
            0.3,
            "share of drives that fails within a year after `endurance` is used up",
            0.0,
            0.999999,
            when=("drive.endurance",),
        ),
    },
    "code": {
        "kind": Key("text", "rs", "code of a group", choices=("rs", "copies", "lrc", "product")),
        "data": Key("whole", 6, "pieces with data (rs, lrc)", 1, 64, when=("code.kind=rs|lrc",)),
        "parity": Key("whole", 3, "pieces with parity (rs)", 0, 63, when=("code.kind=rs",)),
        "copies": Key("whole", 3, "copies (copies)", 1, 64, when=("code.kind=copies",)),
        "local": Key("whole", 2, "local groups (lrc)", 1, 32, when=("code.kind=lrc",)),
        "global": Key("whole", 2, "global parities (lrc)", 0, 32, when=("code.kind=lrc",)),
        "rows": Key("whole", 4, "rows (product)", 1, 64, when=("code.kind=product",)),
        "columns": Key("whole", 5, "columns (product)", 1, 64, when=("code.kind=product",)),
        "row_parity": Key("whole", 1, "pieces that a row may miss (product)", 0, 63, when=("code.kind=product",)),
        "column_parity": Key("whole", 1, "pieces that a column may miss (product)", 0, 63, when=("code.kind=product",)),
    },
    "placement": {
        "kind": Key(
            "text",
            "declustered",
            "how groups are placed on drives",
            choices=("random", "copysets", "declustered", "aligned", "ceph"),
        ),
        "groups": Key("whole", 1000, "groups (random)", 1, 10_000_000, when=("placement.kind=random",)),
        "scatter": Key(
            "whole",
            10,
            "drives with which a drive shares data (copysets)",
            1,
            100_000,
            when=("placement.kind=copysets",),
        ),
        "pieces": Key("whole", 100, "pieces of a drive (declustered)", 1, 10_000, when=("placement.kind=declustered",)),
        "apart": Key(
            "text",
            "drive",
            "failure domain that holds at most one piece of a group",
            choices=("drive", *SCOPES),
            when=("!placement.kind=ceph",),
        ),
        "osd_dump": Key("file", "", "JSON of `ceph osd dump` (ceph)", when=("placement.kind=ceph",)),
        "pg_dump": Key("file", "", "JSON of `ceph pg dump` (ceph)", when=("placement.kind=ceph",)),
        "osd_tree": Key(
            "file",
            "",
            "JSON of `ceph osd tree`, for hosts and racks (ceph); absent: one node each",
            when=("placement.kind=ceph",),
        ),
        "pool": Key("text", "", "name of the pool (ceph); absent: the only one", when=("placement.kind=ceph",)),
    },
    "repair": {
        "detection_hours": Key("number", 0.25, "hours until a failure is noticed", 0.0, 1e5),
        "hours": Key("number", 0.0, "hours of the rebuild of a drive; 0: from the bandwidths", 0.0, 1e6),
        "drive_mb_s": Key(
            "number", 50.0, "bandwidth that rebuilds may take of a drive, in MB/s", 1e-3, 1e6, when=("!repair.hours",)
        ),
        "node_mb_s": Key(
            "number",
            0.0,
            "bandwidth of a node's network for rebuilds, in MB/s; 0 for no limit",
            0.0,
            1e9,
            when=("!repair.hours",),
        ),
        "rack_mb_s": Key(
            "number",
            0.0,
            "bandwidth of a rack's uplink for rebuilds, in MB/s; 0 for no limit",
            0.0,
            1e9,
            when=("!repair.hours",),
        ),
        "contention": Key(
            "flag", True, "rebuilds at one time share these bandwidths; not with `hours`", when=("!repair.hours",)
        ),
        "distribution": Key("text", "fixed", "repair times", choices=("fixed", "exponential")),
        "mode": Key(
            "text",
            "parallel",
            "all failed drives at once, or one at a time: of a group, or of the fleet if groups share drives",
            choices=("parallel", "serial"),
        ),
        "order": Key(
            "text",
            "",
            "which pieces come first; absent: exposure, or together if aligned",
            choices=("together", "turn", "exposure"),
        ),
        "threshold": Key("whole", 1, "missing pieces from which on a group is repaired: 1 eager, more lazy", 1, 64),
        "result": Key("file", "", "result of `outlast run` of an array with a rebuild, which gives `drive_mb_s`"),
        "sweep": Key(
            "file", "", "sweep of an array with a rebuild over loads, each equally often, which gives `drive_mb_s`"
        ),
    },
    "prices": {
        "currency": Key("text", "USD", "currency of the prices"),
        "drive": Key("number", 0.0, "price of a drive", 0.0, 1e9),
        "replacement": Key("number", 0.0, "price of the work for each replacement", 0.0, 1e9),
        "drive_year": Key("number", 0.0, "price of power and space of a drive for a year", 0.0, 1e9),
        "traffic_tb": Key("number", 0.0, "price of each TB that rebuilds move", 0.0, 1e9),
        "lost_tb": Key("number", 0.0, "price of each TB of data that is lost", 0.0, 1e15),
        "amortised_years": Key("number", 5.0, "years over which the price of a drive is spread", 0.1, 100.0),
    },
    "study": {
        "engine": Key(
            "text", "auto", "how losses are found", choices=("auto", "exact", "splitting", "biasing", "crude")
        ),
        "lives": Key(
            "whole", 0, "fleets that are simulated; 0: as many as take a million events, at least three", 0, 10**7
        ),
        "paths": Key("whole", 1000, "paths of a stage in the first round of a rare-event method", 10, 10**8),
        "relative_error": Key("number", 0.1, "half the interval of a rare-event method, over its mean", 1e-3, 1.0),
        "most_events": Key("number", 1e8, "events after which the search ends in any case", 1e3, 1e13),
        "elasticities": Key("flag", True, "whether to compute how losses depend on each setting"),
    },
}
LISTS: dict[str, dict[str, Key]] = {
    "bursts": {
        "scope": Key("text", "node", "failure domain that a burst hits", choices=SCOPES),
        "per_year": Key(
            "number", 0.0, "bursts of each node, rack or site a year; must be given", 0.0, 1e6, required=True
        ),
        "probability": Key(
            "number", 0.0, "probability that a drive in the domain fails; must be given", 0.0, 1.0, required=True
        ),
    },
    "contagion": {
        "scope": Key("text", "node", "failure domain in which another drive fails", choices=SCOPES),
        "probability": Key(
            "number", 0.0, "probability that a failure brings another one; must be given", 0.0, 0.999, required=True
        ),
        "window_hours": Key("number", 1.0, "hours within which the other failure comes", 0.0, 1e5),
    },
    "outages": {
        "scope": Key("text", "node", "failure domain that is out", choices=SCOPES),
        "per_year": Key(
            "number",
            0.0,
            "outages of each domain in a year, without loss of data; must be given",
            0.0,
            1e6,
            required=True,
        ),
        "hours": Key("number", 1.0, "hours of an outage", 0.0, 1e5),
    },
}
