"""Results that are one document: those of `outlast fleet` and `outlast plan`, with their charts and tables."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from outlast import foreign
from outlast.errors import OutputError
from outlast.notebook.plots import Plots
from outlast.plots.tabular import Tabular
from outlast.report.figure import RUN_COLOURS, Figure, axis
from outlast.report.numbers import raised
from outlast.report.page import Section

Read = TypeVar("Read")
FLEET_TABLES = ("losses", "changes", "causes", "year", "cost")
"""Tables of a fleet; the first is the one that is meant where none is named."""


@dataclass(frozen=True)
class Document:
    """A result of a fleet or a plan, as it was written."""

    file: Path
    kind: str
    """`fleet` or `plan`."""
    content: dict[str, Any]

    @property
    def plots(self) -> Plots:
        """Charts of it: those of the report of a fleet, and bars over the layouts of a plan."""
        return Plots(self._sections, lambda _: True, self._named())

    def table(self, what: str = "") -> Tabular:
        """One of its tables: of a fleet those in `FLEET_TABLES`, of a plan the only one, `layouts`."""
        known = FLEET_TABLES if self.kind == "fleet" else ("layouts",)
        what = what or known[0]
        if what not in known:
            raise OutputError(f'no table "{what}" of a {self.kind}; there are {", ".join(known)}')
        return self._read(lambda: _fleet_table(self.content, what) if self.kind == "fleet" else _plan(self.content))

    def _sections(self) -> list[Section]:
        from outlast.fleet.report import sections

        return self._read(lambda: sections(self.content) if self.kind == "fleet" else [_bars(self.content)])

    def _named(self) -> str:
        whole = self.content["plan"] if self.kind == "plan" else self.content
        return str(whole.get("name", self.kind)) if isinstance(whole, dict) else self.kind

    def _read(self, look: Callable[[], Read]) -> Read:
        try:
            return look()
        except (AttributeError, IndexError, KeyError, TypeError, ValueError) as error:
            text = f"{type(error).__name__}: {' '.join(str(error).split())}"[:120]
            raise OutputError(f"{self.file}: not as outlast {self.kind} writes it ({text})") from error


def document_at(name: str) -> Document | None:
    """The result of a fleet or a plan at a path: its folder, or its file; `None` for whatever else is there."""
    place = Path(name)
    file = place / "result.json" if place.is_dir() else place
    if file.suffix != ".json" or not file.is_file():
        return None
    try:
        content = foreign.read(file)
    except (OSError, ValueError) as error:
        raise OutputError(f"{file}: cannot be read: {error}") from error
    if not isinstance(content, dict):
        return None
    if "loss_by_year" in content:
        return Document(file, "fleet", content)
    return Document(file, "plan", content) if {"plan", "layouts"} <= content.keys() else None


def _fleet_table(result: dict[str, Any], what: str) -> Tabular:
    if what == "losses":
        kinds = ("fleet", "groups_lost", "group")
        keys = ["year", *(f"{kind}.{end}" for kind in kinds for end in ("mean", "low", "high"))]
        rows = result["loss_by_year"]
        exact = [[row["year"], *(row[kind][end] for kind in kinds for end in ("mean", "low", "high"))] for row in rows]
        titles = ["year", "loss of any data", "groups lost", "loss of one group"]
        shown = [[str(row["year"]), *(_interval(row[kind]) for kind in kinds)] for row in rows]
        return Tabular(titles, keys, exact, shown)
    if what == "changes":
        pairs = [(row["setting"], row["elasticity"]) for row in result.get("change_first", [])]
        return _pairs(("setting", "per cent of losses per per cent"), ("setting", "elasticity"), pairs)
    if what == "causes":
        pairs = [(name, 100 * share) for name, share in result["causes"].items()]
        return _pairs(("cause", "losses, %"), ("cause", "percent"), pairs)
    if what == "year":
        pairs = [(name, value) for name, value in result["life"].items() if isinstance(value, (int, float))]
        return _pairs(("in a year of the fleet", "mean"), ("what", "mean"), pairs)
    if "cost" not in result:
        raise OutputError("this fleet has no [cost], and so no table of it")
    unit = f"{result['cost']['currency']} a year"
    return _pairs(("part", unit), ("part", "a_year"), list(result["cost"]["by_part"].items()))


def _pairs(titles: tuple[str, str], keys: tuple[str, str], pairs: list[tuple[str, float]]) -> Tabular:
    shown = [[name.replace("_", " "), _number(value)] for name, value in pairs]
    return Tabular(list(titles), list(keys), [list(pair) for pair in pairs], shown)


def _number(value: Any, digits: int = 4) -> str:
    """A number of so many digits, with powers of ten and a minus as they are printed."""
    if value is None or not isinstance(value, (int, float)):
        return "–" if value is None else str(value)
    shown, _, exponent = f"{abs(value):.{digits}g}".partition("e")
    return ("−" if value < 0 else "") + shown + (f" · 10{raised(int(exponent))}" if exponent else "")


def _interval(own: dict[str, Any]) -> str:
    mean, low, high = own["mean"], own["low"], own["high"]
    return _number(mean, 3) if low == high else f"{_number(mean, 3)} ({_number(low, 2)} to {_number(high, 2)})"


PLAN_ROWS = (
    ("usable capacity, TB", "usable_bytes", 1e-12),
    ("loss of data in a year", "loss_per_year", 1.0),
    ("loss of data in the period", "loss_in_period", 1.0),
    ("rebuild, hours", "rebuild_hours", 1.0),
    ("rebuild, MiB/s", "rebuild_mib_s", 1.0),
    ("failures of drives in the period", "failures", 1.0),
    ("write amplification", "write_amplification", 1.0),
    ("written to a drive a day, TB", "member_written_per_day", 1e-12),
    ("drive writes a day used", "dwpd_used", 1.0),
    ("drive writes a day left", "dwpd_left", 1.0),
    ("TBW left after the period, TB", "tbw_left_bytes", 1e-12),
    ("years until the data sheet's writes are used up", "tbw_years", 1.0),
    ("years until the flash is worn", "flash_years", 1.0),
    ("drives bought", "drives_bought", 1.0),
    ("price of the drives", "price", 1.0),
    ("energy, kWh", "energy_kwh", 1.0),
    ("price of the energy", "energy_cost", 1.0),
    ("price per TB and year", "price_per_tb_year", 1.0),
)
"""Figures of a layout in a table: title, name in the JSON, and by what it is multiplied for people."""
PLAN_CHARTS = (
    ("loss", "Loss of data in the period", "probability", "loss_in_period", 1.0, True),
    ("capacity", "Usable capacity", "TB", "usable_bytes", 1e-12, False),
    ("rebuild", "Rebuild beside the load", "hours", "rebuild_hours", 1.0, False),
    ("life", "Until the flash is worn", "years", "flash_years", 1.0, False),
    ("price", "Price of a usable TB for a year", "price", "price_per_tb_year", 1.0, False),
)
"""Charts of a plan: name, title, axis, figure, by what it is multiplied, and whether its axis is logarithmic."""
LATENCIES = ("read", "write")


def _plan(result: dict[str, Any]) -> Tabular:
    layouts = result["layouts"]
    names = [str(layout["name"]) for layout in layouts]
    rows = [row for row in PLAN_ROWS if any(layout.get(row[1]) is not None for layout in layouts)]
    exact = [[key, *(layout.get(key) for layout in layouts)] for _, key, _ in rows]
    shown = [[title, *(_scaled(layout.get(key), factor) for layout in layouts)] for title, key, factor in rows]
    return Tabular(["", *names], ["figure", *names], exact, shown)


def _scaled(value: float | None, factor: float) -> str:
    return _number(None if value is None else value * factor)


def _bars(result: dict[str, Any]) -> Section:
    """Bars over the layouts for each figure that they have."""
    section, layouts = Section("plan", "The plan"), result["layouts"]
    names = [str(layout["name"]) for layout in layouts]
    for name, title, unit, key, factor, is_log in PLAN_CHARTS:
        values = [layout[key] for layout in layouts]
        if all(value is None for value in values):
            continue
        heights = [None if value is None else value * factor for value in values]
        section.add(_chart(name, title, unit, names, {"": heights}, is_log=is_log and all(heights)))
    for op in LATENCIES:
        tails = {state: [own["latency_us"][state][op] for own in layouts] for state in layouts[0]["latency_us"]}
        if any(value is not None for own in tails.values() for value in own):
            title = f"99th percentile of {op}s"
            section.add(_chart(f"latency-{op}", title, "µs", names, tails, is_log=False))
    return section


def _chart(
    name: str, title: str, unit: str, names: list[str], series: dict[str, list[float | None]], *, is_log: bool
) -> Figure:
    traces = [
        {"type": "bar", "x": names, "y": values, "name": label, "marker": {"color": colour}, "showlegend": bool(label)}
        for (label, values), colour in zip(series.items(), RUN_COLOURS, strict=False)
    ]
    layout = {"xaxis": axis("") | {"type": "category"}, "yaxis": axis(unit, type="log" if is_log else "linear")}
    return Figure(name, traces, layout, title)
