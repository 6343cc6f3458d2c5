"""Do real clients of NBD find what a served drive offers, and read what they wrote?"""

from __future__ import annotations

import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from served import SMALL, SYSTEM_PYTHON, Served, needs, needs_libnbd, serving

MIB = 1 << 20
CLOCKS = {"wall": ["--clock", "wall"], "virtual": ["--clock", "virtual"]}


@pytest.fixture(params=CLOCKS)
def drive(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Served]:
    """A small drive, by each clock."""
    (tmp_path / "small.toml").write_text(SMALL)
    with serving(tmp_path, "small.toml", *CLOCKS[request.param]) as served:
        yield served


@pytest.fixture
def quick(tmp_path: Path) -> Iterator[Served]:
    """A small drive by the virtual clock."""
    (tmp_path / "small.toml").write_text(SMALL)
    with serving(tmp_path, "small.toml", "--clock", "virtual") as served:
        yield served


@needs("nbdinfo")
def test_nbdinfo_finds_the_drive_and_what_it_can_do(quick: Served) -> None:
    (export,) = quick.json("nbdinfo", "--json", "--list", quick.uri)["exports"]
    assert export["export-name"] == "small"
    assert export["description"] == "small 96 MiB"
    assert export["export-size"] == 96 * MIB
    sizes = [export[f"block_size_{size}"] for size in ("minimum", "preferred", "maximum")]
    assert sizes == [512, 4096, 32 * MIB]
    assert export["contexts"] == ["base:allocation", "x-outlast:health"]
    can = {name for name in export if name.startswith("can_") and export[name]}
    names = ("cache", "df", "fast_zero", "flush", "fua", "multi_conn", "trim", "zero")
    assert can == {f"can_{name}" for name in names}
    assert not export["is_read_only"]


def extents(served: Served, context: str) -> list[list[int]]:
    """Offset, length and flags of what `nbdinfo --map` prints."""
    found: list[dict[str, Any]] = served.json("nbdinfo", "--json", f"--map={context}", served.uri)
    return [[extent[key] for key in ("offset", "length", "type")] for extent in found]


@needs("nbdinfo", "qemu-io")
def test_maps_show_what_is_stored_and_what_a_loss_of_power_would_take(quick: Served) -> None:
    hole = 3
    assert extents(quick, "base:allocation") == [[0, 96 * MIB, hole]]
    quick.run("qemu-io", "-f", "raw", "-c", "write -P 7 1M 2M", "-c", "discard 2M 64k", "-c", "flush", quick.uri)
    expected = [
        [0, MIB, hole],
        [MIB, MIB, 0],
        [2 * MIB, 65536, hole],
        [2 * MIB + 65536, MIB - 65536, 0],
        [3 * MIB, 93 * MIB, hole],
    ]
    assert extents(quick, "base:allocation") == expected
    assert extents(quick, "x-outlast:health") == [[0, 96 * MIB, 0]]


@needs("fio")
@pytest.mark.parametrize("jobs", [1, 4])
def test_fio_reads_what_it_wrote(drive: Served, jobs: int) -> None:
    size = f"{16 // jobs}m"
    drive.run(
        *("fio", "--name=verify", "--ioengine=nbd", f"--uri={drive.uri}", "--rw=randrw", "--bsrange=512-64k"),
        *("--iodepth=16", "--verify=crc32c", f"--numjobs={jobs}", f"--size={size}", f"--offset_increment={size}"),
        *("--output-format=json", "--output=fio.json", "--verify_state_save=0"),
    )
    import json

    found = json.loads((drive.folder / "fio.json").read_text())["jobs"]
    assert len(found) == jobs
    for job in found:
        assert job["error"] == 0
        assert job["write"]["total_ios"] > 20
        assert job["read"]["total_ios"] > job["write"]["total_ios"], "what was written is read again"


