"""What the spare space that a die takes with it costs under random writes, in closed form."""

from __future__ import annotations

import itertools

from outlast import models
from outlast.reproduce.reparo.common import UTILISATION

DROP = 0.10
"""Of the performance: what section 7.2.3 allows."""


def after(dies: int, failures: int, utilisation: float = UTILISATION) -> float:
    """Write amplification of those that share `dies`, beside before, when so many have failed."""
    return float(models.waf((dies - failures) / dies / utilisation - 1) / models.waf(1 / utilisation - 1))


def survived(dies: int, utilisation: float) -> int:
    """Die failures until performance, taken as 1 over write amplification, has dropped by more than 10 %."""
    return next(f - 1 for f in itertools.count(1) if 1 / after(dies, f, utilisation) < 1 - DROP)
