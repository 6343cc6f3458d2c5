"""Repeats of two scenarios beside each other: differences of means with their intervals, and how likely chance is."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from outlast import foreign, tables
from outlast.errors import OutputError
from outlast.sweeps.statistics import mean_of, student_probability, student_quantile

CONFIDENCE = 0.95
PAIRED, WELCH = "paired", "Welch"


@dataclass(frozen=True)
class FigureTest:
    """A figure of two sets of repeats, tested for a difference of its mean."""

    figure: str
    method: str
    """`paired`: pairs of runs with one seed. `Welch`: independent runs, of which the variances may differ."""
    means: tuple[float, float]
    difference: float
    """The second mean less the first."""
    half: float
    """Half-width of the 95 % interval of the difference."""
    freedom: int
    """Degrees of freedom of Student's distribution; Welch's are rounded down, which widens the interval."""
    p: float
    """Probability of a difference at least this large, either way, where the means do not differ."""

    @property
    def differs(self) -> bool:
        """True if the interval of the difference does not contain zero."""
        return abs(self.difference) > self.half

    def to_dict(self) -> dict[str, Any]:
        """The test by name."""
        return asdict(self) | {"means": list(self.means), "differs": self.differs}


@dataclass(frozen=True)
class KeptRepeats:
    """Repeats as a folder has them."""

    name: str
    figures: tuple[str, ...]
    columns: Mapping[str, Any]

    def statistics(self, figure: str) -> dict[str, Any]:
        """`count`, `mean`, `sd` and `half` of a figure over the runs that have it."""
        return vars(mean_of(list(self.by_seed(figure).values()), CONFIDENCE))

    def by_seed(self, figure: str) -> dict[int, float]:
        """Value of a figure by seed; runs without it are left out."""
        values = self.columns.get(figure, [])
        pairs = zip(self.columns["seed"], values, strict=False)
        return {int(seed): float(value) for seed, value in pairs if value is not None and not math.isnan(value)}


def is_repeats(place: str | Path) -> bool:
    """True if it is the folder of `outlast run --repeats --out`, or the repeats.json in it."""
    path = Path(place)
    return path.name == "repeats.json" or (path / "repeats.json").is_file()


def load_repeats(place: str | Path) -> KeptRepeats:
    """Repeats that were written to a folder."""
    path = Path(place)
    file = path if path.name == "repeats.json" else path / "repeats.json"
    try:
        summary = foreign.read(file)
        columns = tables.read(file.parent / "repeats.parquet")
        name, figures = str(summary["name"]), tuple(map(str, summary["figures"]))
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise OutputError(f"{file.parent}: no repeats: {error}") from error
    if "seed" not in columns:
        raise OutputError(f"{file.parent}: no repeats: repeats.parquet has no column seed")
    return KeptRepeats(name, figures, columns)


def figure_tests(first: KeptRepeats, second: KeptRepeats) -> list[FigureTest]:
    """A test of every figure that both have in two runs or more, in the order of the first.

    Runs are paired where both have the same seeds, since the same seed draws the same requests for both.
    """
    found = []
    for figure in first.figures:
        if figure not in second.figures:
            continue
        one, other = first.by_seed(figure), second.by_seed(figure)
        if min(len(one), len(other)) < 2:
            continue
        found.append(paired(figure, one, other) if set(one) == set(other) else welch(figure, one, other))
    return found


def paired(figure: str, one: Mapping[int, float], other: Mapping[int, float]) -> FigureTest:
    """Student's test of the differences of pairs."""
    differences = mean_of([other[seed] - one[seed] for seed in one], CONFIDENCE)
    assert differences.mean is not None and differences.sd is not None
    error = differences.sd / math.sqrt(differences.count)
    means = (math.fsum(one.values()) / len(one), math.fsum(other.values()) / len(other))
    return _tested(figure, PAIRED, means, differences.mean, error, differences.count - 1)


def welch(figure: str, one: Mapping[int, float], other: Mapping[int, float]) -> FigureTest:
    """Welch's test of two samples (Biometrika 34, 1947): degrees of freedom by Welch and Satterthwaite."""
    a, b = mean_of(list(one.values()), CONFIDENCE), mean_of(list(other.values()), CONFIDENCE)
    assert a.mean is not None and b.mean is not None and a.sd is not None and b.sd is not None
    parts = (a.sd**2 / a.count, b.sd**2 / b.count)
    below = parts[0] ** 2 / (a.count - 1) + parts[1] ** 2 / (b.count - 1)
    freedom = math.floor(sum(parts) ** 2 / below) if below > 0.0 else a.count + b.count - 2
    return _tested(figure, WELCH, (a.mean, b.mean), b.mean - a.mean, math.sqrt(sum(parts)), max(freedom, 1))


def _tested(
    figure: str, method: str, means: tuple[float, float], difference: float, error: float, freedom: int
) -> FigureTest:
    if error == 0.0:
        # Figures that no seed changes: any difference is one.
        return FigureTest(figure, method, means, difference, 0.0, freedom, 1.0 if difference == 0.0 else 0.0)
    p = max(0.0, 1.0 - student_probability(abs(difference) / error, freedom))
    return FigureTest(figure, method, means, difference, student_quantile(CONFIDENCE, freedom) * error, freedom, p)
