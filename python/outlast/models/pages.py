"""Error rates of pages, stripes and bits, given the raw bit error rate."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import cache
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from outlast import _core
from outlast._core import ModelError
from outlast.models.columns import Floats, Result, columns, count, flag, from_log, logs_of, runs, shaped
from outlast.plain_values import shown

Asked = Literal["uper", "ln_uper", "ln_stripe", "ln_page"]
_PAGES = 65_536


def _code(n: int, k: int, codewords: int) -> tuple[int, int, int]:
    bits = count("n", n, 1, 2**20)
    return bits, count("k", k, 0, bits), count("codewords", codewords, 1, _PAGES)


def cper(rber: ArrayLike, n: int = 8192, k: int = 8, *, codewords: int = 1, log: bool = False) -> Result:
    """Correctable page error rate: the probability that the ECC corrects the page.

    `CPER = Σ_{i=0..k} C(n,i)·p^i·(1−p)^(n−i)` with p = `rber` in errors per bit, n bits (data and parity) of a
    codeword and k corrected bits (mSAPL, Equation 2); to the power of `codewords`, those of a page.

    Shape of `rber`. Raises `ModelError` unless 0 ≤ rber ≤ 1, 1 ≤ n ≤ 2^20, k ≤ n.
    """
    (column,), shape = columns(rber=rber)
    return from_log(_core.model_page(column, *_code(n, k, codewords))[0], shape, log=log)


def dper(rber: ArrayLike, n: int = 8192, k: int = 8, *, codewords: int = 1, log: bool = False) -> Result:
    """Detectable page error rate: the page is not corrected, and known to be wrong.

    `DPER = Σ_{i=k+1..2k} C(n,i)·p^i·(1−p)^(n−i)` (mSAPL, Equation 3): an ECC that corrects k bits detects 2k. With
    several codewords: none has more than 2k wrong bits, and not all are corrected. Arguments and errors as `cper()`.
    """
    (column,), shape = columns(rber=rber)
    return from_log(_core.model_page(column, *_code(n, k, codewords))[1], shape, log=log)


def undetected(rber: ArrayLike, n: int = 8192, k: int = 8, *, codewords: int = 1, log: bool = False) -> Result:
    """Probability that a codeword of the page has more wrong bits than the ECC notices: `1 − CPER − DPER`.

    Summed as what it is, more than 2k of n bits wrong, not as that difference. Arguments and errors as `cper()`.
    """
    (column,), shape = columns(rber=rber)
    return from_log(_core.model_page(column, *_code(n, k, codewords))[2], shape, log=log)


def uper(
    rber: ArrayLike,
    n: int = 8192,
    k: int = 8,
    *,
    stripe: int = 8,
    parities: int = 0,
    codewords: int = 1,
    log: bool = False,
) -> Result:
    """Uncorrectable page error rate with `parities` pages of parity among the `stripe` pages of a stripe.

    Without parity `1 − CPER` (mSAPL, Equation 2); with m parities in N pages `(1/N)·(1 − Σ_{j=0..m}
    C(N,j)·CPER^(N−j)·DPER^j)`, which is Equation 4 for m = 1 and Equation 5 for m = 2 (whose DPER(n,k,k) is read as
    DPER(n,k,x)). A lost stripe counts as one lost page: see `page_loss()` for all that are lost.

    `rber` in errors per bit, any shape. Positive and rising however small: nothing is subtracted from 1. About ten
    million evaluations a second. Raises `ModelError` unless 0 ≤ rber ≤ 1, 1 ≤ n ≤ 2^20, k ≤ n, parities < stripe ≤
    65536.
    """
    return _stripe(rber, n, k, codewords, stripe, parities, "ln_uper" if log else "uper", log=True)


def stripe_loss(
    rber: ArrayLike,
    n: int = 8192,
    k: int = 8,
    *,
    stripe: int = 8,
    parities: int = 0,
    codewords: int = 1,
    log: bool = False,
) -> Result:
    """Probability that a stripe loses data: `1 − Σ_{j=0..m} C(N,j)·CPER^(N−j)·DPER^j`, for any m.

    Arguments, shape and errors as `uper()`.
    """
    return _stripe(rber, n, k, codewords, stripe, parities, "ln_stripe", log=log)


def page_loss(
    rber: ArrayLike,
    n: int = 8192,
    k: int = 8,
    *,
    stripe: int = 8,
    parities: int = 0,
    codewords: int = 1,
    log: bool = False,
) -> Result:
    """Probability that a given page is lost, every page of a lost stripe counted that cannot be read.

    `U + DPER·L'`: the page is undetectably wrong, or detectably and the other N − 1 pages lose data as a stripe with
    m − 1 parities would (L' = 1 for m = 0). Equals `uper()` without parity and is about m + 1 times as much with m
    parities. Derived in docs/papers/msapl.md. Arguments, shape and errors as `uper()`.
    """
    return _stripe(rber, n, k, codewords, stripe, parities, "ln_page", log=log)


def _stripe(
    rber: ArrayLike, n: int, k: int, codewords: int, stripe: int, parities: int, asked: Asked, *, log: bool
) -> Result:
    (column,), shape = columns(rber=rber)
    pages = count("stripe", stripe, 1, _PAGES)
    m = count("parities", parities, 0, pages - 1)
    return from_log(_core.model_uper(column, *_code(n, k, codewords), pages, m, asked), shape, log=log)


def unlike_stripe_loss(
    rber: ArrayLike, n: int = 8192, k: int = 8, *, parities: int = 0, codewords: int = 1, log: bool = False
) -> Result:
    """Probability that a stripe of unlike pages loses data: one undetectably wrong, or more than `parities` wrong.

    The last axis of `rber` (errors per bit) holds the pages of a stripe; the result has the shape without it. With
    equal rates it is `stripe_loss()`. The sum over all patterns is built page by page, all terms positive. Errors as
    `uper()`.
    """
    column, pages, shape = runs("rber", rber)
    bits, strength, words = _code(n, k, codewords)
    m = count("parities", parities, 0, pages - 1)
    return from_log(_core.model_unlike_stripe(column, pages, bits, strength, words, m), shape, log=log)


def mds_uper(page_error: ArrayLike, data: int, parities: int, *, log: bool = False) -> Result:
    """Uncorrectable page error rate of a (data, parities)-MDS code when every bad page is noticed.

    `(1 − F(m; k+m, p)) / (k+m)` with the binomial distribution function F and p = `page_error`, the probability of a
    bad page (Flexible, section 4.2, the difference in parentheses). With `log`, `page_error` and the result are
    natural logarithms. Shape of `page_error`; raises `ModelError` unless it is a probability.
    """
    logs = logs_of("page_error", page_error, log=log)
    k, m = count("data", data, 1, _PAGES), count("parities", parities, 0, _PAGES)
    return from_log(_core.model_ln_mds_uper(np.ascontiguousarray(logs).reshape(-1), k, m), logs.shape, log=log)


def two_level_uper(page_error: ArrayLike, unrecoverable: Sequence[float], *, log: bool = False) -> Result:
    """Uncorrectable page error rate of a two-level code: `Σ_i β(i)·p^i·(1−p)^(MN−i) / MN` (Flexible, section 4.2).

    `unrecoverable[i]` is β(i), the number of patterns of i bad pages that the code cannot recover, for i = 0 … MN;
    whole numbers of any size. p = `page_error` as in `mds_uper()`. Raises `ModelError` for a count above C(MN, i).
    """
    logs = logs_of("page_error", page_error, log=log)
    ln_counts = []
    if not isinstance(unrecoverable, (Sequence, np.ndarray)):
        raise ModelError(f"unrecoverable = {shown(unrecoverable)}: must be a list of numbers")
    for index, patterns in enumerate(unrecoverable):
        if not isinstance(patterns, (int, float, np.number)):
            raise ModelError(f"unrecoverable[{index}] = {shown(patterns)}: must be a number")
        if not patterns >= 0:
            raise ModelError(f"unrecoverable[{index}] = {patterns}: must be at least 0")
        ln_counts.append(math.log(patterns) if patterns > 0 else -math.inf)
    column = np.ascontiguousarray(logs).reshape(-1)
    return from_log(_core.model_ln_uper_of_patterns(column, np.asarray(ln_counts)), logs.shape, log=log)


def product_uper(page_error: ArrayLike, rows: int, columns: int, *, log: bool = False) -> Result:
    """Uncorrectable page error rate of single parity in rows and columns, counted exactly.

    `two_level_uper()` with β(M, N, i) not estimated but counted: the patterns of i bad pages of `rows` by `columns`,
    parity included, that repairing row by row and column by column does not recover. Arguments as `mds_uper()`; raises
    `ModelError` unless the longer side has 2 to 255 pages and the shorter one 2 to 16.
    """
    logs = logs_of("page_error", page_error, log=log)
    counts = _product_patterns(count("rows", rows, 2), count("columns", columns, 2))
    column = np.ascontiguousarray(logs).reshape(-1)
    return from_log(_core.model_ln_uper_of_patterns(column, counts), logs.shape, log=log)


@cache
def _product_patterns(rows: int, columns: int) -> Floats:
    return _core.model_ln_product_patterns(rows, columns)


def product_rectangles(rows: int, columns: int) -> int:
    """Smallest patterns of bad pages that single parity in rows and columns cannot recover: β(4) = C(M,2)·C(N,2)."""
    return math.comb(count("rows", rows, 2), 2) * math.comb(count("columns", columns, 2), 2)


def uber(rber: ArrayLike, n: int = 4148, k: int = 4, *, user_bits: int = 4096, log: bool = False) -> Result:
    """Uncorrectable bit error rate: `P(more than k of n bits wrong) / user bits` (Mielke; so Diff-RAID's Table 1).

    `rber` in errors per bit, any shape. The defaults are a 512-byte sector with 4-bit BCH (13 bits of parity each),
    which reproduces Table 1's 10K column. Raises `ModelError` unless 0 ≤ rber ≤ 1, 1 ≤ n ≤ 2^20, k ≤ n, user_bits ≤
    n.
    """
    (column,), shape = columns(rber=rber)
    bits = count("n", n, 1, 2**20)
    strength, user = count("k", k, 0, bits), count("user_bits", user_bits, 1, bits)
    return shaped(_core.model_uber(column, bits, strength, user, flag("log", log)), shape)
