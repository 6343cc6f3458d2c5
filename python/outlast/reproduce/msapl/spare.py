"""Figures 5 and 7 by how full the drive is, which the text does not say."""

from __future__ import annotations

from collections.abc import Callable

from outlast.report.figure import Figure as Chart
from outlast.reproduce.check import percent
from outlast.reproduce.hrm.chart import bars
from outlast.reproduce.model import CALIBRATED, Cell, Figure, Found, Setting, Statement, Table
from outlast.reproduce.msapl.common import (
    CAPACITY_MIB,
    ESAP,
    MSAPL,
    POINTS,
    WORKLOADS,
    classes,
    saved,
    schemes,
)

SPARES = (4, 10, 20, 35)
"""Spare space in percent of user space, beside what eSAP's parity takes; Table 1's over-provisioning is 4."""
FITTED = 35
"""That with which all three savings come nearest to the paper's: one parameter for three numbers."""
ROOM_MIB = 98_304
"""What two parities in eight leave of 128 GiB."""


def capacity_mib(spare: int) -> int:
    """User space, a multiple of 16 MiB."""
    return CAPACITY_MIB if spare == SPARES[0] else ROOM_MIB * 100 // (100 + spare) // 16 * 16


def settings(spare: int, span: int, scheme: str) -> dict[str, object]:
    """The scheme on a drive with so much user space; the workload touches as many bytes as on the full one."""
    capacity = capacity_mib(spare)
    own = dict(schemes(span)[scheme])
    if "device.protection.classes" in own:
        parts = classes(span)
        parts[-1]["ranges"][0]["to"] = f"{capacity}MiB"
        own["device.protection.classes"] = parts
    share = f"{round(100 * span * CAPACITY_MIB / 100 / capacity)}%"
    return own | {"device.ftl.capacity": f"{capacity}MiB", "workload.synthetic.span": share}


def cells(setting: Setting) -> list[Cell]:
    """Both schemes under each workload, on drives ever less full."""
    return [
        Cell(
            {"workload": name, "scheme": scheme, "spare": f"{spare} %"},
            [setting.scenarios / workload.file],
            settings(spare, workload.span, scheme),
        )
        for name, workload in WORKLOADS.items()
        for spare in SPARES
        for scheme in (ESAP, MSAPL)
    ]


def less(table: Table, name: str, spare: int) -> float:
    """By how many percent mSAPL's write amplification is below eSAP's."""
    return saved(table, "write_amplification", name, MSAPL, spare=f"{spare} %")


def _saves(name: str) -> Callable[[Table], Found]:
    def check(table: Table) -> Found:
        found = percent(f"{FITTED} % spare", less(table, name, FITTED), WORKLOADS[name].waf, POINTS)
        others = ", ".join(f"{spare} % spare {less(table, name, spare):.1f} %" for spare in SPARES if spare != FITTED)
        return Found(found.holds, f"{found.words}; {others}", found.numbers)

    return check


def _life(table: Table) -> Found:
    more = {spare: 100 / (1 - less(table, "Financial", spare) / 100) - 100 for spare in SPARES}
    found = percent(f"{FITTED} % spare", more[FITTED], 16, POINTS)
    others = ", ".join(f"{spare} % spare {more[spare]:.1f} %" for spare in SPARES if spare != FITTED)
    return Found(found.holds, f"{found.words}; {others}", found.numbers)


def _charts(table: Table) -> list[Chart]:
    rows = [
        {"workload": name, "spare": f"{spare} %", "saved": less(table, name, spare)}
        for name in WORKLOADS
        for spare in SPARES
    ]
    return [
        bars(
            table, "spare-saved", "Write amplification saved", "saved", "%", across=("spare",), by="workload", rows=rows
        )
    ]


FIGURE = Figure(
    "spare",
    "Figures 5 and 7: by how full the drive is",
    "mSAPL beside eSAP with 4 % of spare space, as in the other figures, and with more.",
    cells,
    {
        "write_amplification": "write amplification",
        "wa_gc": "collection",
        "wa_parity": "parity",
        "wa_partial": "partial parity",
    },
    _charts,
    [
        *(
            Statement(
                f"mSAPL decreases the WAF of {name} by {WORKLOADS[name].waf} %: with {FITTED} % spare.",
                "5.1",
                _saves(name),
                "spare space moves all three savings at once, and one amount need not suit them all",
                CALIBRATED,
            )
            for name in WORKLOADS
        ),
        Statement(
            f"mSAPL's life is 16 % longer than eSAP's: with {FITTED} % spare.",
            "6, Figure 7",
            _life,
            "the life is in proportion to 1 / WAF, so that it differs as Financial does",
            CALIBRATED,
        ),
    ],
    (
        f"The text says 4 % of over-provisioning, and not how full its drive was. {FITTED} % is fitted: one "
        "parameter to the three savings of Figure 5.",
        "Each workload touches as many bytes as on the full drive, in whole percent of the smaller one.",
    ),
)
