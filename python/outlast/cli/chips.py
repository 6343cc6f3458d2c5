"""`outlast chips`."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from outlast.cli import complete
from outlast.cli.model.options import Numbers, output_options
from outlast.cli.model.sheet import Curve, Sheet
from outlast.cli.options import print_json

if TYPE_CHECKING:
    from outlast.models import Chip, Measured, Range

FORMS = {
    "power-law": "ε + α c^k + β c^m t^n + γ c^p r^q",
    "exponential": "a e^(b c)",
    "two-point": "the exponential through two measurements",
    "grid": "straight lines between measurements",
}
FITS = ("power-law", "exponential", "interpolate")
TRUST = {
    "paper": "the coefficients are printed in the source",
    "code": "the coefficients are those of independent public programs, not of the text of the source",
    "recalled": "the coefficients are quoted from memory: plausible, not verified",
}
QUANTITIES = (
    ("cycles", "P/E cycles"),
    ("days", "days since writing"),
    ("reads", "reads of the block"),
    ("temperature", "°C"),
)


@click.command(
    "chips",
    epilog="""\b
Examples:
  outlast chips
  outlast chips tlc-72-layer --days 0,90,365 --plot tlc.html
  outlast chips mine.csv --fit interpolate
  outlast chips mine.csv --json > fit.json""",
)
@click.argument("chip", required=False, shell_complete=complete.chips)
@click.option("--pe", type=Numbers(), help="P/E cycles of the table and chart. Default: where the rates are known.")
@click.option("--days", type=Numbers(), help="Days since writing: a curve for each. Default: 0, 30, 90 and 365.")
@click.option("--reads", type=float, default=0.0, show_default=True, help="Reads of the block since it was erased.")
@click.option(
    "--fit", type=click.Choice(["power-law", "exponential", "interpolate"]), help="For a file: the form of the fit."
)
@click.option(
    "--activation-energy",
    type=float,
    help="For a file: activation energy in electronvolts, for rows with different temperatures.",
)
@click.option("--reference-temperature", type=float, help="For a file: temperature in °C to which times are converted.")
@output_options
def chips_command(
    chip: str | None,
    pe: tuple[float, ...] | None,
    days: tuple[float, ...] | None,
    reads: float,
    fit: str | None,
    activation_energy: float | None,
    reference_temperature: float | None,
    as_json: bool,
    plot: Path | None,
) -> None:
    """List the chips that `device.reliability.chip` knows, or show CHIP: one of them, or a CSV file of measurements.

    For a chip, show its coefficients and its raw bit error rate over P/E cycles; for a file (its name
    ends in .csv), show the fit, and for each row the measured value, the fitted value and their ratio.
    """
    context = click.get_current_context()
    if chip is None:
        if plot is not None:
            raise click.UsageError("--plot needs a chip", context)
        _list(as_json)
        return
    of_file = {"--fit": fit, "--activation-energy": activation_energy, "--reference-temperature": reference_temperature}
    if chip.lower().endswith(".csv"):
        conditions = {"--pe": pe, "--days": days, "--reads": reads or None}
        _refuse(conditions, "is for published chips; of a file, its own rows are shown", context)
        energy = 1.1 if activation_energy is None else activation_energy
        _show_file(chip, fit or "power-law", energy, reference_temperature).emit(as_json=as_json, plot=plot)
        return
    _refuse(of_file, "is for files of measurements, which end in .csv", context)
    _show(chip, pe, days, reads).emit(as_json=as_json, plot=plot)


def _refuse(options: Mapping[str, object], why: str, context: click.Context) -> None:
    for name, value in options.items():
        if value is not None:
            raise click.UsageError(f"{name} {why}", context)


def _list(as_json: bool) -> None:
    from dataclasses import asdict

    from outlast import models

    known = models.chips().values()
    if as_json:
        print_json([asdict(chip) for chip in known])
        return
    from rich.box import SIMPLE_HEAD
    from rich.table import Table

    from outlast.cli.paper import Paper
    from outlast.models.chips import TITLES, chip_row

    table = Table(box=SIMPLE_HEAD, pad_edge=False)
    for title in TITLES:
        table.add_column(title, no_wrap=True)
    for chip in known:
        table.add_row(*chip_row(chip))
    console = Paper(highlight=False, soft_wrap=True)
    console.width = max(console.width, 130)
    console.print(table)
    console.print("Cycles, days and reads: where the rates are known. outlast chips NAME shows one.")
    console.print("A file of measurements (.csv) may stand wherever a chip is named.")


def _ranges(known: Range) -> dict[str, str]:
    """Ranges within which the rates of a chip are known, in words by quantity."""
    from outlast.models.chips import shown_ends

    found = {}
    for name, unit in QUANTITIES:
        if (ends := getattr(known, name)) is not None:
            found[name] = f"{shown_ends(ends)} {unit}"
    return found


def _coefficients(model: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in model.items() if not isinstance(value, list)}


def _show(name: str, pe: Sequence[float] | None, days: Sequence[float] | None, reads: float) -> Sheet:
    import numpy as np

    from outlast import models

    models.rber(name, 0.0)  # says which names there are
    chip: Chip = models.chips()[name]
    low, high = chip.range.cycles or (0.0, float(chip.end_of_life_cycles))
    cycles = pe or tuple(np.linspace(low, high, 21).tolist())
    ages = days or ((0.0, 30.0, 90.0, 365.0) if chip.model.get("beta", 0) else (0.0,))
    curves = [
        Curve(f"{age:g} days", models.rber(name, np.asarray(cycles), age, reads), {"days": age, "reads": reads})
        for age in ages
    ]
    settings: dict[str, Any] = {"bits_per_cell": chip.bits_per_cell, "end_of_life_cycles": chip.end_of_life_cycles}
    settings |= {"known_for": list(_ranges(chip.range).values()), "reference_temperature": chip.reference_temperature}
    return Sheet(
        model=f"chips {name}",
        title=f"{chip.title} ({name})",
        equation=f"RBER = {FORMS[chip.model['form']]}",
        source=chip.source,
        x_name="pe_cycles",
        x_label="P/E cycles",
        x=cycles,
        y_name="rber",
        y_label="raw bit error rate",
        curves=curves,
        settings=_coefficients(chip.model) | settings,
        notes=[_listed(_coefficients(chip.model)), TRUST[chip.trust], *_range_notes(chip, cycles, ages, reads)],
    )


def _listed(coefficients: Mapping[str, Any]) -> str:
    coefficients_text = [f"{name} = {value:g}" for name, value in coefficients.items() if name != "form"]
    return ", ".join(coefficients_text) or "no coefficients"


def _range_notes(chip: Chip, cycles: Sequence[float], days: Sequence[float], reads: float) -> list[str]:
    """Notes on the ranges within which rates are known, and a warning for each that the shown values leave."""
    from outlast.models.chips import shown_ends

    notes = []
    for (name, unit), values in zip(QUANTITIES, (cycles, days, [reads]), strict=False):
        ends = getattr(chip.range, name)
        if ends is not None:
            beyond = min(values) < ends[0] or max(values) > ends[1]
            more = "; values outside are extrapolated by the formula" if beyond else ""
            notes.append(f"known for {shown_ends(ends)} {unit}{more}")
    return notes


def _show_file(file: str, fit: str, energy: float, reference: float | None) -> Sheet:
    from outlast import models

    found: Measured = models.measured(file, fit=fit, activation_energy=energy, reference_temperature=reference)
    rows = sorted(found.rows, key=lambda row: (row["measured"], row["fitted"], row["line"]))
    ratios = [row["fitted"] / row["measured"] if row["measured"] > 0 else math.inf for row in rows]
    names = ("line", "pe_cycles", "days", "reads", "page_type", "temperature")
    facts = {name: [row[name] for row in rows] for name in names} | {"ratio": ratios}
    x = [row["measured"] for row in rows]
    settings = _coefficients(found.model) | {"fit": fit, "rows": len(rows), "rms_log10": found.rms_log10}
    settings |= {"spread_log10": found.spread_log10, "activation_energy": energy}
    settings |= {"reference_temperature": found.reference_temperature, "page_types": list(found.page_types.items())}
    settings |= {
        "known_for": list(_ranges(found.range).values()),
        "estimates": [dict(estimate) for estimate in found.estimates],
    }
    return Sheet(
        model=f"chips {file}",
        title=f"{file}: {fit} through {len(rows)} rows",
        equation=f"RBER = {FORMS[found.model['form']]}",
        source=file,
        x_name="measured",
        x_label="measured rate",
        x=x,
        y_name="rber",
        y_label="rate of the fit",
        curves=[Curve("fitted", [row["fitted"] for row in rows], facts), Curve("as measured", x)],
        settings=settings,
        log_x=True,
        notes=_fit_notes(found),
        summary=_residuals(found),
    )


def _fit_notes(found: Measured) -> list[str]:
    notes = [_listed({estimate["name"]: estimate["value"] for estimate in found.estimates})] if found.estimates else []
    for estimate in found.estimates:
        if estimate["error"] is None:
            notes.append(f"{estimate['name']}: not determined by these rows")
        else:
            unit = " (relative: of the natural logarithm)" if estimate["is_relative"] else ""
            notes.append(f"{estimate['name']}: standard error {estimate['error']:.2g}{unit}")
    if found.page_types:
        notes.append("page types: " + ", ".join(f"{name} {factor:.4g}" for name, factor in found.page_types.items()))
    notes += [f"known for {text}" for text in _ranges(found.range).values()]
    worst = max(
        (row for row in found.rows if row["measured"] > 0),
        key=lambda row: abs(math.log(row["fitted"] / row["measured"])),
        default=None,
    )
    notes.append(f"RMS of log10(fitted / measured): {found.rms_log10:.4f}")
    if worst is not None:
        notes.append(f"farthest: line {worst['line']}, fitted {worst['fitted'] / worst['measured']:.3g} times measured")
    if found.spread_log10 > 0:
        notes.append(f"spread of log10(measured / fitted) beyond counting statistics: {found.spread_log10:.4f}")
    return notes


def _residuals(found: Measured) -> tuple[list[str], list[list[str]]]:
    """A line for each row of the file."""
    titles = ["line", "P/E cycles", "days", "reads", "page type", "°C", "measured", "fitted", "ratio"]
    rows = []
    for row in found.rows:
        ratio = row["fitted"] / row["measured"] if row["measured"] > 0 else math.inf
        place = [str(row["line"]), *(f"{row[name]:,.6g}" for name in ("pe_cycles", "days", "reads"))]
        cells = [row["page_type"] or "–", "–" if row["temperature"] is None else f"{row['temperature']:g}"]
        rows.append([*place, *cells, f"{row['measured']:.3e}", f"{row['fitted']:.3e}", f"{ratio:.3f}"])
    return titles, rows
