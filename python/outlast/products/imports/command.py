"""`outlast import`."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from outlast.cli.options import Group, Whole, path_option

if TYPE_CHECKING:
    from outlast.products.imports.draft import Draft


class Bytes(click.ParamType[int]):
    """A size in bytes such as 64GiB or 512MiB; `64G` as the kernel writes it is the same."""

    name = "SIZE"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int:
        if isinstance(value, int):
            return value
        found = re.fullmatch(r"(\d{1,6})\s*([KMGT])(?:iB)?", str(value).strip())
        count = int(found[1]) << {"K": 10, "M": 20, "G": 30, "T": 40}[found[2]] if found else 0
        if not 1 << 20 <= count <= 1 << 50:
            self.fail(f'"{value}" is not a size from 1MiB to 1024TiB such as 64GiB', param, ctx)
        return count


@click.group(
    "import",
    cls=Group,
    epilog="""\b
Example:
  outlast import mqsim ssdconfig.xml workload.xml -o mine.toml""",
)
def import_command() -> None:
    """Make a scenario of another simulator's configuration.

    Every number says which parameter it comes from. Parameters without a counterpart are listed, with what they would
    change, at the end of the scenario and on standard error.
    """


out_option = path_option("-o", "--out", metavar="FILE", help="Write the scenario here; else to standard output.")


@import_command.command(
    "mqsim",
    epilog="""\b
Examples:
  outlast import mqsim ssdconfig.xml workload.xml -o mine.toml
  outlast import mqsim ssdconfig.xml workload.xml --scenario 2 | outlast run -""",
)
@click.argument("device", type=click.Path(path_type=Path))
@click.argument("workload", type=click.Path(path_type=Path))
@click.option(
    "--scenario", type=Whole(1), default=1, show_default=True, help="Which IO_Scenario of the workload, counted from 1."
)
@out_option
def mqsim_command(device: Path, workload: Path, scenario: int, out: Path | None) -> None:
    """Import MQSim's DEVICE (ssdconfig.xml) and WORKLOAD (workload.xml)."""
    from outlast.products.imports.mqsim import mqsim

    _write(mqsim(device, workload, scenario), out, device, workload)


@import_command.command(
    "femu",
    epilog="""\b
Example:
  outlast import femu femu,devsz_mb=12288,femu_mode=1,pg_rd_lat=40000,gc_policy=greedy -o femu.toml
  outlast import femu run-blackbox.sh -o femu.toml""",
)
@click.argument("options", nargs=-1)
@click.option("-device", "device", metavar="OPTIONS", multiple=True, help="The same, as QEMU has it.")
@out_option
def femu_command(options: tuple[str, ...], device: tuple[str, ...], out: Path | None) -> None:
    """Import FEMU's device OPTIONS, as QEMU's -device has them, or the script that runs FEMU with them."""
    from outlast.products.imports.femu import femu
    from outlast.products.imports.femu_script import options_of

    words = (*options, *device)
    if len(words) == 1 and "," not in words[0] and "=" not in words[0] and Path(words[0]).is_file():
        script = Path(words[0])
        _write(femu([options_of(script)]), out, script)
    else:
        _write(femu(words), out)


@import_command.command(
    "nvmevirt",
    epilog="""\b
Example:
  outlast import nvmevirt ssd_config.h --base SAMSUNG_970PRO --memory 8GiB -o nvmevirt.toml""",
)
@click.argument("header", type=click.Path(path_type=Path))
@click.option("--base", metavar="NAME", help="BASE_SSD of the build. Default: the first conventional drive.")
@click.option("--memory", type=Bytes(), help="memmap_size of the module. Default: 64GiB, as in its read-me.")
@out_option
def nvmevirt_command(header: Path, base: str | None, memory: int | None, out: Path | None) -> None:
    """Import NVMeVirt's HEADER (ssd_config.h)."""
    from outlast.products.imports.nvmevirt import nvmevirt

    _write(nvmevirt(header, base, memory), out, header)


@import_command.command(
    "simplessd",
    epilog="""\b
Example:
  outlast import simplessd config/sample.cfg -o simplessd.toml""",
)
@click.argument("config", type=click.Path(path_type=Path))
@out_option
def simplessd_command(config: Path, out: Path | None) -> None:
    """Import SimpleSSD's CONFIG (sample.cfg)."""
    from outlast.products.imports.simplessd import simplessd

    _write(simplessd(config), out, config)


def _write(draft: Draft, out: Path | None, *inputs: Path) -> None:
    """Checks a draft as a run would, and writes it with what it lacks."""
    from outlast.output import check_file, check_not_read, write_file
    from outlast.products.imports.check import check_draft
    from outlast.schemas import hint

    if out is not None:
        check_file(out)
        check_not_read(out, inputs)
    check_draft(draft)
    text = draft.text()
    if out is None:
        click.echo(text, nl=False)
    else:
        write_file(out, hint() + text)
        click.echo(f"written: {out}", err=True)
    if draft.unmatched:
        click.echo(f"{len(draft.unmatched)} parameters have no counterpart; what they would change:", err=True)
        for each in draft.unmatched:
            click.echo(f"  {each}", err=True)
