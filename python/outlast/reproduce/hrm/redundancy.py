"""Figures 6 and 7: redundancy inside the drive."""

from __future__ import annotations

from outlast import models
from outlast.report.figure import Figure as Chart
from outlast.reproduce.check import every, near, rising, times
from outlast.reproduce.hrm.chart import bars, stacked
from outlast.reproduce.hrm.common import CHIPS, CYCLES, PROTECTION, RETRIES, TLC, kilo, perfect, tlc
from outlast.reproduce.model import Cell, Figure, Found, Setting, Statement, Table

STATES = CHIPS[TLC][1]
NONE = "re-reads only"
STRIPES = {"s = 15": 15, "s = 7": 7}
SPARE = 0.28
"""Of the drive without redundancy: 256 GiB for 200."""
RETRY_LABEL = {1: "1 re-read", 3: "3 re-reads"}


def _cells(retries: int) -> list[tuple[str, int, int]]:
    return [(label, data, retries) for label, data in STRIPES.items()]


def cells_of(*retries: int, setting: Setting) -> list[Cell]:
    """Cells without a stripe and with either, for so many re-reads."""
    found = [perfect(setting)]
    for cycles in STATES:
        labels = {"chip": TLC, "state": kilo(cycles), "scheme": NONE, "retries": "unlimited"}
        found.append(tlc(setting, "fig04.toml", labels, {CYCLES: cycles}))
        for count in retries:
            for label, data, limit in _cells(count):
                labels = {"chip": TLC, "state": kilo(cycles), "scheme": label, "retries": RETRY_LABEL[limit]}
                changes = {CYCLES: cycles, f"{PROTECTION}.data": data, RETRIES: limit}
                found.append(tlc(setting, "fig06.toml", labels, changes))
    return found


def _value(table: Table, figure: str, cycles: int, scheme: str, retries: int) -> float:
    limit = "unlimited" if scheme == NONE else RETRY_LABEL[retries]
    return table.value(figure, state=kilo(cycles), scheme=scheme, retries=limit)


def _amplification(retries: int, table: Table) -> Found:
    parts = []
    for cycles in STATES:
        values = [(s, _value(table, "write_amplification", cycles, s, retries)) for s in (NONE, *STRIPES)]
        parts.append(rising(kilo(cycles), values, unit="", slack=-0.02))
    return every(parts)


def _spare(retries: int, table: Table) -> Found:
    expected = {NONE: 28.0, "s = 15": 20.0, "s = 7": 12.0}
    # The drive counts superblocks that are open or kept free as used: three at most, 3 points where there are 128.
    superblocks = table.where(state=kilo(STATES[-1]))[0]["superblocks"]
    within = 0.2 + 100 * 1.28 * 3 / superblocks
    return every(
        [
            near(s, _value(table, "spare_percent", STATES[-1], s, retries), e, within, " %", spare_percent(s))
            for s, e in expected.items()
        ]
    )


def spare_percent(scheme: str) -> float:
    """Over-provisioning by the drive's size and its stripes alone."""
    data = STRIPES.get(scheme)
    return 100 * float(models.effective_spare(SPARE, overhead=(data + 1) / data if data else 1.0))


def _slower_when_worn(table: Table) -> Found:
    parts = []
    for scheme in STRIPES:
        values = [(kilo(c), _value(table, "read_p99_9_ratio", c, scheme, 1)) for c in STATES]
        parts.append(rising(f"99.9 %, {scheme}", values))
    return every(parts)


def _slower_than_rereads(table: Table) -> Found:
    parts = []
    for figure, words in (("read_mean_ratio", "mean"), ("read_p99_9_ratio", "99.9 %")):
        values = [(s, _value(table, figure, STATES[-1], s, 1)) for s in (NONE, "s = 7", "s = 15")]
        parts.append(rising(f"{words} at 5K", values))
    return every(parts)


def _recoveries_fail(retries: int, table: Table) -> Found:
    counts = {s: int(_value(table, "stripe_failures", STATES[-1], s, retries)) for s in STRIPES}
    return Found(all(counts.values()), ", ".join(f"{s}: {count} rebuilds fail at 5K" for s, count in counts.items()))