@pytest.fixture
def image(tmp_path: Path) -> Path:
    """96 MiB that neither repeat nor lack holes."""
    draw = random.Random(7)
    file = tmp_path / "image"
    with file.open("wb") as out:
        for piece in range(96):
            out.write(draw.randbytes(MIB // 2) + bytes(MIB // 2) if piece % 3 else bytes(MIB))
    return file


@needs("nbdcopy")
def test_nbdcopy_copies_there_and_back(quick: Served, image: Path) -> None:
    quick.run("nbdcopy", "--flush", "--connections=4", str(image), quick.uri)
    quick.run("nbdcopy", quick.uri, "back")
    assert (quick.folder / "back").read_bytes() == image.read_bytes()


@needs("qemu-img", "qemu-io")
def test_qemu_sees_the_same_image(quick: Served, image: Path) -> None:
    quick.run("qemu-img", "convert", "-n", "-f", "raw", "-O", "raw", str(image), quick.uri)
    quick.run("qemu-img", "compare", "-f", "raw", "-F", "raw", str(image), quick.uri)
    zeroes = ["write -z -u 6M 1M", "write -z 7M 512k", "write -z -u 64512 8192", "read -P 0 6M 1536k"]
    quick.run("qemu-io", "-f", "raw", *(word for line in zeroes for word in ("-c", line)), quick.uri)
    found = quick.json("qemu-img", "map", "--output=json", "-f", "raw", quick.uri)
    holes = [(extent["start"], extent["length"]) for extent in found if extent["zero"]]
    # Whole units within 64512 to 72704: one of 4 KiB.
    assert any(start <= 65536 and start + length >= 69632 for start, length in holes)
    assert any(start <= 6 * MIB and start + length >= 7 * MIB for start, length in holes)
    data = image.read_bytes()[:MIB]
    quick.run("qemu-img", "dd", "-f", "raw", "-O", "raw", "bs=1M", "count=1", f"if={quick.uri}", "of=first")
    zeroed = data[:64512] + bytes(8192) + data[64512 + 8192 :]
    assert (quick.folder / "first").read_bytes() == zeroed


@needs("qemu-img")
def test_qemu_img_bench_comes_to_its_end(drive: Served) -> None:
    said = drive.run(
        "qemu-img", "bench", "-c", "4000", "-d", "32", "-f", "raw", "-w", "--flush-interval=500", drive.uri
    )
    assert "Run completed" in said.stdout


@needs_libnbd
def test_libnbd_agrees_about_flags_errors_and_patience(quick: Served) -> None:
    script = Path(__file__).parent / "served_by_libnbd.py"
    said = quick.run(SYSTEM_PYTHON, str(script), quick.uri)
    assert said.stdout.strip() == "all as specified", said


@needs("nbdcopy")
def test_over_tcp_too(tmp_path: Path) -> None:
    (tmp_path / "small.toml").write_text(SMALL)
    (tmp_path / "part").write_bytes(random.Random(3).randbytes(MIB))
    with serving(tmp_path, "small.toml", "--listen", "tcp:127.0.0.1:0", "--clock", "virtual") as served:
        assert served.uri.startswith("nbd://127.0.0.1:")
        served.run("nbdcopy", "--destination-is-zero", "part", served.uri, check=True)
        served.run("nbdcopy", served.uri, "back")
        assert (tmp_path / "back").read_bytes()[:MIB] == (tmp_path / "part").read_bytes()


@needs("nbdkit", "nbdcopy")
def test_nbdkit_compares_what_is_written_with_what_is_there(quick: Served, image: Path) -> None:
    quick.run("nbdcopy", "--flush", str(image), quick.uri)
    # Its filter fails every write that would change a byte.
    proxy = ["nbdkit", "-U", "-", "--filter=checkwrite", "nbd", f"uri={quick.uri}", "--run"]
    quick.run(*proxy, f'nbdcopy {image} "$uri"')
    other = bytearray(image.read_bytes())
    other[17 * MIB] ^= 1
    (quick.folder / "other").write_bytes(other)
    assert quick.run(*proxy, 'nbdcopy other "$uri"', check=False).returncode != 0
