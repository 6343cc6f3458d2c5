"""Options of `outlast serve` that the API shares: the image of a device, and access to the server."""

from __future__ import annotations

from typing import TypedDict


class ImageOptions(TypedDict, total=False):
    """Image of a device and its use: `outlast serve --image` has an option for each."""

    image: str | None
    """Folder of the image, made if it does not exist."""
    sync: bool
    """Safe from a crash of this computer, too; flushes take longer."""
    salvage: bool
    """Use the remains of an image after a crash of this computer, although promises are broken."""
    keep_log: bool
    """Keep the log before a checkpoint, and with it the state of the device at any moment of its life."""
    checkpoint_every: str | None
    """Amount of log between two checkpoints."""
    at: str | None
    """Serve the device as it was at this time, and keep no changes."""
    contents: str
    """`memory`, or `disk`: the bytes of the device are in an unnamed file, in the image folder or in `TMPDIR`."""


class NvmeOptions(TypedDict, total=False):
    """The door for hosts that speak NVMe/TCP."""

    nvme: str | None
    """Address at which hosts connect by NVMe/TCP, too."""


class ImageCommandOptions(ImageOptions, NvmeOptions, total=False):
    """Options that `outlast serve` passes on as they are."""


class AccessOptions(NvmeOptions, total=False):
    """Access to the server: `outlast serve` has an option for each."""

    insecure: bool
    """Allow other computers to connect without encryption."""
    tls_cert: str | None
    """The PEM file of the server's certificate."""
    tls_key: str | None
    """The PEM file of its private key."""
    tls_ca: str | None
    """PEM file of authorities: clients need a certificate of one of them."""
    tls: str
    """`require`, or `offer`, which accepts clients without encryption."""


class ServeOptions(ImageOptions, AccessOptions, total=False):
    """Options of the image and of access."""
