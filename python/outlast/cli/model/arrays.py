"""`outlast model dlp`, `outlast model ages` and `outlast model mttdl`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import click

from outlast.cli.model.options import Command, Counts, Numbers, Size, output_options, parity_name, refuse_ignored
from outlast.cli.model.sheet import Curve, Sheet

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


def _parity_options(command: Command) -> Command:
    for decorate in (
        click.option("--full-stripes", type=float, default=0.0, show_default=True, help="Share of full-stripe writes."),
        click.option("--parities", type=int, default=1, show_default=True, help="Parities of a stripe."),
    ):
        command = decorate(command)
    return command


@click.command(
    "dlp",
    epilog="""\b
Examples:
  outlast model dlp --parity 20,20,20,20,20 --parity 80,5,5,5,5 --limit 8000:20000:500 --plot limits.html
  outlast model dlp --parity 80,5,5,5,5 --chip im-2 --failed any --json""",
)
@click.option(
    "--parity",
    type=Numbers(),
    multiple=True,
    help="Percentage of parity of each device, the sum 100 for each parity; a curve for each. "
    "Default: 80,5,5,5,5, with one parity, and even.",
)
@_parity_options
@click.option(
    "--limit",
    type=Numbers(),
    default="8000:14000:500",
    show_default=True,
    help="P/E cycles at which devices are replaced.",
)
@click.option("--chip", default="d-mlc32-1", show_default=True, help="Chip of all devices.")
@click.option(
    "--failed",
    type=click.Choice(["oldest", "any"]),
    default="oldest",
    show_default=True,
    help="Which device has failed.",
)
@click.option(
    "--device-bytes", type=Size(), default=80e9, show_default="80GB", help="Bytes read from each surviving device."
)
@click.option("--n", type=int, default=4148, show_default=True, help="Bits of a codeword.")
@click.option("--k", type=int, default=4, show_default=True, help="Bits that are corrected in a codeword.")
@click.option("--user-bits", type=int, default=4096, show_default=True, help="Bits of user data in a codeword.")
@output_options
def dlp_command(
    parity: tuple[tuple[float, ...], ...],
    parities: int,
    full_stripes: float,
    limit: tuple[float, ...],
    chip: str,
    failed: Literal["oldest", "any"],
    device_bytes: float,
    n: int,
    k: int,
    user_bits: int,
    as_json: bool,
    plot: Path | None,
) -> None:
    """Data loss probability when a device fails, by how parity is spread and when devices are replaced.

    All as in the steady state, at the moment before a worn device is replaced: it and the others have their convergent
    ages. Where all devices age alike they wear out together: then all have the limit's age. Parity that the failed
    device leaves makes good as many codewords of a row, one from each survivor, as there are parities to spare.
    """
    import numpy as np

    from outlast import models

    curves = []
    even_share = (20.0 * parities,) * 5
    for percent in parity or (((80.0, 5.0, 5.0, 5.0, 5.0), even_share) if parities == 1 else (even_share,)):
        rates = np.sort(models.aging_rates(percent, parities, full_stripes=full_stripes))[::-1]
        even = bool(np.allclose(rates, rates[0], rtol=1e-12))
        older = [[end] * len(rates) if even else [end, *models.steady_ages(rates, end)[:-1]] for end in limit]
        ages = np.asarray(older)
        logs = models.uber(models.rber(chip, ages), n, k, user_bits=user_bits, log=True)
        ln_loss = _ln_loss(logs, 8.0 * device_bytes, failed, parities=parities, row_bits=user_bits)
        facts = {"parity_percent": list(percent), "ages": ages.tolist(), "converges": models.converges(rates)}
        name = "(" + ", ".join(f"{share:g}" for share in percent) + ")"
        curves.append(Curve(name, np.exp(ln_loss), facts, ln_loss))
    Sheet(
        model="dlp",
        title=f"Data loss probability, the {failed} device failed" if failed == "oldest" else "Data loss probability",
        equation="DLP = 1 − Π_i (1 − UBER_i)^(bits read)"
        if parities == 1
        else f"DLP = 1 − (1 − P(more than {parities - 1} of a row's codewords unreadable))^rows",
        source="Diff-RAID, section 4" if parities == 1 else "Diff-RAID, section 4, with parity to spare",
        x_name="limit",
        x_label="P/E cycles at which devices are replaced",
        x=limit,
        y_name="dlp",
        y_label="data loss probability",
        curves=curves,
        settings={
            "chip": chip,
            "failed": failed,
            "parities": parities,
            "full_stripes": full_stripes,
            "device_bytes": device_bytes,
            "n": n,
            "k": k,
            "user_bits": user_bits,
        },
    ).emit(as_json=as_json, plot=plot)


def _ln_loss(
    logs: NDArray[np.float64], bits: float, failed: Literal["oldest", "any"], *, parities: int, row_bits: int
) -> NDArray[np.float64]:
    """Ln of the data loss probability with one device failed, of `bits` each; `logs`: ln UBER, devices last."""
    import numpy as np

    from outlast import models

    if parities == 1:
        return np.asarray(models.array_loss(logs, bits, failed=failed, log=True))

    def without(device: int) -> NDArray[np.float64]:
        left = np.delete(logs, device, axis=-1)
        rows = bits / row_bits
        return np.asarray(
            models.data_loss_with_parity(left, chunk_bits=row_bits, stripes=rows, spare_parities=parities - 1, log=True)
        )

    # Rates fall along the devices: the first is the oldest.
    if failed == "oldest":
        return without(0)
    devices = logs.shape[-1]
    return np.asarray(np.logaddexp.reduce([without(device) for device in range(devices)], axis=0) - np.log(devices))


@click.command(
    "ages",
    epilog="""\b
