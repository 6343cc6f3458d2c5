"""`outlast c-api`."""

from __future__ import annotations

from pathlib import Path

import click

HERE = Path(__file__).parent.parent
NOT_BUILT = "not built; in the source of this version, `make capi` builds it"
NAMES = ("liboutlast.so", "liboutlast.dylib", "liboutlast.a")


@click.command(
    "c-api",
    epilog="""\b
Examples:
  outlast c-api
  cc -I "$(outlast c-api --include)" -o mine mine.c -L "$(outlast c-api --lib)" -loutlast""",
)
@click.option("--include", is_flag=True, help="Print the folder of outlast.h, and nothing else.")
@click.option("--lib", is_flag=True, help="Print the folder of liboutlast, and nothing else.")
def c_api_command(include: bool, lib: bool) -> None:
    """Print where the C interface is: outlast.h, and the library liboutlast.

    A wheel has the header alone. The library is built of the source of the same version, a checkout or the source
    distribution: by `make capi`, or by `cargo build --release -p outlast-capi`, which leaves it in target/release.
    """
    from outlast.errors import OutputError

    context = click.get_current_context()
    if include and lib:
        raise click.UsageError("--include and --lib are two folders; ask for one", context)
    if include:
        click.echo(str(HERE / "include"))
        return
    folder = HERE / "lib"
    is_there = any((folder / name).is_file() for name in NAMES)
    if lib:
        if not is_there:
            raise OutputError(f"{folder}: has no liboutlast: {NOT_BUILT}")
        click.echo(str(folder))
        return
    click.echo(f"header:  {HERE / 'include' / 'outlast.h'}")
    click.echo(f"library: {folder if is_there else NOT_BUILT}")
