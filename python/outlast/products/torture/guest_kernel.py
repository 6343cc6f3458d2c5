"""The kernel of a guest without its packing: where a processor is emulated, half of booting would be unpacking it."""

from __future__ import annotations

import gzip
import lzma
import struct
from pathlib import Path

SETUP_SECTORS, PAYLOAD = 0x1F1, 0x248
"""Offsets in the header of a Linux kernel for x86 (Documentation/arch/x86/boot.rst)."""
SECTOR = 512
UNPACK = {b"\xfd7zXZ\x00": lzma.decompress, b"\x1f\x8b": gzip.decompress}
ENTRY = struct.pack("<I", 18) + b"Xen\0"
"""Type and name of the note (PVH) that tells QEMU where to enter a kernel that is not packed."""


def unpacked(packed: Path) -> bytes | None:
    """The kernel as QEMU can boot it at once; `None` where it is packed in another way, or can only unpack itself."""
    data = packed.read_bytes()
    if len(data) < PAYLOAD + 8:
        return None
    # A length of zero stands for four sectors, from before there was a length.
    start = ((data[SETUP_SECTORS] or 4) + 1) * SECTOR
    offset, length = struct.unpack_from("<II", data, PAYLOAD)
    payload = data[start + offset : start + offset + length]
    unpack = next((own for magic, own in UNPACK.items() if payload.startswith(magic)), None)
    if unpack is None:
        return None
    try:
        # The length of what was packed follows it.
        kernel = unpack(payload[:-4])
    except (OSError, EOFError, lzma.LZMAError):
        return None
    return kernel if kernel.startswith(b"\x7fELF") and ENTRY in kernel else None