Examples:
  outlast model ages --parity 80,5,5,5,5
  outlast model ages --parity 90,45,25,20,20 --parities 2 --replacements 60 --plot ages.html
  outlast model ages --rates 1,0.5,0.5 --limit 3000 --json""",
)
@click.option(
    "--parity",
    type=Numbers(),
    help="Percentage of parity on each device; the sum is 100 for each parity. Default: 80,5,5,5,5.",
)
@click.option("--rates", type=Numbers(), help="Aging rates by position, of any workload, in place of --parity.")
@_parity_options
@click.option(
    "--limit", type=float, default=10_000.0, show_default=True, help="P/E cycles at which devices are replaced."
)
@click.option(
    "--replacements",
    "number",
    type=click.IntRange(1, 100_000),
    default=30,
    show_default=True,
    help="Number of replacements to follow.",
)
@click.option("--start", type=Numbers(), help="Ages of the first devices. Default: new.")
@output_options
def ages_command(
    parity: tuple[float, ...] | None,
    rates: tuple[float, ...] | None,
    parities: int,
    full_stripes: float,
    limit: float,
    number: int,
    start: tuple[float, ...] | None,
    as_json: bool,
    plot: Path | None,
) -> None:
    """Ages of an array's devices at each replacement, and where they converge."""
    import numpy as np

    from outlast import models

    if parity and rates:
        raise click.UsageError("give --parity or --rates, not both", click.get_current_context())
    if rates:
        refuse_ignored("--rates are of any workload", "parities", "full_stripes")
    percent = parity or (80.0, 5.0, 5.0, 5.0, 5.0)
    vector = np.asarray(rates or models.aging_rates(percent, parities, full_stripes=full_stripes))
    if not rates:
        vector = np.sort(vector)[::-1]
    history = models.replacements(vector, limit, number, ages=start)
    settings: dict[str, Any] = {"limit": limit, "rates": vector.tolist()}
    if not rates:
        settings |= {"parity_percent": list(percent), "parities": parities, "full_stripes": full_stripes}
    notes = []
    if bool(np.all(np.diff(vector) <= 0)):
        steady, found = models.steady_ages(vector, limit), models.converges(vector)
        settings |= {"steady_ages": steady.tolist(), "converges": found}
        ages = ", ".join(f"{age:g}" for age in steady)
        notes.append(
            f"steady state just after a replacement: {ages}; ages {'converge' if found else 'do not converge'}"
        )
    else:
        notes.append("rates rise along the positions: the steady state has no closed form here")
    Sheet(
        model="ages",
        title="Ages of the devices just after each replacement",
        equation="steady state: age_j = A·(t_{j+1} + … + t_n)/(t_1 + … + t_n)",
        source="Diff-RAID, section 3.3; docs/papers/diff-raid.md",
        x_name="replacement",
        x_label="replacement",
        x=list(range(1, number + 1)),
        y_name="age",
        y_label="age in P/E cycles",
        curves=[Curve(f"position {j + 1}", history.ages[:, j], {"position": j + 1}) for j in range(len(vector))],
        settings=settings,
        log_y=False,
        notes=notes,
    ).emit(as_json=as_json, plot=plot)


def _mttdl_equation(
    parities: tuple[float, ...], copies: tuple[float, ...] | None, *, latent: bool, parallel: bool
) -> str:
    """What the curves are computed from."""
    if set(parities) == {1.0} and not copies and not latent:
        return "((2n−1)·λ + μ) / (n·λ·((n−1)·λ + μ·h))"
    repaired = "k·μ" if parallel else "μ"
    chain = f"mean time of a chain: k failed → k+1 at (n−k)·λ, k → k−1 at {repaired}, lost at m+1"
    return chain + (", latent errors beside" if latent else "")


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
    "--device-bytes", type=Size(), default=32e12, show_default="32TB", help="Bytes of a device, all read in a rebuild."
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

    from outlast import models
    from outlast.report.numbers import YEAR_HOURS

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
    curves = []
    for m in parities:
        # What a critical array reads: all devices but the failed ones.
        read = models.read_failure(uber, np.maximum(x - m, 0.0) * 8.0 * device_bytes)
        hours = models.mttdl(
            x,
            m,
            mttf,
            mttr,
            parallel_repair=parallel,
            latent_rate=0.0 if latent_mttf is None else 1.0 / latent_mttf,
            scrub_rate=0.0 if scrub is None else 1.0 / scrub,
            read_failure=read,
        )
        facts = {"parities": int(m), "read_failure": read, "mttdl_hours": hours}
        curves.append(Curve(parity_name(m), hours / YEAR_HOURS, facts))
    for c in copies or ():
        # A critical repair reads one other device.
        read = models.read_failure(uber, np.full(len(x), 8.0 * device_bytes))
        hours = models.mttdl_mirrors(x, c, mttf, mttr, read_failure=read)
        facts = {"copies": int(c), "read_failure": read, "mttdl_hours": hours}
        curves.append(Curve(f"RAID-10, {int(c)} copies", hours / YEAR_HOURS, facts))
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
