"""`outlast model mttdl`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from outlast.cli.model.options import Counts, Size, output_options, parity_name, refuse_ignored
from outlast.cli.model.sheet import Curve, Sheet

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


def _mttdl_equation(
    parities: tuple[float, ...], copies: tuple[float, ...] | None, *, latent: bool, parallel: bool
) -> str:
    """Equation of the curves, for the chart's caption."""
    if set(parities) == {1.0} and not copies and not latent:
        return "((2n−1)·λ + μ) / (n·λ·((n−1)·λ + μ·h))"
    repaired = "k·μ" if parallel else "μ"
    chain = f"mean time of a chain: k failed → k+1 at (n−k)·λ, k → k−1 at {repaired}, lost at m+1"
    chain += ", latent errors beside" if latent else ""
    return chain + ("; RAID-10: each repaired by itself, lost when all copies in a set failed" if copies else "")


def _curves(
    x: NDArray[np.float64],
    parities: tuple[float, ...],
    copies: tuple[float, ...] | None,
    *,
    mttf: float,
    mttr: float,
    parallel: bool,
    uber: float,
    device_bits: float,
    latent_rate: float,
    scrub_rate: float,
) -> list[Curve]:
    """A curve over `x` devices for each number of parities, then one for each number of copies. Times in hours."""
    import numpy as np

    from outlast import models
    from outlast.report.numbers import YEAR_HOURS

    curves = []
    for m in parities:
        # What a critical array reads: all devices except for the failed ones.
        read = models.read_failure(uber, np.maximum(x - m, 0.0) * device_bits)
        hours = models.mttdl(
            x,
            m,
            mttf,
            mttr,
            parallel_repair=parallel,
            latent_rate=latent_rate,
            scrub_rate=scrub_rate,
            read_failure=read,
        )
        facts = {"parities": int(m), "read_failure": read, "mttdl_hours": hours}
        curves.append(Curve(parity_name(m), hours / YEAR_HOURS, facts))
    for c in copies or ():
        # A critical repair reads one other device.
        read = models.read_failure(uber, np.full(len(x), device_bits))
        hours = models.mttdl_mirrors(x, c, mttf, mttr, read_failure=read)
        facts = {"copies": int(c), "read_failure": read, "mttdl_hours": hours}
        curves.append(Curve(f"RAID-10, {int(c)} copies", hours / YEAR_HOURS, facts))
    return curves


@click.command(
    "mttdl",
    epilog="""\b
Examples:
  outlast model mttdl --devices 4:24:2 --parities 1,2 --mttf 1.5e6 --mttr 8.8
  outlast model mttdl --devices 4:24:2 --copies 2 --parallel --uber 1e-16 --device-bytes 4TB
  outlast model mttdl --uber 1e-16 --device-bytes 32e12 --latent-mttf 1e5 --scrub 336 --json""",
)
@click.option(
    "--devices", type=Counts(), default="4:24:1", show_default=True, help="Devices of the array, parity included."
)
@click.option(
    "--parities",
    type=Counts(),
    default="1,2",
    show_default=True,
    help="Parities of a stripe, that is, failures survived: a curve for each.",
)
@click.option(
    "--copies",
    type=Counts(),
    help="Copies of each chunk of a RAID-10: a curve for each, repaired in parallel, without latent errors.",
)
@click.option("--mttf", type=float, default=1.5e6, show_default=True, help="Mean hours to the failure of a device.")
@click.option("--mttr", type=float, default=8.8, show_default=True, help="Mean hours of a repair.")
@click.option("--parallel", is_flag=True, help="Failed devices are repaired at the same time.")
@click.option(
    "--uber", type=float, default=0.0, show_default=True, help="Uncorrectable bit error rate of a rebuild's reads."
)
@click.option(
    "--device-bytes", type=Size(), default=32e12, help="Bytes of a device, all read in a rebuild. Default: 32TB."
)
@click.option("--latent-mttf", type=float, help="Mean hours to a latent error of a device; none if not given.")
@click.option("--scrub", type=float, help="Mean hours until scrubbing finds it; never if not given.")
@output_options
def mttdl_command(
    devices: tuple[float, ...],
    parities: tuple[float, ...],
    copies: tuple[float, ...] | None,
    mttf: float,
    mttr: float,
    parallel: bool,
    uber: float,
    device_bytes: float,
    latent_mttf: float | None,
    scrub: float | None,
    as_json: bool,
    plot: Path | None,
) -> None:
    """Mean time to data loss of an array, by a Markov chain with repairs, latent errors and scrubbing."""
    import numpy as np

    for name, hours in (("--latent-mttf", latent_mttf), ("--scrub", scrub)):
        if hours is not None and not hours > 0:
            raise click.UsageError(f"{name} = {hours:g}: must be above 0 hours", click.get_current_context())
    if latent_mttf is None:
        refuse_ignored("without --latent-mttf scrubbing has nothing to find", "scrub")
    if uber == 0.0:
        refuse_ignored("without --uber every read succeeds", "device_bytes")
    if max(parities) < 2 and not copies:
        refuse_ignored("with one parity no two devices are repaired at once", "parallel")
    x = np.asarray(devices)
    curves = _curves(
        x,
        parities,
        copies,
        mttf=mttf,
        mttr=mttr,
        parallel=parallel,
        uber=uber,
        device_bits=8.0 * device_bytes,
        latent_rate=0.0 if latent_mttf is None else 1.0 / latent_mttf,
        scrub_rate=0.0 if scrub is None else 1.0 / scrub,
    )
    Sheet(
        model="mttdl",
        title="Mean time to data loss",
        equation=_mttdl_equation(parities, copies, latent=latent_mttf is not None, parallel=parallel),
        source="a Markov chain, see docs/guide/models.md",
        x_name="devices",
        x_label="devices",
        x=x,
        y_unit="years",
        y_name="mttdl_years",
        y_label="mean time to data loss in years of 8760 hours",
        curves=curves,
        settings={
            "mttf_hours": mttf,
            "mttr_hours": mttr,
            "parallel": parallel,
            "uber": uber,
            "device_bytes": device_bytes,
            "latent_mttf_hours": latent_mttf,
            "scrub_hours": scrub,
        },
    ).emit(as_json=as_json, plot=plot)
