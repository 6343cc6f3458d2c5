"""The charts of a result: `result.plot.latency()`, or by the name that the report has for them, `result.plot(name)`."""

from __future__ import annotations

import difflib
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from outlast.errors import OutputError
from outlast.notebook.theme import Theme, drawn, stacked
from outlast.plain_values import name_of
from outlast.report.figure import Figure
from outlast.sweeps import figures

if TYPE_CHECKING:
    import plotly.graph_objects as go

    from outlast.comparison import Comparison
    from outlast.report.page import Section
    from outlast.result import Result
    from outlast.sweeps import Sweep

LACKS = {
    "distribution": ("latency", "no request was timed; [workload] says what the host asks"),
    "throughput": ("timeseries", "it takes two windows or more; a shorter run.window makes them"),
    "latency-time": ("timeseries", "it takes two windows with requests; a shorter run.window makes them"),
    "amplification": ("timeseries", "workload.synthetic.read_percent below 100 makes it, over two windows or more"),
    "preconditioning": ("precondition", 'precondition.overwrite = "random" makes it'),
    "wear-map": ("wear", "no block was told apart"),
    "causes-read": (None, "run.causes = true makes it, where there are reads"),
    "causes-write": (None, "run.causes = true makes it, where there are writes"),
    "error-rates": ("timeseries", "device.reliability.chip makes it; `outlast chips` lists them"),
    "wrong-bits": ("errors", "device.reliability.chip makes it; `outlast chips` lists them"),
    "tails": (None, "device.reliability.ecc makes it, of a drive with device.reliability.chip"),
    "decisions": ("decisions", "device.reliability.chip makes it; `outlast chips` lists them"),
    "twin": (None, "run.twin = true makes it"),
    "front": (None, "pareto of the sweep makes it, of two figures or more"),
    "array-states": ("array_states", "[array] makes it"),
    "array-wear": (None, "[array] makes it"),
}
"""Table that each chart is drawn from, and the setting that a result without it lacks."""
_ALIKE = {
    "bandwidth": "throughput",
    "in-flight": "throughput",
    "utilisation": "distribution",
    "wear-histogram": "wear-map",
    "read-again": "error-rates",
    "decisions-errors": "decisions",
    "distribution-read": "distribution",
    "distribution-write": "distribution",
    "causes": "amplification",
}


class Plots:
    """Charts as plotly figures with transparent grounds. `theme` is "light", "dark", or that of plotly's template."""

    def __init__(self, sections: Callable[[], Sequence[Section]], tables: Callable[[str], bool], of: str) -> None:
        self._sections, self._has_table, self._of = sections, tables, of

    def _charts(self) -> dict[str, Figure]:
        return {chart.name: chart for section in self._sections() for chart in section.figures}

    @property
    def names(self) -> list[str]:
        """The names of all charts that there are, each to be drawn by `plot(name)`."""
        return list(self._charts())

    def __repr__(self) -> str:
        return f"<plots of {self._of}: {', '.join(self.names) or 'none'}>"

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(f"{type(self).__name__} has no '{name}'")
        methods = [each for each in dir(type(self)) if not each.startswith("_")]
        near = difflib.get_close_matches(name, methods, n=1)
        hint = f"did you mean {near[0]}?" if near else f"there are {', '.join(methods)}"
        raise AttributeError(f"no chart '{name}'; {hint}")

    def __call__(self, name: str, theme: Theme | None = None) -> go.Figure:
        """The chart of that name, as the report draws it."""
        return drawn(self._of_name(name, self._charts()), theme)

    def figure_of(self, name: str) -> Figure:
        """The chart of that name as plain data, for other ways of drawing."""
        return self._of_name(name, self._charts())

    def _stack(self, names: Sequence[str], title: str, theme: Theme | None) -> go.Figure:
        """Stacks those of the named charts that the result has; without any, raises the error of the first."""
        charts = self._charts()
        there = [charts[name] for name in names if name in charts] or [self._of_name(names[0], charts)]
        return stacked(there, theme, title)

    def _of_name(self, name: str, charts: dict[str, Figure]) -> Figure:
        if name_of(name, "a chart", OutputError) in charts:
            return charts[name]
        message = f'no chart "{name}" of {self._of}'
        table, setting = LACKS.get(_ALIKE.get(name, name), (None, ""))
        if not setting:
            near = difflib.get_close_matches(name, charts, n=1)
            hint = f'did you mean "{near[0]}"?' if near else f"there are {', '.join(charts) or 'none'}"
            raise OutputError(f"{message}; {hint}")
        if table is not None and not self._has_table(table):
            setting += f"; or {table}.parquet is not kept with it"
        raise OutputError(f"{message}: {setting}")


