"""Does a served array keep what fio verifies while dies and members fail, are made good, and the power goes?"""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest

from patience import PATIENCE_S, eventually
from served import needs
from served_here import ARRAY, Server, serving

pytestmark = needs("fio", "nbdinfo")

NO_SPARE = ARRAY.replace("members = 4", "members = 4\nspares = 0")
SIZE = "--size=48m"


def fio(served: Server, *more: str) -> list[str]:
    """A load that fio verifies."""
    load = ["fio", "--name=v", "--ioengine=nbd", f"--uri={served.server.uri}", "--bs=8k", "--iodepth=16", SIZE]
    return [*load, "--verify=crc32c", "--verify_fatal=1", "--verify_state_save=0", *more]


def under_load(served: Server, *befalls: tuple[int, dict[str, Any]]) -> None:
    """Random writes, all verified; after so many of them something befalls the array."""
    load = fio(served, "--rw=randwrite", "--loops=2")
    with subprocess.Popen(load, cwd=served.folder, stdout=subprocess.PIPE, text=True) as process:
        for writes, request in befalls:
            assert eventually(lambda writes=writes: served.ask("metrics")["operations"][1]["count"] > writes)  # type: ignore[misc]
            served.ask(**request)
        said, _ = process.communicate(timeout=PATIENCE_S)
        assert process.returncode == 0, said


def array_of(served: Server) -> Any:
    """The array as the simulator knows it."""
    return served.ask("state")["machine"]["array"]


def is_whole(served: Server) -> None:
    """Every member is there and in step, and nothing is lost or misplaced."""
    array = array_of(served)
    assert all(member["present"] and member["in_sync"] for member in array["members"]), array
    assert (array["lost_sectors"], array["write_holes"], array["pass"]) == (0, 0, None)
    found = json.loads(served.run("nbdinfo", "--json", "--map=x-outlast:health", served.server.uri))
    assert all(extent["type"] & 3 == 0 for extent in found), "nothing lost, nothing misplaced"


@pytest.mark.parametrize(
    ("scheme", "identifier"),
    [("isolated", "l2p-one-core"), ("cooperative", "l2p-all-cores"), ("cooperative", "p2l-block")],
    ids=["IDR", "CDR", "CDR*"],
)
def test_a_die_is_repaired_in_place(scheme: str, identifier: str, tmp_path: Path) -> None:
    ways = f'[device.repair]\nscheme = "{scheme}"\nidentifier = "{identifier}"\n\n[array]\n'
    with serving(tmp_path, ARRAY.replace("[array]\n", ways)) as served:
        under_load(served, (4000, {"do": "fault", "fault": {"kind": "die", "device": 1, "die": 3}}))
        served.ask("clock", advance="30s")
        (repair,) = array_of(served)["repairs"]
        assert (repair["member"], repair["die"], repair["abandoned"]) == (1, 3, False)
        assert repair["finished_ns"] is not None, "the member was made good where it is"
        is_whole(served)


def test_a_member_is_pulled_and_rebuilt(tmp_path: Path) -> None:
    with serving(tmp_path, NO_SPARE) as served:
        pulled = {"do": "fault", "fault": {"kind": "device", "device": 2}}
        under_load(served, (3000, pulled), (6000, {"do": "replace", "member": 2}))
        served.ask("clock", advance="600s")
        is_whole(served)
        # What the new drive holds is right: any other may go.
        served.ask("fault", fault={"kind": "device", "device": 0})
        served.run(*fio(served, "--rw=write", "--do_verify=0"))
        served.run(*fio(served, "--rw=read", "--verify_only"))


def test_power_is_cut_in_a_rebuild(tmp_path: Path) -> None:
    with serving(tmp_path, NO_SPARE) as served:
        served.run(*fio(served, "--rw=write", "--do_verify=0", "--end_fsync=1"))
        served.ask("clock", advance="10s")
        served.ask("fault", fault={"kind": "device", "device": 2})
        served.ask("replace", member=2)
        done = 0
        for _ in range(3):
            served.ask("clock", advance="200ms")
            under_way = array_of(served)["pass"]
            assert under_way["kind"] == "rebuild" and done < under_way["done"] < under_way["total"]
            done = under_way["done"]
            served.ask("power", action="cut")
            # It goes on where it was.
            served.run(*fio(served, "--rw=read", "--verify_only"))
        served.ask("clock", advance="600s")
        is_whole(served)
        served.ask("fault", fault={"kind": "device", "device": 0})
        served.run(*fio(served, "--rw=read", "--verify_only"))
