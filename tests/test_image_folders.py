"""Does an image keep to its own folder, and is nothing lost that is in one?"""

from __future__ import annotations

import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest

import outlast
from conftest import call
from outlast.errors import OutlastError
from patience import PATIENCE_S
from served import SMALL, files_of

NOTHING = ["--clock", "virtual", "--quiet", "--run", "true"]
"""Options of a server that ends as soon as it is ready."""


@pytest.fixture
def image(tmp_path: Path, small: Path) -> Path:
    """An image of it that has been served once."""
    folder = tmp_path / "e.outlast"
    with outlast.serve(small, image=folder) as served:
        served.mark("here")
    return folder


def test_an_image_without_its_first_file_is_refused_and_keeps_its_log(small: Path, image: Path) -> None:
    (image / "image").unlink()
    before = files_of(image)
    for scenario in ([small], []):
        refused = call("serve", *scenario, "--image", image, *NOTHING, check=False)
        assert refused.returncode == 2 and refused.stderr.count("\n") == 1
        assert refused.stderr.startswith(f"error: {image}/image: is missing, although the folder holds log: ")
        assert files_of(image) == before
    with pytest.raises(OutlastError, match="image: is missing"):
        outlast.serve(image=image)
    assert files_of(image) == before


def test_a_scenario_of_the_user_is_not_replaced_by_that_of_an_image(tmp_path: Path, small: Path) -> None:
    own = tmp_path / "own"
    own.mkdir()
    small.rename(own / "scenario.toml")
    refused = call("serve", "scenario.toml", "--image", ".", *NOTHING, cwd=own, check=False)
    assert refused.returncode == 2
    assert refused.stderr == "error: .: holds scenario.toml and is not an Outlast image: name an empty folder\n"
    assert [path.name for path in own.iterdir()] == ["scenario.toml"]
    assert (own / "scenario.toml").read_text() == SMALL


def can_trace(folder: Path) -> bool:
    """True if strace may kill a process at a system call."""
    if shutil.which("strace") is None:
        return False
    command = ["strace", "-qq", "-o", "/dev/null", "-e", "inject=openat:signal=KILL", "true"]
    return subprocess.run(command, cwd=folder, capture_output=True).returncode in (-9, 137)


def test_a_server_that_is_killed_at_any_write_of_a_creation_leaves_a_folder_that_can_be_served(
    tmp_path: Path, small: Path
) -> None:
    if not can_trace(tmp_path):
        pytest.skip("strace absent, or not allowed")
    image = tmp_path / "made"
    program = [sys.executable, "-m", "outlast", "serve", str(small), "--image", str(image), *NOTHING]
    # A call counts if it has a descriptor of the folder, or of one of these files.
    paths = [image, *(image / name for name in ("image.new", "scenario.toml", "clock"))]
    watched = [option for path in paths for option in ("-P", str(path))]
    whole: list[str] = []
    for call_name, number, last in (
        ("write", 1, "image.new"),
        ("mkdirat", 1, None),
        ("write", 2, "scenario.toml"),
        ("write", 3, "clock"),
        ("renameat", 1, None),
    ):
        inject = f"inject={call_name}:signal=KILL:when={number}"
        command = ["strace", "-f", "-qq", "-o", "/dev/null", *watched, "-e", inject, *program]
        killed = subprocess.run(command, cwd=tmp_path, capture_output=True, timeout=PATIENCE_S)
        assert killed.returncode == -signal.SIGKILL, killed.stderr
        files = {path.name: path.stat().st_size for path in image.iterdir()}
        assert files.pop("lock") == 0 and (last is None or files.pop(last) == 0), "a call was not carried out"
        assert files.keys() >= set(whole) and "image" not in files and all(files.values())
        whole = list(files)
        outlast.serve(small, image=image).stop()
        assert (image / "clean").exists() and not (image / "image.new").exists()
        shutil.rmtree(image)
    assert sorted(whole) == ["clock", "image.new", "log", "scenario.toml"]