def _fails_by_stripe(table: Table) -> Found:
    fresh = {s: _value(table, "stripe_fails_exact_percent", STATES[0], s, 1) for s in STRIPES}
    worn = {s: _value(table, "stripe_fails_percent", STATES[-1], s, 1) for s in STRIPES}
    holds = fresh["s = 15"] > fresh["s = 7"] and worn["s = 7"] > 0.5 * worn["s = 15"]
    words = [f"1K {s} {value:.2g} % (exact)" for s, value in fresh.items()]
    return Found(holds, ", ".join(words + [f"5K {s} {value:.0f} %" for s, value in worn.items()]))


def _no_slower(table: Table) -> Found:
    parts = []
    for cycles in STATES:
        base = _value(table, "read_mean_us", cycles, NONE, 3)
        for scheme in STRIPES:
            ratio = _value(table, "read_mean_us", cycles, scheme, 3) / base
            # Negligible: what one would not see in a bar chart.
            parts.append(Found(ratio < 1.05, f"{kilo(cycles)} {scheme} {times(ratio)} of re-reads only"))
    return every(parts)


def _tail_by_stripe(table: Table) -> Found:
    values = [(s, _value(table, "read_p99_9_ratio", STATES[-1], s, 3)) for s in STRIPES]
    apart = abs(values[0][1] - values[1][1]) / min(value for _, value in values)
    return Found(apart > 0.02, ", ".join(f"{s} {times(value)}" for s, value in values))


def _same_amplification(table: Table) -> Found:
    parts = []
    for cycles in STATES:
        for scheme in STRIPES:
            one, three = (_value(table, "write_amplification", cycles, scheme, count) for count in (1, 3))
            parts.append(Found(abs(three / one - 1) < 0.05, f"{kilo(cycles)} {scheme}: {one:.2f} and {three:.2f}"))
    return every(parts)


def _recovers_when_young(table: Table) -> Found:
    counts = {f"{kilo(c)} {s}": int(_value(table, "stripe_failures", c, s, 3)) for c in STATES[:2] for s in STRIPES}
    return Found(not any(counts.values()), ", ".join(f"{label}: {count} fail" for label, count in counts.items()))


def _why_all_recover(table: Table) -> str:
    uber = max(_value(table, "log10_uber", STATES[-1], s, 3) for s in STRIPES)
    rber = max(_value(table, "rber_max", STATES[-1], s, 3) for s in STRIPES)
    return (
        "each re-read halves the error rate, so three leave an eighth: to fail after them a page must have an "
        "error rate of some 0.15, "
        f"600 wrong bits of 4096, which takes some 5,000 reads of its block. The worst met here is {rber:.3f}, and the "
        "exact UBER at most "
        f"10^{uber:.0f}. The paper must have had blocks that were read far more often, or codewords that fail sooner"
    )


def _charts(name: str, retries: int, table: Table) -> list[Chart]:
    rows = [row for row in table.rows if row.get("retries") in ("unlimited", RETRY_LABEL[retries])]
    unit = "× ∞-bit ECC"
    failing = [row for row in rows if row["scheme"] != NONE]
    return [
        bars(table, f"{name}-mean", "Mean read response", "read_mean_ratio", unit, one=True, rows=rows),
        bars(table, f"{name}-tail", "Read response, three nines", "read_p99_9_ratio", unit, one=True, rows=rows),
        stacked(f"{name}-wa", "Write amplification", rows),
        bars(table, f"{name}-failures", "Rebuilds that fail", "stripe_fails_percent", "% of attempts", rows=failing),
    ]


