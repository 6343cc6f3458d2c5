"""Figures of a plan in words: one list of rows for the terminal and for the page."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from outlast.planning.figures import LayoutFigures
from outlast.planning.spec import MTTF_HOURS, UBER
from outlast.report.names import terabytes
from outlast.report.numbers import micros, percent, short, tiny

if TYPE_CHECKING:
    from outlast.planning import LayoutPlan

Row = tuple[str, list[str]]
"""A figure's name, and its value for each layout."""


def title(plan: LayoutPlan) -> str:
    """The drives, the years and the load, in a line."""
    drives = plan.spec.drives
    return f"{drives.count} drives of {terabytes(drives.capacity)}, {plan.spec.years:g} years, {_load(plan)}"


def _load(plan: LayoutPlan) -> str:
    written = terabytes(plan.layouts[0].written_per_day)
    load = plan.spec.load
    hours = "" if load.active_hours == 24.0 else f" in {load.active_hours:g} hours"
    if load.scenario is not None:
        return f"workload of {load.scenario} ({written} written a day{hours})"
    return f"{written} written a day{hours}"


def groups(plan: LayoutPlan) -> list[tuple[str, list[Row]]]:
    """All rows by subject; those that no layout has are left out."""
    spec, layouts = plan.spec, plan.layouts
    years, currency = f"{spec.years:g} years", spec.drives.currency

    def row(name: str, value: Callable[[LayoutFigures], str]) -> Row:
        return name, [value(layout) for layout in layouts]

    found = [
        (
            "Capacity",
            [
                row("members and spares", lambda at: f"{at.members} + {at.spares}"),
                row("usable capacity", lambda at: terabytes(at.usable_bytes)),
            ],
        ),
        (
            "Loss of data",
            [
                row("probability within a year", lambda at: tiny(at.loss_per_year)),
                row(f"probability within {years}", lambda at: tiny(at.loss_in_period)),
                row("drives expected to fail", lambda at: short(at.failures)),
            ],
        ),
        (
            "Rebuild of a drive, beside the load",
            [
                row("duration", lambda at: f"{short(at.rebuild_hours)} h"),
                row("rate, as simulated", lambda at: f"{short(at.rebuild_mib_s)} MiB/s"),
                row("rate, limits", lambda at: f"{short(at.rebuild_min_mib_s)}–{short(at.rebuild_max_mib_s)} MiB/s"),
                row("99 % of reads within, healthy", lambda at: micros(at.latency_us["healthy"]["read"])),
                row("99 % of reads within, rebuilding", lambda at: micros(at.latency_us["rebuilding"]["read"])),
                row("99 % of writes within, healthy", lambda at: micros(at.latency_us["healthy"]["write"])),
                row("99 % of writes within, rebuilding", lambda at: micros(at.latency_us["rebuilding"]["write"])),
            ],
        ),
        (
            "Endurance of a drive",
            [
                row("written to it a day", lambda at: terabytes(at.member_written_per_day)),
                row("drive writes a day, used", lambda at: short(at.dwpd_used)),
                row("drive writes a day, left", lambda at: _signed(at.dwpd_left)),
                row(f"TBW left after {years}", lambda at: _left(at.tbw_left_bytes)),
                row("TBW used up after", lambda at: _years(at.tbw_years)),
                row("rated cycles used up after", lambda at: _years(at.flash_years)),
                row("write amplification", lambda at: short(at.write_amplification)),
            ],
        ),
        (
            "Price",
            [
                row("drives bought", lambda at: str(at.drives_bought)),
                row(f"price of drives, {currency}", lambda at: short(at.price, 4)),
                row("energy", lambda at: "–" if at.energy_kwh is None else f"{short(at.energy_kwh)} kWh"),
                row(f"price of energy, {currency}", lambda at: short(at.energy_cost, 4)),
                row(f"price per usable TB and year, {currency}", lambda at: short(at.price_per_tb_year)),
            ],
        ),
    ]
    return [(name, kept) for name, rows in found if (kept := [each for each in rows if set(each[1]) != {"–"}])]


def notes(plan: LayoutPlan) -> list[str]:
    """Basis of the figures, and things that they leave out."""
    spec, drives = plan.spec, plan.spec.drives
    done = ", ".join(f"{percent(at.rebuild_done)} ({at.name})" for at in plan.layouts)
    found = [
        f"Simulated: drives like {drives.preset} at 1:{short(plan.scale)} of the capacity, {spec.simulated_s:g} s "
        f"healthy and {spec.simulated_s:g} s beside a rebuild that yields to the host as Linux md does; its rate is "
        f"that of the share that was done by then: {done}.",
        f"Loss of data: Markov chains with an MTTF of {short(drives.mttf_hours)} hours"
        f"{' (assumed)' if drives.mttf_hours == MTTF_HOURS else ''} and {tiny(drives.uber)} unreadable bits per bit"
        f"{' (assumed)' if drives.uber == UBER else ''}; failed drives are rebuilt in parallel. Failures are "
        "independent; human error, fire and faults of firmware are not included.",
    ]
    if drives.rated_bytes is None:
        found.append("Endurance: the plan names no TBW and no DWPD, so what is left of it is not computed.")
    else:
        found.append(
            f"Endurance: the data sheet’s {terabytes(drives.rated_bytes)} count what is written to a drive. A data "
            "sheet’s load is random writes; the write amplification says what the load here costs."
        )
    if any(at.overload for at in plan.layouts):
        names = ", ".join(at.name for at in plan.layouts if at.overload)
        found.append(f"Overload: {names} cannot serve this load even when healthy.")
    if any(at.drives_bought > drives.count for at in plan.layouts):
        found.append("Drives are bought again each time that their TBW is used up. Drives that fail are not priced.")
    return found


def _signed(value: float | None) -> str:
    return "–" if value is None else short(value)


def _left(value: float | None) -> str:
    if value is None:
        return "–"
    return terabytes(value) if value >= 0 else f"exceeded by {terabytes(-value)}"


def _years(value: float | None) -> str:
    return "–" if value is None else f"{short(value)} years"
