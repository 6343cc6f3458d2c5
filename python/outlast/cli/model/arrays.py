"""`outlast model dlp` and `outlast model ages`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import click

from outlast.cli.model.options import Command, Numbers, Size, output_options, refuse_ignored
from outlast.cli.model.sheet import Curve, Sheet
from outlast.cli.options import Whole

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
@click.option("--device-bytes", type=Size(), default=80e9, help="Bytes read from each surviving device. Default: 80GB.")
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
    type=Whole(1, 100_000),
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
