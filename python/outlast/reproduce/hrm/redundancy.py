"""Figures 6 and 7: redundancy inside the drive."""

from __future__ import annotations

from outlast.report.figure import Figure as Chart
from outlast.reproduce.check import every, rising, times
from outlast.reproduce.hrm.chart import bars, stacked
from outlast.reproduce.hrm.common import CHIPS, CYCLES, PROTECTION, RETRIES, TIE, TLC, WITHIN, kilo, perfect, tlc
from outlast.reproduce.model import Cell, Figure, Found, Setting, Statement, Table

STATES = CHIPS[TLC][1]
NONE = "re-reads only"
STRIPES = {"s = 15": 15, "s = 7": 7}
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


def _slower_when_worn(table: Table) -> Found:
    parts = []
    for scheme in STRIPES:
        values = [(kilo(c), _value(table, "read_p99_9_ratio", c, scheme, 1)) for c in STATES]
        # Each by more than a tie.
        parts.append(rising(f"99.9 %, {scheme}", values, slack=-TIE))
    return every(parts)


def _why_tied(table: Table) -> str:
    fails = _value(table, "first_check_fails_percent", STATES[1], "s = 15", 1)
    rebuilds = int(_value(table, "stripe_attempts", STATES[1], "s = 15", 1))
    return (
        f"at 3K {fails:.1f} % of first checks fail and {rebuilds} rebuilds are made with s = 15, so that 1K and 3K are "
        "alike; only 5K stands out"
    )


def _slower_than_rereads(table: Table) -> Found:
    parts = []
    for figure, words in (("read_mean_ratio", "mean"), ("read_p99_9_ratio", "99.9 %")):
        values = [(s, _value(table, figure, STATES[-1], s, 1)) for s in (NONE, "s = 7", "s = 15")]
        parts.append(rising(f"{words} at 5K", values))
    return every(parts)


def _recoveries_fail(retries: int, table: Table) -> Found:
    counts = {s: int(_value(table, "stripe_failures", STATES[-1], s, retries)) for s in STRIPES}
    return Found(all(counts.values()), ", ".join(f"{s}: {count} rebuilds fail at 5K" for s, count in counts.items()))


def _fails_when_young(table: Table) -> Found:
    rows = {s: table.row(state=kilo(STATES[0]), scheme=s, retries=RETRY_LABEL[1]) for s in STRIPES}
    shares = {s: _share(row["stripe_failures"], row["stripe_attempts"]) for s, row in rows.items()}
    words = [f"{s} {row['stripe_failures']} of {row['stripe_attempts']} rebuilds" for s, row in rows.items()]
    return Found(shares["s = 15"] > shares["s = 7"], ", ".join(words))


def _share(part: float, whole: float) -> float:
    return part / whole if whole else 0.0


def _why_none_when_young(table: Table) -> str:
    exact = {s: _value(table, "stripe_fails_exact_percent", STATES[0], s, 1) for s in STRIPES}
    words = ", ".join(f"{s} {value:.1e} %" for s, value in exact.items())
    return (
        "after one re-read and 75-bit ECC nothing is left to rebuild at 1K: the exact probability that a rebuild "
        f"fails, over all reads, is {words}, and nearly all of it is that of the few most disturbed blocks"
    )


def _as_high_when_worn(table: Table) -> Found:
    worn = {s: _value(table, "stripe_fails_percent", STATES[-1], s, 1) for s in STRIPES}
    words = ", ".join(f"5K {s} {value:.0f} %" for s, value in worn.items())
    return Found(worn["s = 7"] >= (1 - WITHIN) * worn["s = 15"], words)


def _why_not_as_high(table: Table) -> str:
    alone = {s: _value(table, "stripe_fails_percent", STATES[-1], s, 1) / 100 for s in STRIPES}
    page = 1 - (1 - alone["s = 15"]) ** (1 / 15)
    expected = 100 * (1 - (1 - page) ** 7)
    return (
        "where each other page of a stripe is unreadable with the same probability p, a rebuild fails with "
        f"1 - (1 - p)^s; {100 * alone['s = 15']:.0f} % with s = 15 is p = {page:.2f}, and then {expected:.0f} % with "
        "s = 7. Both are as high as each other only where p is above some 0.3"
    )


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
    apart = {}
    for figure, words in (("read_mean_ratio", "mean"), ("read_p99_9_ratio", "99.9 %")):
        short, long = (_value(table, figure, STATES[-1], s, 3) for s in ("s = 7", "s = 15"))
        apart[words] = 100 * abs(short / long - 1)
    words = ", ".join(f"{name} {value:.1f} % apart" for name, value in apart.items())
    return Found(apart["99.9 %"] > apart["mean"] + 100 * TIE, words)


def _recovers_when_young(table: Table) -> Found:
    rows = {
        (kilo(c), s): table.row(state=kilo(c), scheme=s, retries=RETRY_LABEL[3]) for c in STATES[:2] for s in STRIPES
    }
    words = [f"{c} {s}: {r['stripe_failures']} of {r['stripe_attempts']} fail" for (c, s), r in rows.items()]
    tried = all(row["stripe_attempts"] for row in rows.values())
    return Found(tried and not any(row["stripe_failures"] for row in rows.values()), ", ".join(words))


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
        Statement("The long tail is worse the more worn the drive is.", "4.2, Figure 6b", _slower_when_worn, _why_tied),
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
            "At 1K rebuilding fails more often with s = 15 than with s = 7.",
            "4.2, Figure 6d",
            _fails_when_young,
            _why_none_when_young,
        ),
        Statement(
            "At 5K rebuilding fails as often with s = 7 as with s = 15.",
            "4.2, Figure 6d",
            _as_high_when_worn,
            _why_not_as_high,
        ),
    ],
    ASSUMPTIONS,
)

FIG07 = Figure(
    "fig07",
    "Figure 7: redundancy after three re-reads",
    "As Figure 6, with three re-reads before the stripe is asked.",
    lambda setting: cells_of(3, setting=setting),
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
            "The three nines, unlike the mean, differ visibly between s = 15 and s = 7.",
            "4.2, Figure 7b",
            _tail_by_stripe,
            "the tail is made of reads behind a program, whichever stripe it belongs to, and collection, of which the "
            "short stripe has more, moves the mean as much as the tail",
        ),
        Statement(
            "Data is fully recovered in the lower wear states, where it is recovered at all.",
            "4.2, Figure 7d",
            _recovers_when_young,
            "after three re-reads no rebuild is asked for at 1K and 3K: nothing fails, and nothing is recovered "
            "either. What would be needed is an error rate of some 0.15, as below",
        ),
        Statement(
            "Recovery failures are observed at 5K.",
            "4.2, Figure 7d",
            lambda table: _recoveries_fail(3, table),
            _why_all_recover,
        ),
    ],
    ASSUMPTIONS,
)
