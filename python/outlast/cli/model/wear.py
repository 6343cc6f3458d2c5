"""`outlast model lifetime` and `outlast model waf`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from outlast.cli.model.options import (
    Counts,
    Numbers,
    Share,
    Shares,
    check_chip,
    check_stripe,
    chip_options,
    ecc_options,
    output_options,
    paired,
    parity_name,
)
from outlast.cli.model.sheet import Curve, Sheet, short

LEAST_YEARS, MOST_YEARS = 1e-6, 1e6
"""Years over which drive writes per day are counted: from half a minute on."""
SPARE_HELP = "Spare factor, physical over user space minus 1, parity not yet taken off."


@click.command(
    "lifetime",
    epilog="""\b
Examples:
  outlast model lifetime --parities 0,1,2 --spare 0.5
  outlast model lifetime --target 1e-15,1e-18 --retired 5e-6 --json
  outlast model lifetime --parities 2,2 --waf 3,2.6 --plot life.html""",
)
@ecc_options
@click.option("--stripe", type=int, default=8, show_default=True, help="Pages of a stripe, parity included.")
@click.option("--parities", type=Counts(), default="0,1,2", show_default=True, help="Parities: a curve for each.")
@click.option("--spare", type=Share(), default=0.5, show_default=True, help=SPARE_HELP)
@click.option("--waf", type=Numbers(), help="Measured write amplification of each curve; else the closed form.")
@click.option(
    "--retired", type=float, default=0.0, show_default=True, help="Share of the blocks that each cycle retires."
)
@click.option(
    "--target", type=Numbers(), default="1e-15", show_default=True, help="Page error rates that end the life."
)
@click.option(
    "--years", type=float, default=5.0, show_default=True, help="Years over which drive writes per day are counted."
)
@chip_options
@output_options
def lifetime_command(
    n: int,
    k: int,
    codewords: int,
    stripe: int,
    parities: tuple[float, ...],
    spare: float,
    waf: tuple[float, ...] | None,
    retired: float,
    target: tuple[float, ...],
    years: float,
    chip: str,
    days: float,
    reads: float,
    as_json: bool,
    plot: Path | None,
) -> None:
    """Data that a host can write until the page error rate reaches a target."""
    import numpy as np

    from outlast import models

    if not LEAST_YEARS <= years <= MOST_YEARS:
        limit = f"must be between {LEAST_YEARS:g} and {MOST_YEARS:g}"
        raise click.UsageError(f"--years = {years:g}: {limit}", click.get_current_context())
    check_chip(chip, (1000.0, 10_000.0))
    check_stripe(parities)
    measured = paired("--waf", waf, len(parities)) if waf else [None] * len(parities)
    drives = [
        models.Drive(
            *(chip, spare, n, k, codewords, stripe, int(m)),
            days=days,
            reads=reads,
            retired_per_cycle=retired,
            write_amplification=measured_waf,
        )
        for m, measured_waf in zip(parities, measured, strict=True)
    ]
    lives = [drive.lifetime(np.asarray(target)) for drive in drives]
    # Curves end where the longest life does.
    last = max(float(np.max(life.drive_writes)) for life in lives)
    writes = np.linspace(0.0, 1.05 * last, 121)[1:] if last > 0 else np.array([1.0])
    curves, rows = [], []
    for m, drive, life in zip(parities, drives, lives, strict=True):
        # Beyond the end of the spare space there is nothing to follow.
        beyond = 1.0 if "spare_space" in life.end else 2.0
        cycles = np.linspace(0.0, beyond * float(np.max(life.cycles)) + 1.0, 800)
        path = drive.worn(cycles)
        logs = np.interp(writes, path.drive_writes, path.ln_uper, right=np.nan)
        name = parity_name(m)
        if drive.write_amplification is not None:
            name += f", WAF {drive.write_amplification:g}"
        ends: list[dict[str, Any]] = [
            {
                "target": float(target[i]),
                "drive_writes": float(life.drive_writes[i]),
                "cycles": float(life.cycles[i]),
                "write_amplification": _finite(life.write_amplification[i]),
                "rber": float(life.rber[i]),
                "drive_writes_per_day": float(life.drive_writes_per_day(years)[i]),
                "end": str(life.end[i]),
            }
            for i in range(len(target))
        ]
        for end in ends:
            amplification = end["write_amplification"]
            rows.append(
                [
                    name,
                    f"{end['target']:g}",
                    short(end["drive_writes"]),
                    short(end["drive_writes_per_day"]),
                    short(end["cycles"]),
                    "–" if amplification is None else short(amplification),
                    {"error_rate": "errors", "spare_space": "space"}[end["end"]],
                ]
            )
        curves.append(Curve(name, np.exp(logs), {"parities": int(m), "life": ends}, logs))
    Sheet(
        model="lifetime",
        title="Uncorrectable page error rate over what the host has written",
        equation="cycles = ∫ WAF(spare left) / physical space d(host writes), until UPER(RBER(cycles)) = target",
        source="mSAPL, section 6; Xiang and Kurkoski 2011",
        x_name="drive_writes",
        x_label="drive writes",
        x=writes,
        y_name="uper",
        y_label="uncorrectable page error rate",
        curves=curves,
        settings={
            "chip": chip,
            "days": days,
            "reads": reads,
            "n": n,
            "k": k,
            "codewords": codewords,
            "stripe": stripe,
            "spare": spare,
            "retired_per_cycle": retired,
            "target": list(target),
            "years": years,
        },
        summary=(
            ["", "target", "drive writes", f"a day for {years:g} years", "cycles", "WAF at the end", "ends by"],
            rows,
        ),
    ).emit(as_json=as_json, plot=plot)


def _finite(value: float) -> float | None:
    return float(value) if abs(value) < 1e300 else None


@click.command(
    "waf",
    epilog="""\b
