"""`outlast model`: the closed forms as tables, JSON and charts."""

from __future__ import annotations

import click

from outlast.cli.model.arrays import ages_command, dlp_command
from outlast.cli.model.mttdl import mttdl_command
from outlast.cli.model.pages import uber_command, uper_command
from outlast.cli.model.wear import lifetime_command, waf_command
from outlast.cli.options import Group


@click.group(
    "model",
    cls=Group,
    epilog="""\b
Examples:
  outlast model uper --n 8192 --k 8 --stripe 8 --parities 0,1,2 --pe 1000:24000:1000 --json
  outlast model ages --parity 80,5,5,5,5 --plot ages.html
  outlast model mttdl --devices 4:24:2 --parities 1,2 --mttf 1.5e6 --mttr 8.8
Numbers: 1,2,5 is a list, 1000:24000:1000 from, to and step, 1e-9:1e-3:x10 from, to and factor.""",
)
def model_command() -> None:
    """Evaluate a closed form: error rates, data loss, ages, lifetime, write amplification.

    The equations, their sources and units are those of outlast.models in Python.
    """


for _command in (
    *(uper_command, uber_command, dlp_command, ages_command),
    *(lifetime_command, mttdl_command, waf_command),
):
    model_command.add_command(_command)
