"""Is an image served from Python as from the command line, and its log traced to where it may be?"""

from __future__ import annotations

from pathlib import Path

import pytest

import outlast
from conftest import call
from outlast.errors import OutlastError
from served import SMALL


@pytest.fixture
def image(tmp_path: Path) -> Path:
    """An image of a small drive that has been served once."""
    (tmp_path / "small.toml").write_text(SMALL)
    folder = tmp_path / "disk.outlast"
    with outlast.serve(tmp_path / "small.toml", image=folder) as served:
        served.mark("here")
    return folder


def model(served: outlast.Served) -> str:
    """Name of the served scenario."""
    return str(served.state()["exports"][0]["name"])


def test_an_image_is_opened_without_its_scenario(image: Path) -> None:
    with outlast.serve(image=image) as served:
        assert model(served) == "small"
    with outlast.serve(None, image=str(image)) as served:
        assert model(served) == "small"
    with pytest.raises(OutlastError, match="was made from another scenario: name that one, or none"):
        outlast.serve("demo", image=image)


def test_without_a_scenario_a_new_image_is_that_of_the_demo(tmp_path: Path) -> None:
    change = {"precondition.fill": "none", "precondition.overwrite": "none"}
    image = tmp_path / "new.outlast"
    for _ in range(2):
        # Settings change the demo, and the image is opened by the same call again.
        with outlast.serve(overrides=change, image=image) as served:
            assert model(served) == "demo"
    with outlast.serve(image=image) as served:
        assert model(served) == "demo"


@pytest.mark.parametrize("name", ["t.blk", "log/t.blk", "scenario.toml", "../disk.outlast/t.blk", "link/t.blk"])
def test_the_trace_of_an_image_is_not_written_into_it(image: Path, name: str) -> None:
    (image.parent / "link").symlink_to(image)
    output = image.parent / name if name.startswith("link") else image / name
    before = sorted(image.rglob("*"))
    refused = call("image", "trace", image, output, check=False)
    assert refused.returncode == 2
    assert refused.stderr == (
        f"error: {output}: is in {image}, which is read by this command; name a file outside of it\n"
    )
    assert sorted(image.rglob("*")) == before


@pytest.mark.parametrize("ending", [".gz", ".zst", ".bz2", ".xz", ".zip", ".GZ"])
def test_a_trace_that_would_not_be_compressed_is_not_named_so(image: Path, ending: str) -> None:
    output = image.parent / f"disk.blkparse{ending}"
    refused = call("image", "trace", image, output, check=False)
    assert refused.returncode == 2 and not output.exists()
    assert refused.stderr == (
        f"error: {output}: the trace is written without compression; name a file that does not end in {ending}\n"
    )


def test_the_trace_of_a_damaged_image_is_refused_and_not_written(image: Path, tmp_path: Path) -> None:
    segment, output = image / "log/00000001", tmp_path / "disk.blkparse"
    whole = bytearray(segment.read_bytes())
    whole[70] ^= 1
    segment.write_bytes(whole)
    refused = call("image", "trace", image, output, check=False)
    assert refused.returncode == 2
    assert refused.stderr == f"error: {segment}: is damaged at byte 28\n"
    segment.unlink()
    refused = call("image", "trace", image, output, check=False)
    assert refused.returncode == 2
    assert refused.stderr == f"error: {image}/log: segment 1 of the log is missing\n"
    assert not output.exists()
