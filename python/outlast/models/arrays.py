"""Data loss of arrays: while a device is rebuilt, by a second failure, and in the long run."""

from __future__ import annotations

from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from outlast import _core
from outlast._core import ModelError
from outlast.models.columns import Floats, Result, columns, count, flag, floats, from_log, logs_of, runs, shaped


def data_loss(uber: ArrayLike, bits: ArrayLike, *, log: bool = False) -> Result:
    """Data loss probability of a rebuild: that a bit is unreadable on one of the survivors.

    `DLP = 1 − Π_i (1 − UBER_i)^{bits_i}` (Diff-RAID, section 4). The last axis of `uber` (per bit read) holds the
    survivors; `bits`, what is read of each, broadcasts against it. The result has the shape without that axis. With
    `log`, `uber` and the result are natural logarithms. Raises `ModelError` for a rate that is no probability or
    negative bits.
    """
    logs = logs_of("uber", uber, log=log)
    if logs.ndim == 0 or logs.shape[-1] == 0:
        raise ModelError(f"uber: has shape {logs.shape}: must have a last axis, for one surviving device or more")
    read = floats("bits", bits)
    try:
        shape = np.broadcast_shapes(logs.shape, read.shape)
    except ValueError as error:
        raise ModelError(f"shapes do not broadcast: uber {logs.shape}, bits {read.shape}") from error
    pairs = np.concatenate([np.broadcast_to(logs, shape), np.broadcast_to(read, shape)], axis=-1)
    values = _core.model_ln_data_loss(np.ascontiguousarray(pairs).reshape(-1), shape[-1])
    return from_log(values, shape[:-1], log=log)


def array_loss(
    uber: ArrayLike, bits: float, *, failed: Literal["oldest", "any"] = "oldest", log: bool = False
) -> Result:
    """Data loss probability of an array when one of its devices has failed (Diff-RAID, section 4).

    The last axis of `uber` holds all devices, the failed one included. `oldest`: the one with the highest rate has
    failed; `any`: the mean over the failure of each. `bits` is what is read of each survivor. Otherwise as
    `data_loss()`.
    """
    column, devices, shape = runs("uber", logs_of("uber", uber, log=log))
    return from_log(_core.model_ln_array_loss(column, devices, float(bits), failed), shape, log=log)


def data_loss_with_parity(
    uber: ArrayLike, *, chunk_bits: float, stripes: float, spare_parities: int = 0, log: bool = False
) -> Result:
    """Data loss probability of a rebuild while there is still parity to spare.

    A chunk of `chunk_bits` is unreadable with probability `1 − (1 − UBER_i)^chunk_bits`; each of `stripes` stripes
    has one on each survivor and is lost if more than `spare_parities` are. With none to spare this is `data_loss()`
    of all bits. The last axis of `uber` holds the survivors. Chunks are taken to fail independently.
    """
    column, devices, shape = runs("uber", logs_of("uber", uber, log=log))
    spare = count("spare_parities", spare_parities, 0, max(devices - 1, 0))
    values = _core.model_ln_data_loss_with_parity(column, devices, float(chunk_bits), float(stripes), spare)
    return from_log(values, shape, log=log)


def read_failure(uber: ArrayLike, bits_read: ArrayLike, *, log: bool = False) -> Result:
    """Probability of a read failure in a rebuild: `P_rf = 1 − (1 − UBER)^{S_read}` (Reparo, Equation 2).

    `bits_read` is S_read in bits. Arguments broadcast. With `log`, `uber` and the result are natural logarithms.
    """
    logs = logs_of("uber", uber, log=log)
    (rates, bits), shape = columns(uber=logs, bits_read=bits_read)
    values = _core.model_ln_data_loss(np.ascontiguousarray(np.stack([rates, bits], axis=-1)).reshape(-1), 1)
    return from_log(values, shape, log=log)


def second_failures(mttr: ArrayLike, mttf: ArrayLike, devices: ArrayLike) -> Result:
    """Expected further failures during a rebuild: `P_2 = MTTR·(n − 1) / MTTF` (Reparo, Equation 1).

    `mttr` and `mttf` in the same unit of time, `devices` n at least 2; broadcast. It is no probability where it nears
    1.
    """
    (repair, failure, number), shape = columns(mttr=mttr, mttf=mttf, devices=devices)
    return shaped(_core.model_second_failures(repair, failure, number, exact=False), shape)


