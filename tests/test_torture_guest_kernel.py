"""Is a kernel taken out of its packing as it was put in, and left alone where that cannot be?"""

from __future__ import annotations

import gzip
import lzma
import struct
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from guested import needs_guest
from outlast.products.torture import guest_files
from outlast.products.torture.guest_image import kernel
from outlast.products.torture.guest_kernel import ENTRY, PAYLOAD, SETUP_SECTORS, unpacked

PLAIN = b"\x7fELF" + bytes(500) + ENTRY + bytes(77)
PACKERS: dict[str, Callable[[bytes], bytes]] = {"xz": lzma.compress, "gzip": gzip.compress}


def image(payload: bytes, sectors: int = 4, offset: int = 33) -> bytes:
    """A kernel's file: its header, `sectors` of set-up and the payload, with what follows it."""
    start = ((sectors or 4) + 1) * 512
    data = bytearray(start + offset) + payload + struct.pack("<I", 7) + b"the rest"
    data[SETUP_SECTORS] = sectors
    struct.pack_into("<II", data, PAYLOAD, offset, len(payload) + 4)
    return bytes(data)


@pytest.mark.parametrize("sectors", [0, 4, 31])
@pytest.mark.parametrize("packer", PACKERS)
def test_what_was_packed_is_what_is_booted(packer: str, sectors: int, tmp_path: Path) -> None:
    file = tmp_path / "vmlinuz"
    file.write_bytes(image(PACKERS[packer](PLAIN), sectors))
    assert unpacked(file) == PLAIN


@pytest.mark.parametrize(
    "payload",
    [
        PLAIN,  # packed by nothing that is known
        lzma.compress(PLAIN)[:-20],  # cut off
        lzma.compress(PLAIN.replace(ENTRY, bytes(len(ENTRY)))),  # no note: QEMU would refuse it
        lzma.compress(PLAIN[4:]),  # no ELF
    ],
)
def test_what_cannot_be_booted_so_unpacks_itself(payload: bytes, tmp_path: Path) -> None:
    file = tmp_path / "vmlinuz"
    file.write_bytes(image(payload))
    assert unpacked(file) is None


CUT = st.binary(max_size=60).map(lambda tail: image(lzma.compress(PLAIN))[:2600] + tail)


@given(data=st.binary(max_size=2000) | CUT)
def test_no_file_is_an_error(data: bytes, tmp_path_factory: pytest.TempPathFactory) -> None:
    file = tmp_path_factory.mktemp("kernel") / "vmlinuz"
    file.write_bytes(data)
    assert unpacked(file) in (None, PLAIN)


@needs_guest
def test_debians_kernel_is_unpacked() -> None:
    plain = unpacked(kernel(guest_files.folder()))
    assert plain is not None
    assert b"Linux version " in plain
