"""Coefficients of Equation 1 as columns of Figure 3."""

from __future__ import annotations

from outlast import models
from outlast.products.reproduce.model import Row, Setting


def of(_: Setting, **labels: str) -> list[Row]:
    """Coefficients of the chip `model`, by their letters."""
    return [{name: value for name, value in models.chips()[labels["model"]].model.items() if name != "form"}]