def double_failure(mttr: ArrayLike, mttf: ArrayLike, devices: ArrayLike, *, log: bool = False) -> Result:
    """Probability of a further failure during a rebuild: `1 − e^−P_2` with P_2 of `second_failures()`.

    Equation 1 of Reparo is its first term. Arguments and errors as `second_failures()`.
    """
    (repair, failure, number), shape = columns(mttr=mttr, mttf=mttf, devices=devices)
    return from_log(_core.model_second_failures(repair, failure, number, exact=True), shape, log=log)


def any_failure(parts: ArrayLike, probability: ArrayLike, *, log: bool = False) -> Result:
    """Probability that at least one of `parts` like parts fails, each with `probability`: `1 − (1 − p)^n`.

    Of dies: an SSD loses a die (Reparo, footnote 2 and Figure 1b). Of SSDs: a group is rebuilt (footnote 4 and Figure
    3).
    """
    table, shape = columns(parts=parts, probability=probability)
    return from_log(_core.model_ln_any_failure(*table), shape, log=log)


def mttdl_mirrors(
    devices: ArrayLike, copies: ArrayLike, mttf: ArrayLike, mttr: ArrayLike, *, read_failure: ArrayLike = 0.0
) -> Result:
    """Mean time to data loss of RAID-10: `copies` of each chunk on neighbouring devices, as md's near layout has them.

    A Markov chain over the failed devices, each repaired by itself. Data are lost when a set of copies is gone, or when
    the repair of a device that can be read from one other only meets an unreadable sector (`read_failure`). Exact for
    two copies on an even number of devices: with one pair `(3λ + μ) / (2λ·(λ + μ·h))`.

    Arguments broadcast. Raises `ModelError` unless devices ≥ copies ≥ 2, mttf > 0, mttr > 0, 0 ≤ read_failure ≤ 1;
    where devices are no multiple of the copies, sets overlap and at most 8 copies on 64 devices are counted.
    """
    failure, repair = _rate("mttf", mttf), _rate("mttr", mttr)
    table, shape = columns(
        devices=devices, copies=copies, failure_rate=failure, repair_rate=repair, read_failure=read_failure
    )
    return shaped(_core.model_mttdl_mirrors(table), shape)


def _rate(name: str, mean_time: ArrayLike) -> Floats:
    time = floats(name, mean_time)
    if not (time > 0.0).all():
        raise ModelError(f"{name} = {time[~(time > 0.0)].flat[0]:g}: must be above 0")
    return 1.0 / time


def mttdl(
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
    """Mean time to data loss of an array that survives `parities` failures, in the unit of `mttf` and `mttr`.

    See `mttdl_mirrors` for RAID-10.

    A Markov chain over the failed devices (each fails at 1/MTTF; repairs at 1/MTTR, one after the other or in
    parallel) and whether a survivor has a latent error (`latent_rate` per device and unit of time; found by scrubbing
    at `scrub_rate`, or by a rebuild). Data are lost when one device too many fails, when a critical array meets a
    latent error, or when the rebuild of a critical array meets an unreadable sector, which has probability
    `read_failure` (see `read_failure()`). Without latent errors and for one parity: `((2n−1)·λ + μ) / (n·λ·((n−1)·λ +
    μ·h))`. Solved without subtraction.

    Arguments broadcast. Raises `ModelError` unless devices > parities, mttf > 0, mttr > 0, rates ≥ 0, 0 ≤
    read_failure ≤ 1.
    """
    failure, repair = _rate("mttf", mttf), _rate("mttr", mttr)
    table, shape = columns(
        devices=devices,
        parities=parities,
        failure_rate=failure,
        repair_rate=repair,
        latent_rate=latent_rate,
        scrub_rate=scrub_rate,
        read_failure=read_failure,
    )
    return shaped(_core.model_mttdl(table, flag("parallel_repair", parallel_repair)), shape)
