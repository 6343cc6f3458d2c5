"""Figures of results or of a sweep as a table: CSV with all digits, Markdown and LaTeX as a person reads them."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from outlast.errors import OutputError
from outlast.plots.words import tagless
from outlast.repeats_compared import KeptRepeats
from outlast.report.latency import OPS, ROWS
from outlast.report.names import heading, setting, spread, titled, written
from outlast.result import Result
from outlast.sweeps import Sweep, figures

FORMATS = ("csv", "markdown", "latex")
_LATEX = {
    "\\": r"\textbackslash{}", "&": r"\&", "%": r"\%", "$": r"\$", "#": r"\#", "_": r"\_", "{": r"\{", "}": r"\}",
    "~": r"\textasciitilde{}", "^": r"\textasciicircum{}", "±": r"$\pm$", "−": "$-$", "µ": r"\textmu{}", "–": "--",
    "\u202f": r"\,", "\u00a0": "~", "×": r"$\times$", "·": r"$\cdot$", "≤": r"$\le$", "≥": r"$\ge$", "≈": r"$\approx$",
    "→": r"$\to$", "∞": r"$\infty$", "°": r"\textdegree{}", "…": r"\ldots{}", "’": "'", "\n": " ", "--": "-{}-",
    # In the fonts that LaTeX begins with, these are other signs.
    "<": r"\textless{}", ">": r"\textgreater{}", "|": r"\textbar{}", '"': "''", "`": r"\textasciigrave{}",
}  # fmt: skip
_RAISED = str.maketrans("⁻⁰¹²³⁴⁵⁶⁷⁸⁹", "-0123456789")
_SIGNS = re.compile("|".join(("[⁻⁰¹²³⁴⁵⁶⁷⁸⁹]+", *map(re.escape, _LATEX))))
_MARKDOWN = str.maketrans({"\n": "<br>"} | {sign: f"\\{sign}" for sign in "\\|<*`"})
HEADLINES = (
    "throughput.iops",
    "throughput.read_mib_s",
    "throughput.write_mib_s",
    "latency_us.read.mean",
    "latency_us.read.p99",
    "latency_us.write.mean",
    "latency_us.write.p99",
    "write_amplification.total",
    "reliability.exact.after_stripe.log10_uber",
)
"""Figures of a table of results where none are named."""


@dataclass(frozen=True)
class Tabular:
    """A table twice: exact values for machines, and texts for people."""

    titles: list[str]
    """Titles for people, with units."""
    keys: list[str]
    """Names of columns for machines."""
    exact: list[list[Any]]
    shown: list[list[str]]
    left: int = 1
    """Columns at the left that hold names, not numbers."""

    def text(self, form: str) -> str:
        """The table in one of `FORMATS`."""
        return {"csv": self._csv, "markdown": self._markdown, "latex": self._latex}[form]()

    def _csv(self) -> str:
        out = io.StringIO()
        writer = csv.writer(out, lineterminator="\n")
        writer.writerow(self.keys)
        writer.writerows([["" if value is None else value for value in row] for row in self.exact])
        return out.getvalue()

    def _markdown(self) -> str:
        rule = ["---" if index < self.left else "--:" for index in range(len(self.titles))]
        lines = [self.titles, rule, *self.shown]
        return "".join(f"| {' | '.join(cell.translate(_MARKDOWN) for cell in line)} |\n" for line in lines)

    def _latex(self) -> str:
        columns = "l" * self.left + "r" * (len(self.titles) - self.left)
        head, *rows = [r" & ".join(map(latex, row)) + r" \\" for row in (self.titles, *self.shown)]
        # After the end of a row these begin an argument of it.
        rows = [f"{{}}{row}" if row.startswith(("[", "*")) else row for row in rows]
        lines = [
            "% needs \\usepackage{booktabs, textcomp}",
            rf"\begin{{tabular}}{{{columns}}}",
            *(r"\toprule", head, r"\midrule", *rows, r"\bottomrule"),
            r"\end{tabular}",
        ]
        return "\n".join(lines) + "\n"


def latex(text: str) -> str:
    """Text for LaTeX, with its signs escaped."""

    def written_out(sign: re.Match[str]) -> str:
        return _LATEX.get(sign[0]) or f"$^{{{sign[0].translate(_RAISED)}}}$"

    return _SIGNS.sub(written_out, text)


def of_results(results: Sequence[Result], names: Sequence[str] = ()) -> Tabular:
    """A column for each result and a row for each figure, by dotted name; by default the headlines that any has."""
    flat = [figures.flat(result.summary) for result in results]
    wanted = _known(names) or [name for name in HEADLINES if any(figures.number(own, name) is not None for own in flat)]
    titles = [result.summary["name"] for result in results]
    exact = [[name, *(figures.number(own, name) for own in flat)] for name in wanted]
    shown = [[tagless(heading(name)), *(written(name, value) for value in row[1:])] for name, row in _named(exact)]
    return Tabular(["", *titles], ["figure", *titles], exact, shown)


def latency_of(results: Sequence[Result]) -> Tabular:
    """Percentiles of the latency by kind of request, in microseconds for machines."""
    columns = [
        (result, op)
        for result in results
        for op in OPS
        if result.summary["latency_us"].get(op)
    ]  # fmt: skip
    if not columns:
        raise OutputError("no request was timed in this run")
    several = len(results) > 1
    titles = [f"{result.summary['name']}, {op}" if several else op for result, op in columns]
    exact = [[key, *(result.summary["latency_us"][op].get(key) for result, op in columns)] for key, _ in ROWS]
    shown = [
        [title, *(written(f"latency_us.read.{key}", value) for value in row[1:])]
        for (key, title), row in zip(ROWS, exact, strict=True)
    ]
    return Tabular(["latency", *titles], ["latency_us", *titles], exact, shown)


def of_sweep(sweep: Sweep, names: Sequence[str] = ()) -> Tabular:
    """A row for each point: what varies, and the mean of each figure with half its confidence interval."""
    spec = sweep.summary["sweep"]
    axes = [figures.called(axis) for axis in spec["vary"]]
    known = list(sweep.points[0]["figures"])
    for name in names:
        if name not in known:
            raise OutputError(f'figure "{name}": this sweep has {", ".join(known)}')
    wanted = list(names) or known
    keys = [*axes, *(key for name in wanted for key in (name, f"{name}.half"))]
    exact, shown = [], []
    for point in sweep.points:
        values = [point["values"][axis] for axis in axes]
        stats = [(name, point["figures"][name]) for name in wanted]
        exact.append([*values, *(value for _, own in stats for value in (own["mean"], own["half"]))])
        shown.append([*map(str, values), *(_mean(name, own) for name, own in stats)])
    titles = [*(tagless(setting(axis)) for axis in axes), *(tagless(heading(name)) for name in wanted)]
    return Tabular(titles, keys, exact, shown, left=len(axes))


def of_repeats(repeats: Sequence[KeptRepeats], names: Sequence[str] = ()) -> Tabular:
    """A row for each figure, and its mean over the runs of each set of repeats with half its confidence interval."""
    wanted = _known(names) or [name for name in HEADLINES if any(name in own.figures for own in repeats)]
    titles = [own.name for own in repeats]
    keys = ["figure", *(key for title in titles for key in (title, f"{title}.half"))]
    exact, shown = [], []
    for name in wanted:
        stats = [own.statistics(name) for own in repeats]
        exact.append([name, *(value for own in stats for value in (own["mean"], own["half"]))])
        shown.append([tagless(heading(name)), *(_mean(name, own) for own in stats)])
    return Tabular(["", *titles], keys, exact, shown)


def runs_of(repeats: KeptRepeats) -> Tabular:
    """Every figure of each run of a set of repeats, a row for each."""
    return _of_columns(repeats.columns)


def columns_of(result: Result, table: str) -> Tabular:
    """One of the tables of a result as it is."""
    return _of_columns(result.columns(table))


def _of_columns(columns: Mapping[str, Any]) -> Tabular:
    keys = list(columns)
    rows = [list(row) for row in zip(*(list(columns[key]) for key in keys), strict=True)]
    exact = [[value.item() if hasattr(value, "item") else value for value in row] for row in rows]
    shown = [
        ["" if value is None else f"{value:.6g}" if isinstance(value, float) else str(value) for value in row]
        for row in exact
    ]
    return Tabular([tagless(titled(key)) for key in keys], keys, exact, shown, left=0)


def _known(names: Sequence[str]) -> list[str]:
    for name in names:
        if not figures.is_figure(name):
            raise OutputError(f'figure "{name}": no such figure; {figures.hint(name)}')
    return list(names)


def _named(rows: list[list[Any]]) -> list[tuple[str, list[Any]]]:
    return [(row[0], row) for row in rows]


def _mean(name: str, stats: dict[str, Any]) -> str:
    if stats["mean"] is None:
        return "–"
    mean = written(name, stats["mean"])
    if not stats["half"] or name.endswith("log10_uber"):
        return mean
    return f"{mean} ± {spread(name, stats['half'], stats['mean'])}"
