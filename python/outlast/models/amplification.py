"""Write amplification of garbage collection: flash writes over host writes, in the long run, under random writes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from outlast import _core
from outlast._core import ModelError
from outlast.models.columns import Result, columns, count, scalar, shaped
from outlast.plain_values import shown


class HotCold(NamedTuple):
    """Result of `waf_hot_cold()`."""

    waf: Result
    hot_spare: Result
    """The share of the spare space that hot data has."""


def waf(spare: ArrayLike, *, pages: ArrayLike | None = None) -> Result:
    """Greedy collection under uniform random writes: `WAF = α/(α + W(−α·e^−α))`, α = 1 + ρ, W Lambert's function.

    `spare` is ρ, physical over user space minus 1 (Xiang and Kurkoski 2011). FIFO collection has the same. `pages`
    mapping units to a block, if given, count in as Desnoyers 2012 does (good to 1 % from 16 on). Broadcast; raises
    `ModelError` unless spare > 0.
    """
    if pages is None:
        table, shape = columns(spare=spare)
        return shaped(_core.model_waf_greedy(*table), shape)
    table, shape = columns(spare=spare, pages=pages)
    return shaped(_core.model_waf_blocks(*table), shape)


def spare_for(waf: ArrayLike) -> Result:
    """The spare factor at which `waf()` gives this write amplification: `ρ = −ln(1 − 1/WAF)·WAF − 1`."""
    table, shape = columns(write_amplification=waf)
    return shaped(_core.model_spare_for(*table), shape)


def effective_spare(spare: ArrayLike, *, unusable: ArrayLike = 0.0, overhead: ArrayLike = 1.0) -> Result:
    """Spare factor that is left for collection: `(1 + ρ)·(1 − unusable)/overhead − 1`.

    `unusable` is the share of the flash that is lost (bad blocks, a die), `overhead` the pages of flash for each page
    of data (see `parity_overhead()`). HRM's 28 % are 20 % beside one parity to 15 pages. Raises `ModelError` if
    nothing is left.
    """
    table, shape = columns(spare=spare, unusable=unusable, overhead=overhead)
    return shaped(_core.model_effective_spare(*table), shape)


def parity_overhead(classes: Sequence[tuple[float, int, int]]) -> float:
    """Pages of flash for each page of data: `Σ w·N/(N − m)` over classes (share w, N pages, m of them parity)."""
    try:
        triples = [(w, n, m) for w, n, m in classes]
    except (TypeError, ValueError) as error:
        raise ModelError(f"classes = {shown(classes)}: must be a list of shares, pages and parities") from error
    rows = [(scalar("share", w), count("pages", n, 1), count("parities", m)) for w, n, m in triples]
    return _core.model_parity_overhead(rows)


def waf_with_parity(spare: ArrayLike, *, overhead: ArrayLike, unusable: ArrayLike = 0.0) -> Result:
    """Write amplification with parity in write order: `overhead · WAF(effective spare)`.

    Assumes that parity is written once, with its full stripe; parity of partial stripes comes on top.
    """
    table, shape = columns(spare=spare, unusable=unusable, overhead=overhead)
    return shaped(_core.model_waf_with_parity(*table), shape)


def waf_hot_cold(
    spare: ArrayLike, *, hot_space: ArrayLike, hot_writes: ArrayLike, hot_spare: ArrayLike | None = None
) -> HotCold:
    """Hot and cold data in streams of their own: `r·WAF(ρ·s/f) + (1 − r)·WAF(ρ·(1 − s)/(1 − f))`.

    `hot_space` f is the share of the user space that is hot, `hot_writes` r of the writes that go to it, `hot_spare`
    s of the spare space that it gets; without `hot_spare`, the division with the least write amplification (Desnoyers
    2012; Stoica and Ailamaki 2013). Broadcast.
    """
    division = np.nan if hot_spare is None else hot_spare
    table, shape = columns(spare=spare, hot_space=hot_space, hot_writes=hot_writes, hot_spare=division)
    values, split = _core.model_waf_hot_cold(*table)
    return HotCold(shaped(values, shape), shaped(split, shape))


def waf_isolated(
    spare: ArrayLike, *, space: ArrayLike, writes: ArrayLike = 1.0, pages: ArrayLike | None = None
) -> Result:
    """Uniform random writes through a reclaim unit handle of their own: `1 + f·(WAF(ρ/s) − 1)`, WAF that of `waf()`.

    `space` s is the share of the user space that they go to, `writes` f their share of the host's bytes; without it,
    the write amplification of the handle's own writes. The rest of the drive holds data that costs nothing by itself
    (logs, rings), so that the handle has all spare space ρ. With α = s/(s + ρ) the share p of a victim that is still
    valid solves α = (1 − p)/(−ln p), and no pattern of the handle's writes costs more than 1/(1 − p) (Desnoyers 2012;
    for a part of a drive Stoica and Ailamaki 2013). `pages` as in `waf()`. Broadcast; raises `ModelError`
    unless spare > 0, 0 < space <= 1 and 0 <= writes <= 1.
    """
    per_superblock = np.nan if pages is None else pages
    table, shape = columns(spare=spare, space=space, writes=writes, pages=per_superblock)
    return shaped(_core.model_waf_isolated(*table), shape)
