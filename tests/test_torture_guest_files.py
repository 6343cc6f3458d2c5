"""What a guest is made of: is what is missing said, and is the first file system complete?"""

from __future__ import annotations

import subprocess
from pathlib import Path

import click
import pytest
from click.testing import CliRunner

from guested import needs_guest
from outlast.errors import TortureError
from outlast.products.torture import guest, guest_files, guest_image
from outlast.products.torture.cli.guest import guest_files_command, guest_files_option
from outlast.products.torture.guest_boot import APPLETS, FILE_SYSTEMS, MODULES
from outlast.products.torture.guest_image import AbsentError, Contents, image
from outlast.products.torture.guest_machine import nbd_node


def test_a_folder_without_the_files_says_which_and_what_gets_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(guest_image, "TOOLS", ())
    monkeypatch.setenv(guest_files.VARIABLE, str(tmp_path))
    assert guest.missing("ext4") == f"there is no boot/vmlinuz-* in {tmp_path}: {guest_files.HINT}"
    assert guest.missing("minix") == "knows ext4, xfs, btrfs"
    monkeypatch.setattr(guest_image, "TOOLS", ("qemu-system-absent",))
    assert guest.missing("ext4") == "qemu-system-absent is not installed"
    monkeypatch.delenv(guest_files.VARIABLE)
    monkeypatch.setenv("XDG_CACHE_HOME", "/somewhere")
    assert guest_files.folder() == Path("/somewhere/outlast/guest")


def test_files_are_fetched_only_into_a_folder_of_their_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "mine").touch()
    done = CliRunner().invoke(guest_files_command, [str(tmp_path)])
    assert done.exit_code == 2 and f"{tmp_path}: is not empty" in done.output
    monkeypatch.setattr(guest_image, "SYSTEM", ())
    monkeypatch.setenv("PATH", "")
    done = CliRunner().invoke(guest_files_command, [str(tmp_path / "new")])
    assert done.exit_code == 2 and "apt-get is not installed: elsewhere than on Debian, fill" in done.output
    assert [path.name for path in tmp_path.iterdir()] == ["mine"]


def test_an_option_names_the_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(guest_files.VARIABLE, "/before")
    seen = []

    @click.command()
    @guest_files_option
    def command() -> None:
        seen.append(guest_files.folder())

    done = CliRunner().invoke(command, ["--guest-files", str(tmp_path)])
    assert (done.exit_code, seen) == (2, [])
    assert (
        "Invalid value for --guest-files" in done.output.replace("'", "")
        and "there is no boot/vmlinuz-*" in done.output
    )
    for name in ("boot/vmlinuz-1", "lib/modules/1/x", "bin/busybox"):
        (tmp_path / name).parent.mkdir(parents=True)
        (tmp_path / name).touch()
    assert CliRunner().invoke(command, ["--guest-files", str(tmp_path)]).exit_code == 0
    assert CliRunner().invoke(command, []).exit_code == 0
    assert seen == [tmp_path, tmp_path]


def test_a_drive_in_reach_of_a_guest_has_a_local_address() -> None:
    assert nbd_node("nbd+unix:///disk%201?socket=/run/x") == {
        "driver": "nbd",
        "server": {"type": "unix", "path": "/run/x"},
        "export": "disk 1",
    }
    assert nbd_node("nbd://localhost/")["server"] == {"type": "inet", "host": "localhost", "port": "10809"}
    with pytest.raises(TortureError, match=r"^nbds://host/x: a guest can use only drives at nbd"):
        nbd_node("nbds://host/x")


@needs_guest
def test_the_first_file_system_holds_every_module_with_what_it_needs(tmp_path: Path) -> None:
    files = guest_files.folder()
    contents = Contents("#!/bin/sh\n", APPLETS, (*MODULES, *FILE_SYSTEMS))
    packed = image(files, contents, tmp_path)
    listed = subprocess.run(["cpio", "-t", "--quiet"], input=packed.read_bytes(), capture_output=True).stdout.decode()
    for module in (*MODULES, *FILE_SYSTEMS, "9pnet", "jbd2", "netfs"):
        assert f"/{module}.ko" in listed, module
    with pytest.raises(AbsentError, match="has no module absent"):
        image(files, Contents("", (), ("absent",)), tmp_path / "again")
