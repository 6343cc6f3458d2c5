"""The spare space of drives whose flash cores have lost dies (Reparo, section 5.2)."""

from __future__ import annotations

from numpy.typing import ArrayLike

from outlast import _core
from outlast.models.columns import Floats, Result, column, columns, scalar, shaped


def isolated_increase(dies_per_core: ArrayLike) -> Result:
    """Relative increase of the victim core's utilisation if it alone makes up for a die: `1/(x − 1)` (Table 1)."""
    table, shape = columns(dies_per_core=dies_per_core)
    return shaped(_core.model_isolated_increase(*table), shape)


def shared_increase(cores: ArrayLike, dies_per_core: ArrayLike) -> Result:
    """Relative increase of every core's space utilisation if all share the loss: `1/(N·x − 1)` (Table 2)."""
    table, shape = columns(cores=cores, dies_per_core=dies_per_core)
    return shaped(_core.model_shared_increase(*table), shape)


def extra_space(helper_space: ArrayLike, dies: ArrayLike) -> Result:
    """Logical space that each helper core takes over, `α = |LS_h|/(D_ssd − 1)` (Equation 4), in its unit."""
    table, shape = columns(helper_space=helper_space, dies=dies)
    return shaped(_core.model_extra_space(*table), shape)


def balanced_spaces(logical_space: float, dies_left: ArrayLike) -> Floats:
    """Logical space of each core for equal utilisations after any failures: in proportion to the dies left."""
    return _core.model_balanced_spaces(scalar("logical_space", logical_space), column("dies_left", dies_left))


def survivable_failures(utilisation: ArrayLike, dies: ArrayLike) -> Result:
    """Dies that can fail before logical space no longer fits: the most f with `u·D/(D − f) < 1`.

    `dies` are those that share the loss: a core's if it is on its own, else the drive's (footnote 6).
    """
    table, shape = columns(utilisation=utilisation, dies=dies)
    return shaped(_core.model_survivable_failures(*table), shape)
