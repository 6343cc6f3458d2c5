"""Figure 4: ECC and re-reads only."""

from __future__ import annotations

from itertools import pairwise

from outlast.report.figure import Figure as Chart
from outlast.reproduce.check import every, near, times
from outlast.reproduce.hrm.chart import bars
from outlast.reproduce.hrm.common import (
    ABLATION_SCALE,
    CHIPS,
    ECC,
    ONE_CODEWORD,
    PERFECT,
    TIE,
    TLC,
    VISIBLE,
    WITHIN,
    chip_state,
    kilo,
    perfect,
    tlc,
)
from outlast.reproduce.model import Cell, Figure, Found, Setting, Statement, Table


def scheme(bits: int) -> str:
    """A correction strength as a label."""
    return f"{bits}-bit ECC"


def cells(setting: Setting) -> list[Cell]:
    """Three chips in three states each under two strengths, and what is common to all: no errors at all."""
    found = [perfect(setting)]
    for chip, (_, states, strengths) in CHIPS.items():
        for cycles in states:
            for bits in strengths:
                labels = {"chip": chip, "state": kilo(cycles), "scheme": scheme(bits)}
                found.append(tlc(setting, "fig04.toml", labels, chip_state(chip, cycles, bits)))
    return [*found, *one_codeword(setting)]


def one_codeword(setting: Setting) -> list[Cell]:
    """An assumption checked: reads that decode one codeword instead of eight."""
    base = {"chip": f"{TLC}, one codeword a read", "state": "5K", "scheme": "∞-bit ECC"}
    file = [setting.scenarios / "fig04.toml"]
    found = [Cell(base, file, {ECC: None} | ONE_CODEWORD, least_scale=ABLATION_SCALE)]
    for bits in CHIPS[TLC][2]:
        labels = base | {"scheme": scheme(bits)}
        found.append(Cell(labels, file, {ECC: bits} | ONE_CODEWORD, base, ABLATION_SCALE))
    return found


def _slower(name: str, steps: list[tuple[str, float, float]]) -> tuple[Found, int]:
    """Of means in order, with the percent of first checks that fail: slower at each step, and how many steps are ties.

    A tie is allowed where next to nothing fails, as nothing can be seen there; elsewhere each must be slower.
    """
    ties, holds = 0, True
    for (_, before, _), (_, after, fails) in pairwise(steps):
        is_slower = after > before * (1 + TIE)
        is_tie = not is_slower and fails < VISIBLE and after >= before * (1 - TIE)
        ties += is_tie
        holds &= is_slower or is_tie
    return Found(holds, f"{name}: " + ", ".join(f"{label} {times(value)}" for label, value, _ in steps)), ties


def _in_order(series: list[tuple[str, list[tuple[str, float, float]]]]) -> Found:
    judged = [_slower(name, steps) for name, steps in series]
    steps, ties = sum(len(own) - 1 for _, own in series), sum(count for _, count in judged)
    found = every([part for part, _ in judged])
    return Found(found.holds and ties < steps, f"{ties} of {steps} steps are ties; {found.words}")


def _step(table: Table, chip: str, cycles: int, bits: int, label: str) -> tuple[str, float, float]:
    row = table.row(chip=chip, state=kilo(cycles), scheme=scheme(bits))
    return label, row["read_mean_ratio"], row["first_check_fails_percent"]


def _ordered_by_wear(table: Table) -> Found:
    series = []
    for chip, (_, states, strengths) in CHIPS.items():
        for bits in strengths:
            series.append((f"{chip}, {bits} bit", [_step(table, chip, c, bits, kilo(c)) for c in states]))
    return _in_order(series)


def _ordered_by_strength(table: Table) -> Found:
    series = []
    for chip, (_, states, strengths) in CHIPS.items():
        for cycles in states:
            steps = [_step(table, chip, cycles, bits, f"{bits} bit") for bits in strengths]
            series.append((f"{chip} {kilo(cycles)}", [("∞", 1.0, 0.0), *steps]))
    return _in_order(series)


def _ordered_by_chip(table: Table) -> Found:
    parts = []
    for which, words in ((0, "strong"), (1, "weak")):
        values = []
        for chip, (_, states, strengths) in CHIPS.items():
            labels = {"chip": chip, "state": kilo(states[-1]), "scheme": scheme(strengths[which])}
            values.append((chip, table.value("read_mean_ratio", **labels)))
        found = ", ".join(f"{chip} {times(value)}" for chip, value in values)
        parts.append(Found(max(values, key=lambda pair: pair[1])[0] == TLC, f"{words} ECC at the end of life: {found}"))
    return every(parts)


def _worst(table: Table) -> Found:
    chips = [row for row in table.rows if row["chip"] in CHIPS]
    row = max(chips, key=lambda row: row["read_mean_ratio"])
    where = f"{row['chip']}, {row['state']}, {row['scheme']}"
    return near(where, row["read_mean_ratio"], 3.2, WITHIN * 3.2, "×")


def _charts(table: Table) -> list[Chart]:
    return [
        bars(
            table,
            f"fig04-{CHIPS[chip][0]}",
            chip,
            "read_mean_ratio",
            "mean read response, × ∞-bit ECC",
            one=True,
            rows=table.where(chip=chip),
        )
        for chip in CHIPS
    ]


FIGURE = Figure(
    "fig04",
    "Figure 4: relying on the controller",
    "Mean read response with ECC and re-reads alone, beside a drive whose ECC corrects everything.",
    cells,
    {
        "read_mean_us": "mean read, µs",
        "read_mean_ratio": "× ∞-bit",
        "read_p99_9_us": "99.9 % read, µs",
        "rereads_per_read": "re-reads a read",
        "first_check_fails_percent": "first check fails, %",
    },
    _charts,
    [
        Statement(
            f"The more worn out, the slower (ties where less than {VISIBLE:.0f} % of first checks fail).",
            "4.1",
            _ordered_by_wear,
        ),
        Statement(
            "The weaker the ECC, the slower: ∞ before strong before weak (with the same ties).",
            "4.1",
            _ordered_by_strength,
        ),
        Statement("The 72-layer TLC degrades most, at its end of life.", "4.1, Figure 4", _ordered_by_chip),
        Statement(
            "Re-reads make reads up to 3.2 times slower when a weak ECC engine is used.",
            "4.5",
            _worst,
            "latencies are not in the paper: a re-read costs a sensing and a transfer here, and their share of a "
            "read without errors "
            "is an assumption",
        ),
    ],
    (
        "Latencies are assumed (60 µs read, 700 µs program, 3.5 ms erase, 667 MB/s).",
        "Weak ECC of the two MLC chips: 1 and 3 bits, a third of the strong one as on the 72-layer TLC; the text "
        "does not name them.",
        "A codeword holds 512 bytes, so that a read of 4 KiB succeeds when eight codewords do; the rows with "
        "one codeword a read show what "
        "that does (on an eighth of the drive).",
        "The coefficients of the 3x-nm MLC are recalled and agree with the figures as far as those can be read.",
    ),
)

__all__ = ["FIGURE", "PERFECT", "scheme"]
