"""Puts the mechanisms that were tried on the two fitted drives into drives.md, with what each gives.

python docs/make_drives_map.py          # a quarter of an hour of CPU
python docs/make_drives_map.py p5520 --jobs 2   # one drive

A mechanism is a set of changes of the drive without its fitted one, on a part of the drive and at few loads.
"""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from copy import deepcopy
from pathlib import Path
from typing import Any

from outlast import api
from outlast.products.reproduce.drives import common, latency, load, measured

PAGE = Path(__file__).parent / "drives.md"
SCENARIOS = Path(__file__).parents[1] / "scenarios" / "drives"
BEGIN, END = "<!-- tried {key}: made by docs/make_drives_map.py -->", "<!-- end of tried {key} -->"
SHARES, RAMPS, RUNTIMES = {"7450": 8, "p5520": 16}, {"7450": "1s", "p5520": "2s"}, {"7450": "8s", "p5520": "6s"}
BEYOND = 200_000
"""A load that saturates: its rate is the maximum."""

GC, CONTROLLER = "device.ftl.gc", "device.controller"
OWN = {"7450": (f"{GC}.pacing", f"{GC}.stop_free", f"{GC}.token"), "p5520": (f"{CONTROLLER}.pauses",)}
"""The fitted mechanism of each drive, which is taken out first."""
MARKS = {f"{GC}.pacing": "burst", f"{GC}.stop_free": 5}
TOKENS = {f"{GC}.pacing": "token", f"{GC}.stop_free": 5}

Changes = Mapping[str, Any]
BOTH: dict[str, Changes] = {
    "none": {},
    "a buffer of two superpages": {f"{CONTROLLER}.write_buffer": "two superpages"},
    "internal operations on half of the dies at once": {f"{CONTROLLER}.internal_operations": "half of the dies"},
    "a flush of the map for each 256 MiB": {"device.ftl.map_flush.written": "256MiB"},
    "the host runs on, and waits for whole victims": {f"{GC}.pacing": "none"},
    "bands of free blocks (start 2, stop 5)": MARKS,
    "tokens by window, with bands": TOKENS,
    "tokens by window, 64 KiB ahead": {f"{GC}.pacing": "token", f"{GC}.token": {"factor": 4.0, "depth": "64KiB"}},
    "no suspension while writes wait": {"device.timing.suspend.while_writes_wait": False},
    "resuming a program takes 700 us": {"device.timing.suspend.resume": "700us"},
}
"""Mechanisms that are tried on each of the two drives, by what they are called in the table."""


def fitted(drive: common.Drive) -> dict[str, Changes]:
    """The mechanisms of both presets, tried on this one as they stand there."""
    own = {key: api.resolve(str(SCENARIOS / f"{key}.toml")) for key in OWN}
    gc, controller = own["7450"]["device"]["ftl"]["gc"], own["p5520"]["device"]["controller"]
    burst = {f"{GC}.{name}": gc[name] for name in ("pacing", "stop_free", "token")}
    pauses = {f"{CONTROLLER}.pauses": controller["pauses"]}
    mark = {key: " (the preset)" if drive.key == key else "" for key in OWN}
    return {f"tokens by burst{mark['7450']}": burst, f"pauses{mark['p5520']}": pauses}


def bare(drive: common.Drive) -> dict[str, Any]:
    """The preset of a drive without its fitted mechanism."""
    whole = deepcopy(api.resolve(str(SCENARIOS / f"{drive.key}.toml")))
    for name in OWN[drive.key]:
        table: Any = whole
        *path, last = name.split(".")
        for part in path:
            table = table[part]
        del table[last]
    return whole


def changes_of(whole: Mapping[str, Any], changes: Changes) -> dict[str, Any]:
    """Changes with the words for sizes of the drive filled in."""
    shape = whole["device"]["geometry"]
    dies = shape["channels"] * shape["chips_per_channel"] * shape["dies_per_chip"]
    pages = dies * shape["planes_per_die"] * whole["device"]["ftl"]["one_shot"]
    words = {"two superpages": f"{2 * pages * 16}KiB", "half of the dies": dies // 2}
    return {name: words.get(value, value) if isinstance(value, str) else value for name, value in changes.items()}


def line(drive: common.Drive, name: str, changes: Changes) -> str:
    """One row of the table: the mechanism, and what it gives."""
    whole, loads = bare(drive), latency.judged(drive)
    rates = sorted({own["rate"] for own in loads.values()} | {BEYOND}, reverse=True)
    job = {"workload.fio.job": load.job(rates, RAMPS[drive.key], RUNTIMES[drive.key])}
    smaller = common.smaller(whole, SHARES[drive.key])
    jobs = api.run([whole], smaller | changes_of(whole, changes) | job).summary["host"]["jobs"]
    cells = []
    for own in loads.values():
        (mine,) = (each for each in jobs if each["name"] == f"{load.MEASURED}-{own['rate']}")
        write, read = mine["write"]["latency_us"], mine["read"]["latency_us"]
        times = (write["p50"], write["p99"], read["p99"])
        cells.append(" / ".join(f"{time + latency.HOST_US:.0f}" for time in times))
    most = sum(each["write"]["iops"] for each in jobs if each["name"].endswith(f"-{BEYOND}")) / 1000
    row = f"| {name} | {' | '.join(cells)} | {most:.0f} k |"
    print(row, flush=True)
    return row


def table(drive: common.Drive, jobs: int) -> str:
    """What each mechanism gives on one drive."""
    tried = BOTH | fitted(drive)
    loads = latency.judged(drive)
    shares = " | ".join(f"{100 * share:.0f} %" for share in loads)
    cells = [f"{own['w50']:.0f} / {own['w99']:.0f} / {own['r99']:.0f}" for own in loads.values()]
    with ThreadPoolExecutor(jobs) as pool:
        rows = list(pool.map(lambda name: line(drive, name, tried[name]), tried))
    return "\n".join(
        [
            f"**{drive.name}**",
            "",
            f"| mechanism | {shares} | most |",
            f"|---|{'---|' * (len(loads) + 1)}",
            f"| *measured* | {' | '.join(cells)} | {measured.most(drive.name) / 1000:.0f} k |",
            *rows,
        ]
    )


def main() -> None:
    """Writes the tables into the page."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("drives", nargs="*", choices=[*OWN, []], help="7450, p5520 or both")
    asked = parser.parse_args()
    for drive in common.DRIVES:
        if drive.key not in (asked.drives or OWN):
            continue
        made = table(drive, asked.jobs)
        begin, end = BEGIN.format(key=drive.key), END.format(key=drive.key)
        before, _, rest = PAGE.read_text(encoding="utf-8").partition(begin)
        _, _, after = rest.partition(end)
        PAGE.write_text(f"{before}{begin}\n{made}\n{end}{after}", encoding="utf-8")


if __name__ == "__main__":
    main()
