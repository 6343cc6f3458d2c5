"""`outlast model uper` and `outlast model uber`."""

from __future__ import annotations

from pathlib import Path

import click

from outlast.cli.model.options import (
    Command,
    Counts,
    Numbers,
    check_chip,
    check_stripe,
    chip_options,
    ecc_options,
    output_options,
    paired,
    parity_name,
    refuse_ignored,
)
from outlast.cli.model.sheet import Curve, Sheet

EVERY_THOUSAND = "1000:24000:1000"


def _wear_options(command: Command) -> Command:
    command = click.option("--rber", type=Numbers(), help="Over raw bit error rates instead of wear.")(command)
    return click.option("--pe", type=Numbers(), default=EVERY_THOUSAND, show_default=True, help="P/E cycles.")(command)


@click.command(
    "uper",
    epilog="""\b
Examples:
  outlast model uper --n 8192 --k 8 --stripe 8 --parities 0,1,2 --pe 1000:24000:1000 --json
  outlast model uper --stripe 16 --parities 0,1,2 --waf 1,1.2,1.5 --plot crossing.html
  outlast model uper --rber 1e-9:1e-3:x2 --k 40 --count pages""",
)
@ecc_options
@click.option("--stripe", type=int, default=8, show_default=True, help="Pages of a stripe, parity included.")
@click.option("--parities", type=Counts(), default="0,1,2", show_default=True, help="Parities: a curve for each.")
@_wear_options
@click.option(
    "--waf",
    type=Numbers(),
    default="1",
    help="Write amplification of each curve, beside one of 1: cycles are multiplied.",
)
@chip_options
@click.option(
    "--count",
    "counted",
    type=click.Choice(["stripes", "pages"]),
    default="stripes",
    show_default=True,
    help="A lost stripe as one lost page, as in mSAPL, or every page that is lost.",
)
@output_options
def uper_command(
    n: int,
    k: int,
    codewords: int,
    stripe: int,
    parities: tuple[float, ...],
    pe: tuple[float, ...],
    rber: tuple[float, ...] | None,
    waf: tuple[float, ...],
    chip: str,
    days: float,
    reads: float,
    counted: str,
    as_json: bool,
    plot: Path | None,
) -> None:
    """Uncorrectable page error rate of stripes with parity, over wear or over the raw bit error rate."""
    import numpy as np

    from outlast import models

    if rber:
        refuse_ignored("--rber gives the error rates themselves", "pe", "waf", "chip", "days", "reads")
    else:
        check_chip(chip, pe)
    check_stripe(parities)
    x = np.asarray(rber or pe)
    rate = models.uper if counted == "stripes" else models.page_loss
    curves = []
    for m, factor in zip(parities, paired("--waf", waf, len(parities)), strict=True):
        bits = x if rber else models.rber(chip, x * factor, days, reads)
        logs = rate(bits, n, k, stripe=stripe, parities=int(m), codewords=codewords, log=True)
        values = rate(bits, n, k, stripe=stripe, parities=int(m), codewords=codewords)
        name = parity_name(m)
        facts = {"parities": int(m), "waf": factor, "rber": bits}
        curves.append(Curve(name if factor == 1 else f"{name}, WAF {factor:g}", values, facts, logs))
    settings = {"n": n, "k": k, "codewords": codewords, "stripe": stripe, "count": counted}
    Sheet(
        model="uper",
        title=f"Uncorrectable page error rate, {stripe} pages to a stripe",
        equation="UPER = 1 − CPER without parity, (1/N)·(1 − Σ_{j≤m} C(N,j)·CPER^(N−j)·DPER^j) with m"
        if counted == "stripes"
        else "P(page lost) = U + DPER·L(N−1, m−1)",
        source="mSAPL, Equations 1 to 5" if counted == "stripes" else "docs/papers/msapl.md",
        x_name="rber" if rber else "pe",
        x_label="raw bit error rate" if rber else "P/E cycles",
        x=x,
        y_name="uper" if counted == "stripes" else "page_loss",
        y_label="uncorrectable page error rate",
        curves=curves,
        settings=settings if rber else settings | {"chip": chip, "days": days, "reads": reads},
        log_x=bool(rber),
    ).emit(as_json=as_json, plot=plot)


@click.command(
    "uber",
    epilog="""\b
Examples:
  outlast model uber --chips d-mlc32-1,im-2 --pe 1000:20000:1000
  outlast model uber --rber 1e-8:1e-4:x10 --json""",
)
@click.option("--n", type=int, default=4148, show_default=True, help="Bits of a codeword.")
@click.option("--k", type=int, default=4, show_default=True, help="Bits that are corrected in a codeword.")
@click.option("--user-bits", type=int, default=4096, show_default=True, help="Bits of user data in a codeword.")
@click.option("--chips", default="d-mlc32-1", show_default=True, help="Chips: a curve for each.")
@_wear_options
@output_options
def uber_command(
    n: int,
    k: int,
    user_bits: int,
    chips: str,
    pe: tuple[float, ...],
    rber: tuple[float, ...] | None,
    as_json: bool,
    plot: Path | None,
) -> None:
    """Uncorrectable bit error rate of a codeword, over wear or over the raw bit error rate."""
    import numpy as np

    from outlast import models

    if rber:
        refuse_ignored("--rber gives the error rates themselves", "pe", "chips")
    x = np.asarray(rber or pe)
    curves = []
    for name in ("raw bit error rate",) if rber else chips.split(","):
        bits = x if rber else models.rber(name, x)
        values = models.uber(bits, n, k, user_bits=user_bits)
        logs = models.uber(bits, n, k, user_bits=user_bits, log=True)
        curves.append(Curve(name, values, {} if rber else {"chip": name, "rber": bits}, logs))
    Sheet(
        model="uber",
        title=f"Uncorrectable bit error rate, {k} bits corrected of {n}",
        equation="UBER = P(more than k of n bits wrong) / user bits",
        source="Mielke et al., IRPS 2008; Diff-RAID, Table 1",
        x_name="rber" if rber else "pe",
        x_label="raw bit error rate" if rber else "P/E cycles",
        x=x,
        y_name="uber",
        y_label="uncorrectable bit error rate",
        curves=curves,
        settings={"n": n, "k": k, "user_bits": user_bits},
        log_x=bool(rber),
    ).emit(as_json=as_json, plot=plot)
