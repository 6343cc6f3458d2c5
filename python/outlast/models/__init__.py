"""Closed forms: error rates of pages and stripes, data loss and ages of arrays, lifetime, write amplification.

    from outlast import models

    rber = models.rber("msapl", [1000, 8000, 16000])          # errors per bit after so many P/E cycles
    models.uper(rber, n=8192, k=8, stripe=8, parities=1)      # uncorrectable page error rate

Arguments are numbers or numpy arrays, which broadcast; results have the broadcast shape, and numbers give a number.
Probabilities are exact to 1e-10 of themselves down to 1e-300; `log=True` gives natural logarithms, to any size. What an
equation has no answer for raises `outlast.ModelError`, a `ValueError` that names argument, value and domain.

"mSAPL" is Kim and Park, Electronics 2020; "Diff-RAID" Balakrishnan et al., EuroSys 2010; "Flexible" Greenan et al.,
HotDep 2009; "Reparo" Hong et al., ACM TOS 2021; "HRM" Kim et al., FAST 2019; "Mielke" Mielke et al., IRPS 2008.
"""

from __future__ import annotations

from outlast._core import ModelError
from outlast.models.ages import Replacements, aging_rates, converges, replacements, steady_ages
from outlast.models.amplification import (
    HotCold,
    effective_spare,
    parity_overhead,
    spare_for,
    waf,
    waf_hot_cold,
    waf_isolated,
    waf_with_parity,
)
from outlast.models.arrays import (
    any_failure,
    array_loss,
    data_loss,
    data_loss_with_parity,
    double_failure,
    mttdl,
    mttdl_mirrors,
    read_failure,
    second_failures,
)
from outlast.models.chips import Chip, Measured, Range, acceleration, chips, cycles_to_reach, measured, rber
from outlast.models.dies import (
    balanced_spaces,
    extra_space,
    isolated_increase,
    shared_increase,
    survivable_failures,
)
from outlast.models.fleets import (
    chain_loss_by,
    chain_mean,
    failure_rate,
    loss_by,
    loss_by_mirrors,
    sets_lost,
)
from outlast.models.life import ArrayLife, array_life
from outlast.models.lifetime import Drive, Life, Worn
from outlast.models.pages import (
    cper,
    dper,
    mds_uper,
    page_loss,
    product_rectangles,
    product_uper,
    stripe_loss,
    two_level_uper,
    uber,
    undetected,
    unlike_stripe_loss,
    uper,
)

__all__ = [
    "ArrayLife",
    "Chip",
    "Drive",
    "HotCold",
    "Life",
    "Measured",
    "ModelError",
    "Range",
    "Replacements",
    "Worn",
    "acceleration",
    "aging_rates",
    "any_failure",
    "array_life",
    "array_loss",
    "balanced_spaces",
    "chain_loss_by",
    "chain_mean",
    "chips",
    "converges",
    "cper",
    "cycles_to_reach",
    "data_loss",
    "data_loss_with_parity",
    "double_failure",
    "dper",
    "effective_spare",
    "extra_space",
    "failure_rate",
    "isolated_increase",
    "loss_by",
    "loss_by_mirrors",
    "mds_uper",
    "measured",
    "mttdl",
    "mttdl_mirrors",
    "page_loss",
    "parity_overhead",
    "product_rectangles",
    "product_uper",
    "rber",
    "read_failure",
    "replacements",
    "second_failures",
    "sets_lost",
    "shared_increase",
    "spare_for",
    "steady_ages",
    "stripe_loss",
    "survivable_failures",
    "two_level_uper",
    "uber",
    "undetected",
    "unlike_stripe_loss",
    "uper",
    "waf",
    "waf_hot_cold",
    "waf_isolated",
    "waf_with_parity",
]


def __dir__() -> list[str]:
    """Names that editors and notebooks complete."""
    return __all__
