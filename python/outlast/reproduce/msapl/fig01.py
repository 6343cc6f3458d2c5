"""Figure 1: error rates of RAID-0, 5 and 6 inside the drive, without and with what parity costs in wear."""

from __future__ import annotations

from typing import Any

from outlast import models
from outlast.report.figure import RUN_COLOURS, axis, line
from outlast.report.figure import Figure as Chart
from outlast.reproduce.check import every, percent
from outlast.reproduce.hrm.chart import bars
from outlast.reproduce.model import CLOSED, Cell, Figure, Found, Number, Setting, Statement, Table
from outlast.reproduce.msapl.common import POINTS, TRACE, trace_file, trace_layers

RAIDS = {"RAID0": 0, "RAID5": 1, "RAID6": 2}
PAPER_WAF = {"RAID0": 1.0, "RAID5": 1.2, "RAID6": 1.5}
CAPACITY = {"RAID0": "126016MiB", "RAID5": "110256MiB", "RAID6": "94512MiB"}
"""4 % of spare space, whatever parity takes."""
THOUSANDS = 500
"""The text gives cycles in whole thousands."""
CODE = {"n": 8192, "k": 8, "stripe": 16}
"""Section 3: 8 bits per 1-KB codeword, stripes of 16 pages."""


def _settings(raid: str) -> dict[str, Any]:
    parity = RAIDS[raid]
    if parity == 0:
        return {"device.protection": None, "device.ftl.capacity": CAPACITY[raid]}
    changes = {"device.protection.data": 8 - parity, "device.protection.parity": parity}
    return changes | {"device.ftl.capacity": CAPACITY[raid]}


def cells(setting: Setting) -> list[Cell]:
    """The three under the modelled workload at two rates, and under the real trace."""
    layers = [setting.scenarios / "fig05.toml"]
    found = []
    for raid in RAIDS:
        for rate in (38, 100):
            labels = {"workload": f"Financial, {rate}/s", "scheme": raid}
            found.append(Cell(labels, layers, _settings(raid) | {"workload.synthetic.rate_iops": rate}))
        if (file := trace_file(setting)) is not None:
            found.append(Cell({"workload": TRACE, "scheme": raid}, trace_layers(setting, file), _settings(raid)))
    return found


def ratios(table: Table, workload: str) -> dict[str, float]:
    """Write amplification over that of RAID-0."""
    base = table.value("write_amplification", workload=workload, scheme="RAID0")
    return {raid: table.value("write_amplification", workload=workload, scheme=raid) / base for raid in RAIDS}


def uper(raid: str, cycles: float, waf: float) -> float:
    """Uncorrectable page error rate when RAID-0 would have made so many cycles."""
    rate = models.rber("msapl", cycles * waf)
    return float(models.uper(rate, n=CODE["n"], k=CODE["k"], stripe=CODE["stripe"], parities=RAIDS[raid], log=True))


def crossing(raid: str, waf: float) -> float:
    """The cycles at which a RAID's error rate exceeds that of RAID-0, for parity's price in wear."""
    # Far beyond, where every page is lost, the count of lost stripes is below that of lost pages: so the first place.
    step = 250.0
    place = next(x for x in (step * n for n in range(1, 400)) if uper(raid, x, waf) > uper("RAID0", x, 1.0))
    low, high = place - step, place
    for _ in range(30):
        middle = (low + high) / 2
        if uper(raid, middle, waf) > uper("RAID0", middle, 1.0):
            high = middle
        else:
            low = middle
    return low


def _near_ratio(table: Table) -> Found:
    own = ratios(table, "Financial, 38/s")
    return every(
        [percent(raid, 100 * (own[raid] - 1), 100 * (PAPER_WAF[raid] - 1), POINTS) for raid in RAIDS if RAIDS[raid]]
    )


def _why_ratio(table: Table) -> str:
    fast = ratios(table, "Financial, 100/s")
    words = f"at 100 requests a second, with fewer pauses, 1 : {fast['RAID5']:.2f} : {fast['RAID6']:.2f}"
    if table.has(workload=TRACE):
        real = ratios(table, TRACE)
        words += f"; under the first 260 s of the real trace 1 : {real['RAID5']:.2f} : {real['RAID6']:.2f}"
    return (
        "parity alone is 1 : 1.14 : 1.33; what comes on top is partial parity, which depends on the pauses between "
        f"writes and so on the trace: {words}"
    )


def _pure(_: Table) -> Found:
    at = 10_000.0
    values = [(raid, uper(raid, at, 1.0)) for raid in RAIDS]
    holds = values[0][1] > values[1][1] > values[2][1]
    return Found(holds, "ln UPER at 10 000 cycles: " + ", ".join(f"{raid} {value:.1f}" for raid, value in values))


def _crossings(_: Table) -> Found:
    five, six = (crossing(raid, PAPER_WAF[raid]) for raid in ("RAID5", "RAID6"))
    words = f"RAID5 at {five:,.0f} cycles (paper 16 000), RAID6 at {six:,.0f} (paper 19 000)"
    numbers = Number("RAID5", five, 16_000, "cycles"), Number("RAID6", six, 19_000, "cycles")
    return Found(abs(five - 16_000) <= THOUSANDS and abs(six - 19_000) <= THOUSANDS, words, numbers)


def _charts(table: Table) -> list[Chart]:
    found = [bars(table, "fig01-waf", "Write amplification", "write_amplification", "ratio", across=("workload",))]
    cycles = [500.0 * step for step in range(1, 61)]
    for name, title, waf in (
        ("fig01a", "Figure 1a: equal write amplification", dict.fromkeys(RAIDS, 1.0)),
        ("fig01b", "Figure 1b: write amplifications as 1 : 1.2 : 1.5", PAPER_WAF),
    ):
        data = [
            line(cycles, [uper(raid, x, waf[raid]) / 2.302585 for x in cycles], raid, RUN_COLOURS[index])
            for index, raid in enumerate(RAIDS)
        ]
        layout = {"xaxis": axis("P/E cycles of RAID0"), "yaxis": axis("log10 of UPER"), "hovermode": "x"}
        found.append(Chart(name, data, layout, title, "closed form, Equations 1 to 5", 320))
    return found


FIGURE = Figure(
    "fig01",
    "Figure 1: error rate and the cost of parity",
    "What parity costs in writes under Financial, and what that does to the error rates that it is there to lower.",
    cells,
    {
        "write_amplification": "write amplification",
        "wa_gc": "collection",
        "wa_parity": "parity",
        "wa_partial": "partial parity",
    },
    _charts,
    [
        Statement("RAID5 increases the WAF by 20 %, RAID6 by 50 %.", "3", _near_ratio, _why_ratio),
        Statement("With equal WAF, each parity lowers the error rate.", "3, Figure 1a", _pure, kind=CLOSED),
        Statement(
            "RAID5 exceeds RAID0 at 16K P/E cycles, RAID6 at 19K.",
            "3, Figure 1b",
            _crossings,
            "more parity wears the flash faster, so RAID6 crosses first: the other way round RAID6 would agree, and "
            "RAID5 with 20K",
            CLOSED,
        ),
    ],
    (
        "Each of the three drives has 4 % of spare space after parity.",
        "Error rates by Equations 1 to 5, exactly: 8 bits per 1-KB codeword and stripes of 16 pages, as in section 3.",
    ),
)