Examples:
  outlast model waf --spare 0.07:0.5:0.01 --parities 0,1,2
  outlast model waf --hot-space 0.2 --hot-writes 0.8 --json""",
)
@click.option("--spare", type=Shares(), default="0.07:0.5:0.01", show_default=True, help=SPARE_HELP)
@click.option("--stripe", type=int, default=16, show_default=True, help="Pages of a stripe, parity included.")
@click.option("--parities", type=Counts(), default="0", show_default=True, help="Parities: a curve for each.")
@click.option("--unusable", type=float, default=0.0, show_default=True, help="Share of the flash that is lost.")
@click.option("--hot-space", type=float, help="Share of the space that is hot: one more curve, hot and cold apart.")
@click.option("--hot-writes", type=float, help="Share of the writes that go to it.")
@output_options
def waf_command(
    spare: tuple[float, ...],
    stripe: int,
    parities: tuple[float, ...],
    unusable: float,
    hot_space: float | None,
    hot_writes: float | None,
    as_json: bool,
    plot: Path | None,
) -> None:
    """Write amplification of greedy collection under random writes, with parity, lost space, hot and cold data."""
    import numpy as np

    from outlast import models

    if (hot_space is None) != (hot_writes is None):
        raise click.UsageError("--hot-space and --hot-writes belong together", click.get_current_context())
    check_stripe(parities)
    x = np.asarray(spare)
    curves, notes = [], list[str]()
    if max(spare) >= 1:
        notes.append(f"a spare factor of {max(spare):g} is {max(spare):.0%} of the user space; 0.28, or 28%, is 28 %")
    for m in parities:
        overhead = models.parity_overhead([(1.0, stripe, int(m))])
        # Parity may leave small drives no spare space: there the curve has a gap.
        left = (1.0 + x) * (1.0 - unusable) / overhead - 1.0
        values = np.full_like(x, np.nan)
        fits = left > 0.0
        if fits.any():
            values[fits] = models.waf_with_parity(x[fits], overhead=overhead, unusable=unusable)
        name = "no parity" if m == 0 else f"{int(m)} of {stripe} pages parity"
        if not fits.all():
            notes.append(
                f"{name}: no spare space is left below a spare factor of {overhead / (1.0 - unusable) - 1.0:.4g}"
            )
        facts = {"parities": int(m), "overhead": overhead, "effective_spare": np.where(fits, left, np.nan)}
        curves.append(Curve(name, values, facts))
    if hot_space is not None and hot_writes is not None:
        apart = models.waf_hot_cold(
            models.effective_spare(x, unusable=unusable), hot_space=hot_space, hot_writes=hot_writes
        )
        facts = {"hot_space": hot_space, "hot_writes": hot_writes, "hot_spare": apart.hot_spare}
        curves.append(Curve("hot and cold apart", apart.waf, facts))
    Sheet(
        model="waf",
        title="Write amplification under uniform random writes",
        equation="WAF = o·α/(α + W(−α·e^−α)), α = (1 + ρ)·(1 − unusable)/o, o = N/(N − m)",
        source="Xiang and Kurkoski 2011; Desnoyers 2012",
        x_name="spare",
        x_label="spare factor",
        x=x,
        y_name="waf",
        y_label="write amplification",
        curves=curves,
        settings={"stripe": stripe, "unusable": unusable},
        log_y=False,
        notes=notes,
    ).emit(as_json=as_json, plot=plot)
