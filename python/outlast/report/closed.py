"""Figures beside the closed form, or the limit, that each of them has."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from outlast.report.figure import amplification_by_cause
from outlast.report.names import tip
from outlast.report.numbers import micros, percent, short, signed
from outlast.report.tables import rows_card

TOTAL = "write_amplification.total"


@dataclass(frozen=True)
class Beside:
    """A figure and what theory says of it."""

    name: str
    measured: float
    closed: float
    shown: tuple[str, str]
    """Both as a person reads them."""
    is_limit: bool = False
    """True if the closed form is an upper limit and not a prediction."""
    figure: str = ""
    """The name of what was measured, where `result.json` has it."""
    of: str = "the limit"
    """Name of the limit in sentences."""

    @property
    def off(self) -> float:
        """Relative difference of the figure from its closed form."""
        return self.measured / self.closed - 1

    @property
    def verdict(self) -> str:
        """Figure relative to its closed form, in words."""
        return f"{percent(self.measured / self.closed)} of {self.of}" if self.is_limit else signed(self.off)


def _ratio(name: str, measured: float, closed: float, figure: str) -> Beside:
    return Beside(name, measured, closed, (f"{measured:.3f}", f"{closed:.3f}"), figure=figure)


def _rate(name: str, measured: float, limit: float, figure: str) -> Beside:
    shown = (f"{short(measured)} MiB/s", f"{short(limit)} MiB/s")
    return Beside(name, measured, limit, shown, is_limit=True, figure=figure)


def beside(summary: dict[str, Any]) -> list[Beside]:
    """Figures of a result that have a closed form."""
    return [*_amplification(summary), *_fastest_read(summary), *_bandwidth(summary)]


def _amplification(summary: dict[str, Any]) -> list[Beside]:
    wa, closed, gc = summary["write_amplification"], summary["closed_form"], summary["gc"]
    before, found = summary["steady_state"]["precondition"], []
    parts = amplification_by_cause(wa)
    if wa["total"] is not None and closed["greedy_waf"] is not None:
        found.append(_ratio(_name(parts), wa["total"] - parts["parity"], closed["greedy_waf"], TOTAL))
        if gc["mean_valid"] and not parts["parity"]:
            # Of a victim's units a share v is moved, and 1 - v gained: 1 / (1 - v) are written for each of the host's.
            share = 1 - 1 / closed["greedy_waf"]
            shown = (percent(gc["mean_valid"]), percent(share))
            found.append(Beside("valid units of a victim", gc["mean_valid"], share, shown, figure="gc.mean_valid"))
    measured, formula = before.get("write_amplification"), closed.get("precondition_waf")
    if measured is not None and formula is not None:
        figure = "steady_state.precondition.write_amplification"
        found.append(_ratio("write amplification of preconditioning", measured, formula, figure))
    return found


def _fastest_read(summary: dict[str, Any]) -> list[Beside]:
    """A read of one unit that waits for nothing: every part of its way, once."""
    from outlast.why.parts import command_cost_ns
    from outlast.why.quantity import bytes_of, bytes_per_s, nanos

    device, host, read = summary["scenario"]["device"], summary["host"], summary["latency_us"]["read"]
    synthetic = (summary["scenario"].get("workload") or {}).get("synthetic") or {}
    timing, controller = device.get("timing"), device.get("controller") or {}
    unit = summary["device"]["mapping_unit"]
    whole_units = synthetic.get("size") is not None and bytes_of(synthetic["size"]) == unit
    elsewhere = any(host.get(kind) for kind in ("buffer_hits", "unmapped_reads", "read_cache_hits"))
    if not read or timing is None or not whole_units or elsewhere or "array" in summary or device.get("reliability"):
        return []
    times = timing["read"] if isinstance(timing["read"], list) else [timing["read"]]
    costs = [*(controller.get("host_latency") or {}).values(), timing["command"], controller["read_cost"]]
    if timing.get("cache_read") is not None:
        costs.append(timing["cache_read"])
    decode = (controller.get("decode") or {}).get("hard", "0ns")
    closed = float(min(map(nanos, times)) + sum(map(nanos, [*costs, decode]))) + command_cost_ns(summary, "read")
    pages = max(1.0, unit / float(bytes_of(device["geometry"]["page_size"])))
    moved = float(unit + pages * bytes_of(device["geometry"].get("spare_per_page", 0)))
    closed += moved / float(bytes_per_s(timing["bus"])) * 1e9
    if controller.get("link"):
        closed += unit / float(bytes_per_s(controller["link"])) * 1e9
    shown = (micros(read["min"]), micros(closed / 1e3))
    return [Beside("fastest read", read["min"], closed / 1e3, shown, figure="latency_us.read.min")]


def _bandwidth(summary: dict[str, Any]) -> list[Beside]:
    """Bandwidth of flash reads and programs, for all causes, beside the limits of sequential access."""
    rate, closed, device = summary["throughput"], summary["closed_form"], summary["device"]
    if rate["iops"] is None or "array" in summary or "sequential_read_mib_s" not in closed:
        return []
    found = []
    if rate["read_mib_s"]:
        limit = closed["sequential_read_mib_s"]
        found.append(_rate("reads of the host", rate["read_mib_s"], limit, "throughput.read_mib_s"))
    span, pages = summary["time"]["simulated_s"], summary["flash"]["programs"]
    geometry = (summary["scenario"].get("device") or {}).get("geometry")
    if geometry and pages and span and device["mapping_unit"]:
        from outlast.why.quantity import bytes_of

        programmed = pages * float(bytes_of(geometry["page_size"])) / 2**20 / span
        limit = closed["sequential_write_mib_s"]
        found.append(_rate("programs of all causes", programmed, limit, "flash.programs"))
    return [row for row in found if row.closed]


def _name(parts: dict[str, float]) -> str:
    return "write amplification without parity" if parts["parity"] else "write amplification"


COLUMNS = ("figure", "measured", "closed form or limit", "difference")
TITLES = {"closed form or limit": "Beside closed forms and limits", "data sheet": "Beside the data sheet"}
"""Title of the card, by the source of the comparison values."""


def table(summary: dict[str, Any], columns: tuple[str, ...] = COLUMNS, found: list[Beside] | None = None) -> str:
    """The figures as a card; empty where none has a closed form."""
    known = beside(summary) if found is None else found
    rows = [(row.name, *row.shown, row.verdict) for row in known]
    return rows_card(TITLES[columns[2]], columns, rows, wide=True, sides=[tip(row.figure) for row in known])
