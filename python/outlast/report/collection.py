"""Collection seen: a map of the superblocks at moments of a run, played in the page without a server."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import numpy as np

from outlast.report.numbers import counted, short, text
from outlast.report.page import Section, asset

LETTERS = {"retired": "r", "free": "f", "sealed": "s", "open": "o", "victim": "v"}
"""Letter of each state in the page; large for a cell in SLC mode."""
WORDS = {"s": "full", "o": "open", "v": "victim of collection", "f": "free", "r": "given up"}
"""Words for the legend and for what is read aloud."""


def section(table: Mapping[str, Any]) -> Section:
    """The map of the superblocks over time; empty without `run.utilisation`."""
    shown = Section("collection", "Collection", columns="one")
    if not table or not len(table["at_s"]):
        return shown
    drives = _drives(table)
    shown.finding = (
        "Each cell is a superblock, filled by the share of its units that is valid, or several where there are many. "
        "A victim is emptied and erased; then it is free."
    )
    return shown.add(_card(drives, f"{len(drives[0]['at'])} moments of the run"))


def _drives(table: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Each drive with its moments: times, and for each a text of states and one of shares, two digits to a cell."""
    at, cells = np.asarray(table["at_s"]), np.asarray(table["cell"])
    devices = np.asarray(table["device"]) if "device" in table else np.zeros(len(at), dtype=int)
    shares = np.rint(100 * np.asarray(table["valid"], dtype=float)).astype(int)
    pairs = zip(table["state"], table["slc"], strict=True)
    letters = np.array([LETTERS[state].upper() if slc else LETTERS[state] for state, slc in pairs])
    found = []
    for device in np.unique(devices):
        own = devices == device
        # A new moment begins where cells begin again.
        starts = np.flatnonzero(cells[own] == 0)
        drive: dict[str, Any] = {
            "at": [round(float(value), 6) for value in at[own][starts]],
            "each": int(np.asarray(table["superblocks"])[own][0]),
            "states": ["".join(part) for part in np.split(letters[own], starts[1:])],
            "valid": ["".join(f"{share:02x}" for share in part) for part in np.split(shares[own], starts[1:])],
        }
        found.append(drive | ({"device": int(device)} if "device" in table else {}))
    return found


def described(states: str, valid: str, each: int) -> str:
    """One moment in words, as the page's script says it of every other."""
    kinds = [letter.lower() for letter in states]
    counts = {letter: kinds.count(letter) for letter in WORDS}
    full = [share for kind, share in zip(kinds, bytes.fromhex(valid), strict=True) if kind == "s"]
    mean = f", on average {round(sum(full) / len(full))} % valid" if full else ""
    parts = [f"{short(counts['s'])} full{mean}", f"{short(counts['o'])} open", f"{short(counts['v'])} victims"]
    parts += [f"{short(counts['f'])} free", *([f"{short(counts['r'])} given up"] if counts["r"] else [])]
    slc = sum(letter.isupper() for letter in states)
    parts += [f"{short(slc)} in SLC mode"] if slc else []
    return f"{counted(len(states), 'cell')} of {counted(each, 'superblock')}: {', '.join(parts)}"


def _card(drives: list[dict[str, Any]], hint: str) -> str:
    maps = []
    for drive in drives:
        words = described(drive["states"][-1], drive["valid"][-1], drive["each"])
        cells = "".join(
            _cell(*cell) for cell in zip(drive["states"][-1], bytes.fromhex(drive["valid"][-1]), strict=True)
        )
        title = f"Drive {drive['device']}: " if "device" in drive else ""
        maps.append(
            f'<p class="note">{title}<span class="said">{text(words)}</span></p>'
            f'<div class="sbmap" role="img" aria-label="{text(title + words)}">{cells}</div>'
        )
    ends = [drive["at"] for drive in drives]
    longest = max(range(len(ends)), key=lambda index: len(ends[index]))
    last = len(ends[longest]) - 1
    legend = "".join(f"<span>{_cell(letter, 60)} {word}</span>" for letter, word in WORDS.items())
    if any(letter.isupper() for drive in drives for states in drive["states"] for letter in states):
        legend += f"<span>{_cell('S', 20)} in SLC mode</span>"
    data = json.dumps(drives, separators=(",", ":")).replace("<", "\\u003c")
    return (
        f'<div class="card collection"><h3>Map of superblocks <span class="hint">{hint}</span></h3>'
        '<p class="play"><button type="button" aria-pressed="false">Play</button>'
        f'<input type="range" min="0" max="{last}" value="{last}" step="1" aria-label="moment of the run">'
        f"<output>{ends[longest][-1]:g} s</output></p>{''.join(maps)}"
        f'<p class="sblegend">{legend}</p><script type="application/json">{data}</script>'
        f"<script>\n{asset('collection.js')}</script></div>"
    )


def _cell(letter: str, valid: int) -> str:
    share = 0 if letter.lower() in "fr" else valid
    slc = " data-slc" if letter.isupper() else ""
    return f'<i data-state="{letter.lower()}"{slc} style="--valid:{share}%"></i>'
