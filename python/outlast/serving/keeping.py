"""How a served machine is kept beyond the end of its server, and who may come to it."""

from __future__ import annotations

from typing import TypedDict


class Keeping(TypedDict, total=False):
    """The image of a machine and how it is used: `outlast serve --image` has an option for each."""

    image: str | None
    """The folder, made if need be."""
    sync: bool
    """Safe from a crash of this computer, too; flushes take longer."""
    salvage: bool
    """Use what a crash of this computer has left, though promises are broken."""
    keep_log: bool
    """Keep the log before a checkpoint, and with it the machine as it was at any moment of its life."""
    checkpoint_every: str | None
    """How much log is written before the next checkpoint."""
    at: str | None
    """Serve the machine as it was at this time, and keep nothing of what becomes of it."""


class Access(TypedDict, total=False):
    """Who may come in, and how: `outlast serve` has an option for each."""

    insecure: bool
    """Whether other machines may come in although clients need not encrypt."""
    tls_cert: str | None
    """The PEM file of the server's certificate."""
    tls_key: str | None
    """The PEM file of its private key."""
    tls_ca: str | None
    """A PEM file of authorities: clients have to show a certificate of one of them."""
    tls: str
    """`require`, or `offer`, which lets clients in that do not encrypt."""


class More(Keeping, Access, total=False):
    """Both."""