class ResultPlots(Plots):
    """The charts of one result, drawn as its report draws them."""

    def __init__(self, result: Result) -> None:
        from outlast.report.single import sections

        super().__init__(lambda: sections(result), lambda name: name in result.tables, result.summary["name"])

    def latency(self, theme: Theme | None = None) -> go.Figure:
        """The share of requests that is done within a time; each further nine has the same room."""
        return self("distribution", theme)

    def timeline(self, theme: Theme | None = None) -> go.Figure:
        """Requests per second, latency and write amplification over simulated time, above each other."""
        return self._stack(("throughput", "latency-time", "amplification"), "Over time", theme)

    def amplification(self, theme: Theme | None = None) -> go.Figure:
        """Bytes programmed for each byte that the host wrote, over simulated time, by cause."""
        return self("amplification", theme)

    def preconditioning(self, theme: Theme | None = None) -> go.Figure:
        """Write amplification of each round that brought the drive into its state."""
        return self("preconditioning", theme)

    def wear(self, theme: Theme | None = None) -> go.Figure:
        """Program/erase cycles by die and block."""
        return self("wear-map", theme)

    def cycles(self, theme: Theme | None = None) -> go.Figure:
        """Histogram of blocks by program/erase cycles."""
        return self("wear-histogram", theme)

    def causes(self, op: str = "read", theme: Theme | None = None) -> go.Figure:
        """Latency of "read" or "write" requests by cause, from the fastest to the slowest. Needs `run.causes`."""
        if name_of(op, "op", OutputError) not in ("read", "write"):
            raise OutputError(f'op = "{op}": must be read or write')
        return self(f"causes-{op}", theme)

    def errors(self, theme: Theme | None = None) -> go.Figure:
        """The raw bit error rate over simulated time, and what was read again. Needs `device.reliability`."""
        return self._stack(("error-rates", "read-again"), "Errors over time", theme)

    def wrong_bits(self, theme: Theme | None = None) -> go.Figure:
        """The distribution of wrong bits of a codeword, with what the ECC corrects."""
        return self("wrong-bits", theme)

    def decisions(self, theme: Theme | None = None) -> go.Figure:
        """Superblocks moved in the drive, over time and by reason."""
        return self("decisions", theme)

    def utilisation(self, theme: Theme | None = None) -> go.Figure:
        """The share of time that channels and dies were busy."""
        return self("utilisation", theme)


class ComparisonPlots(Plots):
    """The charts of several results, drawn as the report that lays them beside each other."""

    def __init__(self, compared: Comparison) -> None:
        from outlast.report.comparison import sections

        def has_table(name: str) -> bool:
            return all(name in result.tables for result in compared.runs)

        super().__init__(lambda: sections(compared.runs), has_table, " against ".join(compared.names))

    def latency(self, op: str = "read", theme: Theme | None = None) -> go.Figure:
        """The share of requests of a kind ("read", "write", "trim", "flush") that is done within a time."""
        return self(f"distribution-{op}", theme)

    def timeline(self, theme: Theme | None = None) -> go.Figure:
        """Requests per second and write amplification over simulated time, above each other."""
        return self._stack(("throughput", "amplification-time"), "Over time", theme)

    def amplification(self, theme: Theme | None = None) -> go.Figure:
        """Bytes programmed for each byte that the host wrote, by cause."""
        return self("causes", theme)

    def preconditioning(self, theme: Theme | None = None) -> go.Figure:
        """Write amplification of each round that brought the drives into their states."""
        return self("preconditioning", theme)

    def errors(self, theme: Theme | None = None) -> go.Figure:
        """The raw bit error rates over simulated time, and re-reads. Needs `device.reliability`."""
        return self._stack(("error-rates", "read-again"), "Errors over time", theme)


class SweepPlots(Plots):
    """The charts of a sweep, drawn as its report draws them."""

    def __init__(self, sweep: Sweep) -> None:
        from outlast.report.sweep import sections_of

        super().__init__(lambda: sections_of(sweep), lambda _: True, sweep.summary["name"])
        self._summary = sweep.summary

    def figure(self, name: str | None = None, over: str | None = None, theme: Theme | None = None) -> go.Figure:
        """A figure over what varied, with error bars: `name` as in `result.json`, by default the sweep's first.

        `over` is one of the settings that vary, by default the first; of a grid the others are curves.
        """
        from outlast.report.sweep import curve

        spec = self._summary["sweep"]
        names, varied = spec["figures"], [figures.called(axis) for axis in spec["vary"]]
        wanted = names[0] if name is None else name
        if wanted not in names:
            raise OutputError(f'no chart "{wanted}" of {self._of}: figures = ["{wanted}"] of the sweep makes it')
        if over is not None and over not in varied:
            raise OutputError(f'over = "{over}": what varies is {", ".join(varied)}')
        chart = curve(self._summary, wanted, varied.index(over) if over else 0)
        if chart is None:
            raise OutputError(f'no chart "{wanted}" of {self._of}: no run has this figure')
        return drawn(chart, theme)

    def load(self, op: str = "read", theme: Theme | None = None) -> go.Figure:
        """Latency of "read" or "write" requests over the IOPS that were reached. Needs an axis that varies the load."""
        return self(f"load-{op}", theme)

    def front(self, theme: Theme | None = None) -> go.Figure:
        """All points by the first two figures of the Pareto front, those on it marked."""
        return self("front", theme)