COLUMNS = {
    "read_mean_ratio": "mean, × ∞-bit",
    "read_p99_9_ratio": "99.9 %, × ∞-bit",
    "rereads_per_read": "re-reads a read",
    "write_amplification": "write amplification",
    "spare_percent": "over-provisioning, %",
    "stripe_attempts": "rebuilds",
    "stripe_failures": "of these failed",
    "stripe_fails_exact_percent": "exact, %",
    "uncorrectable_reads": "uncorrectable reads",
    "log10_uber": "log10 UBER",
}
GROWS = Statement(
    "Redundancy increases write amplification, the short stripe more than the long one.",
    "4.2, Figures 6c and 7c",
    lambda table: _amplification(1 if table.has(retries=RETRY_LABEL[1]) else 3, table),
)
ASSUMPTIONS = (
    "A stripe is formed of the pages of a superpage in the order in which they are written; s = 15 is one parity "
    "for 16 dies.",
    "Superblocks that are open or kept free do not count as over-provisioning, which is felt on a smaller drive.",
    "Recovery reads wait in the same queues as host reads, without priority.",
    "The exact share is the probability that the stripe fails too, given that re-reads have; it is a number where "
    "nothing was counted.",
)

FIG06 = Figure(
    "fig06",
    "Figure 6: redundancy after one re-read",
    "One parity for every s pages on 72-layer TLC with 75-bit ECC; the stripe is asked when one re-read has not "
    "helped.",
    lambda setting: cells_of(1, setting=setting),
    COLUMNS,
    lambda table: _charts("fig06", 1, table),
    [
        GROWS,
        Statement(
            "Effective over-provisioning is 28 % without redundancy, 20 % with s = 15 and 12 % with s = 7.",
            "4.2",
            lambda table: _spare(1, table),
        ),
        Statement("The long tail is worse the more worn the drive is.", "4.2, Figure 6b", _slower_when_worn),
        Statement(
            "Rebuilding degrades performance, and a longer stripe (more pages accessed) more so.",
            "4.2, Figures 6a and 6b",
            _slower_than_rereads,
            "rebuilds are rare here: a re-read leaves some 34 wrong bits of 75 that can be corrected, so that "
            "only blocks that have been "
            "read most fail again; what is left is collection, which the short stripe makes busier, and it wins "
            "over the length of the "
            "stripe",
        ),
        Statement(
            "Redundancy does not guarantee recovery: other pages of the stripe can be uncorrectable too.",
            "4.2, Figure 6d",
            lambda table: _recoveries_fail(1, table),
        ),
        Statement(
            "Failures of rebuilding are more frequent with s = 15 at 1K; at high wear those of s = 7 are as high.",
            "4.2, Figure 6d",
            _fails_by_stripe,
            "at 1K re-reads and ECC correct practically everything, so that the paper's failures there are not "
            "found by counting; the "
            "exact probabilities, taken over all reads, are those of the few most disturbed blocks",
        ),
    ],
    ASSUMPTIONS,
)

FIG07 = Figure(
    "fig07",
    "Figure 7: redundancy after three re-reads",
    "As Figure 6, with three re-reads before the stripe is asked.",
    lambda setting: cells_of(1, 3, setting=setting),
    COLUMNS,
    lambda table: _charts("fig07", 3, table),
    [
        Statement(
            "Mean performance differs negligibly from re-reads only.",
            "4.2, Figure 7a",
            _no_slower,
            "the short stripe leaves 12 % of over-provisioning, and collection is then busy enough to be felt by "
            "reads on the flash "
            "assumed here (700 µs to program)",
        ),
        Statement(
            "The three nines differ visibly between s = 15 and s = 7.",
            "4.2, Figure 7b",
            _tail_by_stripe,
            "collection is in the background here and programs rarely stand in the way of one read in a thousand; "
            "the tail is made of "
            "reads behind a program, whichever stripe it belongs to",
        ),
        Statement("Write amplification is similar to that of Figure 6.", "4.2, Figure 7c", _same_amplification),
        Statement("Data is fully recovered in the lower wear states.", "4.2, Figure 7d", _recovers_when_young),
        Statement(
            "Recovery failures are observed at 5K.",
            "4.2, Figure 7d",
            lambda table: _recoveries_fail(3, table),
            _why_all_recover,
        ),
    ],
    ASSUMPTIONS,
)
