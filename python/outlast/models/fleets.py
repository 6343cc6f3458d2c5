"""Data loss of groups of drives by a given time, of chains in general, and of sets of nodes that are down at once."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from outlast import _core
from outlast._core import ModelError
from outlast.models.columns import Floats, Result, column, columns, count, flag, floats, from_log, shaped

YEAR_HOURS = 8760.0
"""Hours of a year of 365 days."""


def failure_rate(afr: ArrayLike) -> Result:
    """Failures per hour of one drive of which a share `afr` fails within a year: `−ln(1 − AFR) / 8760 h`.

    `afr` is from 0 to below 1, a number or an array; the result has its shape. Raises `ModelError` outside of that.
    """
    share = floats("afr", afr)
    bad = ~((share >= 0.0) & (share < 1.0))
    if bad.any():
        raise ModelError(f"afr = {share[bad].flat[0]:g}: must be from 0 to below 1")
    return shaped((-np.log1p(-share) / YEAR_HOURS).reshape(-1), share.shape)


def loss_by(
    time: ArrayLike,
    devices: ArrayLike,
    parities: ArrayLike,
    mttf: ArrayLike,
    mttr: ArrayLike,
    *,
    parallel_repair: bool = False,
    latent_rate: ArrayLike = 0.0,
    scrub_rate: ArrayLike = 0.0,
    read_failure: ArrayLike = 0.0,
) -> Result:
    """Probability that a group which survives `parities` failures has lost data by `time`, from 0 to 1.

    The chain of `mttdl()`, with the same arguments, all in one unit of time, solved by uniformisation (Jensen 1953)
    without subtraction, so that a probability of 1e-17 has ten digits and more. Copies are `devices = copies, parities
    = copies − 1`. With `parallel_repair` all failed devices are repaired at once, else one after the other.

    Arguments broadcast, and the result has the broadcast shape. Raises `ModelError` as `mttdl()` does, and for a
    negative time.
    """
    table, shape = columns(
        devices=devices,
        parities=parities,
        failure_rate=_rate("mttf", mttf),
        repair_rate=_rate("mttr", mttr),
        latent_rate=latent_rate,
        scrub_rate=scrub_rate,
        read_failure=read_failure,
        time=time,
    )
    return shaped(_core.model_loss_by(table, flag("parallel_repair", parallel_repair)), shape)


def loss_by_mirrors(
    time: ArrayLike,
    devices: ArrayLike,
    copies: ArrayLike,
    mttf: ArrayLike,
    mttr: ArrayLike,
    *,
    read_failure: ArrayLike = 0.0,
) -> Result:
    """Probability that RAID-10 has lost data by `time`: the chain of `mttdl_mirrors()`, solved as in `loss_by()`.

    Exact where devices are a multiple of the copies: sets of copies are then lost independently of each other.
    """
    table, shape = columns(
        devices=devices,
        copies=copies,
        failure_rate=_rate("mttf", mttf),
        repair_rate=_rate("mttr", mttr),
        read_failure=read_failure,
        time=time,
    )
    devices, copies = table[0], table[1]
    # Sets that do not overlap are lost independently of each other: the chain of one of them is exact.
    apart = (copies >= 2) & (devices >= copies) & (np.fmod(devices, np.maximum(copies, 1.0)) == 0.0)
    one = _core.model_loss_by_mirrors([np.where(apart, copies, devices), *table[1:]])
    sets = np.where(apart, devices / np.maximum(copies, 1.0), 1.0)
    with np.errstate(divide="ignore"):
        return shaped(-np.expm1(sets * np.log1p(-np.asarray(one))), shape)


def chain_loss_by(rates: ArrayLike, loss: ArrayLike, time: float, steps: int = 1) -> Floats:
    """Probabilities that a Markov chain has been absorbed by `time`/`steps`, 2·`time`/`steps`, … `time`.

    `rates` is square, from the state of the row to that of the column, per unit of `time` (the diagonal is ignored);
    `loss` has the rate from each state to loss. The chain begins in state 0 and has at most 600 states. The result has
    `steps` numbers, accurate to ten digits and more however small they are. Raises `ModelError` for a negative rate, a
    matrix that is not square, or more than 2^90 departures within the time.
    """
    table, ends = _chain(rates, loss)
    number = count("steps", steps, 1, 1_000_000)
    return _core.model_chain_loss_by(table, ends, float(time) / number, number)


def chain_mean(rates: ArrayLike, loss: ArrayLike) -> float:
    """Mean time to absorption of a Markov chain as in `chain_loss_by()`, from state 0, in the unit of its rates.

    By elimination of states without subtraction (Grassmann, Taksar, Heyman, Operations Research 33(5), 1985). Raises
    `ModelError` also if loss is not certain to come.
    """
    return _core.model_chain_mean(*_chain(rates, loss))


def sets_lost(
    nodes: ArrayLike,
    down: ArrayLike,
    size: ArrayLike,
    survives: ArrayLike,
    sets: ArrayLike,
    *,
    disjoint: bool = False,
    log: bool = False,
) -> Result:
    """Probability that data are lost when `down` of `nodes` nodes are gone at once (Cidon et al., "Copysets", 2013).

    Data lie on `sets` sets of `size` nodes each, of which one is lost when more than `survives` of its nodes are down
    (copies less one, or parities). Sets are drawn independently of each other, as random placement does, `1 − (1 −
    p)^sets` with p from a hypergeometric tail; with `disjoint` no two share a node, as in one permutation. `log` gives
    natural logarithms. Arguments broadcast. Raises `ModelError` for counts that do not fit each other.
    """
    table, shape = columns(nodes=nodes, down=down, size=size, survives=survives, sets=sets)
    return from_log(_core.model_ln_sets_lost(table, flag("disjoint", disjoint)), shape, log=log)


def _chain(rates: ArrayLike, loss: ArrayLike) -> tuple[Floats, Floats]:
    table, ends = floats("rates", rates), column("loss", loss)
    if table.shape != (ends.size, ends.size):
        raise ModelError(f"rates: has shape {table.shape}: must be {ends.size} by {ends.size}, as loss has {ends.size}")
    return np.ascontiguousarray(table).reshape(-1), ends


def _rate(name: str, mean_time: ArrayLike) -> Floats:
    time = floats(name, mean_time)
    if not (time > 0.0).all():
        raise ModelError(f"{name} = {time[~(time > 0.0)].flat[0]:g}: must be above 0")
    return 1.0 / time
