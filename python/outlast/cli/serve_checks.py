"""Refusals and warnings of `outlast serve`, made before anything is created."""

from __future__ import annotations

import ipaddress
from pathlib import Path

import click

from outlast.cli.options import warn_of


def check_tls(cert: Path | None, key: Path | None, ca: Path | None, tls: str | None, file: Path | None) -> None:
    """Refuses options that do not belong together."""
    if (cert is None) != (key is None):
        raise click.UsageError("--tls-cert and --tls-key belong together", click.get_current_context())
    if cert is None and (ca is not None or tls is not None):
        raise click.UsageError("--tls and --tls-ca belong to --tls-cert", click.get_current_context())
    if cert is not None and tls != "offer" and file is not None:
        raise click.UsageError("--file connects without TLS: add --tls offer", click.get_current_context())


def check_clock(clock: str, speed: float | None) -> None:
    """Refuses a speed that the clock does not have."""
    if speed is not None and clock == "virtual":
        raise click.UsageError("--speed is for --clock wall; a virtual clock has no speed", click.get_current_context())
    if speed is not None and not 0.001 <= speed <= 1000:
        raise click.UsageError(f"--speed {speed}: must be within 0.001 to 1000", click.get_current_context())


def check_doors(name: str | None, http: int | None, nvme: str | None, machine: str | Path | None) -> None:
    """Refuses what the control socket, HTTP and NVMe would refuse later, when an image has been made."""
    from outlast.serving import sockets

    if name is not None:
        sockets.socket_path(name)
    if http:
        sockets.check_port(http)
    # A machine behind --nvme is taken for its PLACE.
    if nvme is not None and machine is None and not nvme.startswith(("tcp:", "unix:")):
        text = f'--nvme "{nvme}": must be tcp:ADDRESS:PORT; name a SCENARIO before --nvme'
        raise click.UsageError(text, click.get_current_context())


def warn_if_open(*addresses: str | None) -> None:
    """Says that strangers may come in, unless the addresses are of this computer alone."""
    for place in filter(None, map(_open_to, addresses)):
        warn_of([f"--insecure: whoever can reach {place} can read and write everything, unencrypted"])


def _open_to(listen: str | None) -> str | None:
    """The address at which others than this machine may connect, if there is one."""
    kind, _, place = (listen or "").partition(":")
    address = place.rpartition(":")[0].strip("[]")
    if kind != "tcp" or address == "localhost":
        return None
    try:
        return None if ipaddress.ip_address(address).is_loopback else place
    except ValueError:
        return place
