"""Raw bit error rates, and the chips whose rates are published."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

from numpy.typing import ArrayLike

from outlast import _core
from outlast._core import ModelError
from outlast.models.columns import Result, columns, scalar, shaped
from outlast.notebook.listing import Listing
from outlast.plain_values import name_of, path_of

Ends: TypeAlias = tuple[float, float] | None
"""The least and the greatest value; `None` where the source does not say, or the rates do not depend on it."""


@dataclass(frozen=True)
class Range:
    """Conditions under which the error rates of a chip were measured, or which their source itself uses."""

    cycles: Ends = None
    days: Ends = None
    reads: Ends = None
    temperature: Ends = None


@dataclass(frozen=True)
class Chip:
    """A published chip."""

    name: str
    model: Mapping[str, Any]
    """Form and coefficients, as in `device.reliability.model` of a scenario."""
    end_of_life_cycles: int
    """P/E cycles that the source treats as the end of its life."""
    source: str
    trust: str
    """`paper`: the numbers stand in the text; `code`: two public programs have them; `recalled`: plausible."""
    title: str
    """Name for people."""
    bits_per_cell: int
    range: Range
    reference_temperature: float | None
    """°C that its times of retention are of; `None` where the source does not say."""


@dataclass(frozen=True)
class Measured:
    """Error model fitted to a file of measurements: see `measured()`."""

    model: Mapping[str, Any]
    """Form and coefficients, as `device.reliability.model` has them in a scenario."""
    page_types: Mapping[str, float]
    """The factor of each page type, of mean 1; empty where the file has none."""
    range: Range
    reference_temperature: float | None
    rows: Sequence[Mapping[str, Any]]
    """Line, condition, measured rates and fitted rates of each row."""
    estimates: Sequence[Mapping[str, Any]]
    """Coefficients with their standard errors; `is_relative`: the error is that of the logarithm."""
    rms_log10: float
    """Root of the mean square of log10(fitted / measured)."""
    spread_log10: float
    """Standard deviation of log10 of the rates about the model, beyond what counting explains."""


ModelLike: TypeAlias = str | Chip | Measured | Mapping[str, Any]
"""The name of a chip, a chip, what a file gave, or a form with its coefficients."""


def _range(ends: Mapping[str, Sequence[float]]) -> Range:
    return Range(**{name: (low, high) for name, (low, high) in ends.items()})


def chips() -> dict[str, Chip]:
    """The published chips by name: three of HRM, one of mSAPL, twelve of Diff-RAID. In a notebook it is a table."""
    known = json.loads(_core.model_chips())
    by_name = {chip["name"]: Chip(**chip | {"range": _range(chip["range"])}) for chip in known}
    return Listing(by_name, TITLES, lambda _, chip: chip_row(chip))


LIMITS = {"activation_energy": (0.0, 3.0, "eV"), "reference_temperature": (-100.0, 300.0, "°C")}
"""Limits of what times are converted with, those of `device.reliability`, and their units."""
TITLES = ("chip", "what it is", "bits a cell", "P/E cycles", "days", "reads", "source")


def chip_row(chip: Chip) -> tuple[str, ...]:
    """A chip as a line of a table with `TITLES`: where its rates are known, and who published them."""
    ends = (shown_ends(getattr(chip.range, name)) for name in ("cycles", "days", "reads"))
    source = chip.source.split(",")[0] + ("" if chip.trust == "paper" else f" ({chip.trust})")
    return chip.name, chip.title, str(chip.bits_per_cell), *ends, source


def shown_ends(ends: Ends) -> str:
    """Range in words; a dash if unknown."""
    return "–" if ends is None else f"{ends[0]:,.6g} to {ends[1]:,.6g}"


def measured(
    file: str | Path,
    *,
    fit: str = "power-law",
    activation_energy: float = 1.1,
    reference_temperature: float | None = None,
) -> Measured:
    """Fits an error model to a CSV file, as `device.reliability.chip` does: see docs/guide/chips.md.

    `fit` is `power-law`, `exponential` or `interpolate`. Raises `ModelError` with line and column of what is wrong.
    """
    path = path_of(file, "a chip of your own is the path of its file", ModelError)
    _check_limits(activation_energy=activation_energy, reference_temperature=reference_temperature)
    try:
        text = path.read_text(encoding="utf-8-sig")
    except OSError as error:
        raise ModelError(f"{file}: cannot be read: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise ModelError(f"{file}: not UTF-8") from error
    found = json.loads(
        _core.model_measured(str(path), text, name_of(fit, "fit", ModelError), activation_energy, reference_temperature)
    )
    model = found["measured"]
    factors = model.get("page_types", {"factors": []})["factors"]
    return Measured(
        model=model["model"],
        page_types=dict(zip(found["types"], factors, strict=False)),
        range=_range(model["range"]),
        reference_temperature=model.get("temperature"),
        rows=found["rows"],
        estimates=found["estimates"],
        rms_log10=model["rms_log10"],
        spread_log10=found["spread_log10"],
    )


def _check_limits(**values: float | None) -> None:
    for name, value in values.items():
        low, high, unit = LIMITS[name]
        if value is not None and not low <= scalar(name, value) <= high:
            raise ModelError(f"{name} = {value:g}: must be between {low:g} and {high:g} {unit}")


def acceleration(reference: float, temperature: float, activation_energy: float = 1.1) -> float:
    """Arrhenius factor by which charge is lost faster at `temperature` than at `reference`, both in °C.

    The activation energy is in electronvolts; 1.1 is that of JEDEC's JESD218 and JESD47.
    """
    energy = scalar("activation_energy", activation_energy)
    return _core.model_acceleration(energy, scalar("reference", reference), scalar("temperature", temperature))


def model_json(model: ModelLike) -> str:
    """The model as the core reads it."""
    if isinstance(model, Chip | Measured):
        return json.dumps(dict(model.model))
    if isinstance(model, Mapping):
        return json.dumps(dict(model))
    known = chips()
    if name_of(model, "a chip", ModelError) not in known:
        import difflib

        near = difflib.get_close_matches(str(model), known, n=1, cutoff=0.5)
        hint = f'did you mean "{near[0]}"?' if near else f"there are {', '.join(known)}"
        raise ModelError(f'chip = "{model}": no such chip; {hint}')
    return json.dumps(dict(known[model].model))


def rber(model: ModelLike, cycles: ArrayLike, days: ArrayLike = 0.0, reads: ArrayLike = 0.0) -> Result:
    """Raw bit error rate, in errors per bit read, at most 0.5.

    - `power-law`: `ε + α·c^k + β·c^m·t^n + γ·c^p·r^q` (HRM, Equation 1);
    - `exponential`: `a·e^(b·c)` (mSAPL, Equation 1);
    - `two-point`: `a·e^(b·c)` through two measured points (Diff-RAID, Table 1; what lies between is assumed);
    - `grid`: straight lines between measurements.

    `cycles` are P/E cycles c of the block, `days` t since the data were written, `reads` r since the erasure: at
    least 0, broadcast. Raises `ModelError` for other values, an unknown chip, or coefficients with which the rate
    would fall.
    """
    table, shape = columns(cycles=cycles, days=days, reads=reads)
    return shaped(_core.model_rber(model_json(model), *table), shape)


def cycles_to_reach(model: ModelLike, rber: ArrayLike, days: ArrayLike = 0.0, reads: ArrayLike = 0.0) -> Result:
    """P/E cycles at which the raw bit error rate reaches `rber` (errors per bit), the inverse of `rber()`.

    0 if it starts there, infinity if 1e12 cycles do not suffice. Relative accuracy 1e-12; shapes and errors as
    `rber()`.
    """
    table, shape = columns(rber=rber, days=days, reads=reads)
    return shaped(_core.model_cycles_to_reach(model_json(model), *table), shape)
