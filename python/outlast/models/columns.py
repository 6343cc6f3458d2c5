"""Broadcasting: arguments of any shapes are computed as one column, and the result gets their common shape again."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from outlast._core import ModelError
from outlast.plain_values import flag_of, shown

Floats: TypeAlias = NDArray[np.float64]
Result: TypeAlias = Any
"""A `float` if all arguments were numbers, else a numpy array of `float64`."""

_MOST_COUNT = 2**32 - 1


def floats(name: str, value: ArrayLike) -> Floats:
    """An argument as numbers."""
    try:
        array = np.asarray(value, dtype=np.float64)
    except (TypeError, ValueError, OverflowError) as error:
        raise ModelError(f"{name} = {shown(value)}: must be numbers") from error
    return array


def scalar(name: str, value: Any) -> float:
    """An argument that is one number."""
    array = floats(name, value)
    if array.ndim != 0 or isinstance(value, (str, bytes)) or value is None:
        raise ModelError(f"{name} = {shown(value)}: must be one number")
    return float(array)


def flag(name: str, value: Any) -> bool:
    """An argument that is True or False."""
    return flag_of(value, name, ModelError)


def column(name: str, value: ArrayLike) -> Floats:
    """An argument that is a list of numbers: one dimension."""
    array = floats(name, value)
    if array.ndim != 1:
        raise ModelError(f"{name}: has {array.ndim} dimensions: must be a list of numbers")
    return np.ascontiguousarray(array)


def columns(**arguments: ArrayLike) -> tuple[list[Floats], tuple[int, ...]]:
    """The arguments broadcast against each other as columns, and the shape that they have together."""
    arrays = [floats(name, value) for name, value in arguments.items()]
    try:
        shape = np.broadcast_shapes(*(array.shape for array in arrays))
    except ValueError as error:
        shapes = ", ".join(f"{name} {array.shape}" for name, array in zip(arguments, arrays, strict=True))
        raise ModelError(f"shapes do not broadcast: {shapes}") from error
    return [np.ascontiguousarray(np.broadcast_to(array, shape)).reshape(-1) for array in arrays], shape


def runs(name: str, value: ArrayLike) -> tuple[Floats, int, tuple[int, ...]]:
    """An argument whose last axis belongs together: its column, the length of that axis, and the shape without it."""
    array = floats(name, value)
    if array.ndim == 0 or array.shape[-1] == 0:
        raise ModelError(f"{name}: has shape {array.shape}: must have a last axis of at least one")
    return np.ascontiguousarray(array).reshape(-1), array.shape[-1], array.shape[:-1]


def shaped(values: Floats, shape: Sequence[int]) -> Result:
    """The column in its shape; a number if that has no axes."""
    return float(values[0]) if len(shape) == 0 else values.reshape(tuple(shape))


def from_log(values: Floats, shape: Sequence[int], *, log: bool) -> Result:
    """Logarithms as they are, or what they are of."""
    return shaped(values if log else np.exp(values), shape)


def to_log(values: Floats) -> Floats:
    """Natural logarithms of probabilities; 0 becomes minus infinity."""
    with np.errstate(divide="ignore", invalid="ignore"):
        logs: Floats = np.log(values)
    return logs


def logs_of(name: str, value: ArrayLike, *, log: bool) -> Floats:
    """Probabilities, or with `log` their logarithms, as logarithms."""
    array = floats(name, value)
    if log:
        return array
    bad = ~((array >= 0.0) & (array <= 1.0))
    if bad.any():
        raise ModelError(f"{name} = {array[bad].flat[0]:g}: must be within 0 to 1")
    return to_log(array)


def count(name: str, value: int, least: int = 0, most: int = _MOST_COUNT) -> int:
    """A whole number within its limits."""
    try:
        whole = int(value)
    except (TypeError, ValueError, OverflowError) as error:
        raise ModelError(f"{name} = {shown(value)}: must be a whole number") from error
    if whole != value or not least <= whole <= most:
        raise ModelError(f"{name} = {value}: must be a whole number from {least} to {most}")
    return whole
