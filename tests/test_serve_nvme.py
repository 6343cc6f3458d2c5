"""Is there a door for NVMe/TCP where `--nvme` says? Hosts are in `crates/serve/tests/nvme.rs` and `tests/guest`."""

from __future__ import annotations

import re
import socket
import subprocess
import sys
from pathlib import Path

import pytest

import outlast
from conftest import call
from outlast.cli.serve_messages import connect_line
from outlast.serving.metrics import exposition
from patience import PATIENCE_S
from served import SMALL

URI = r"nvme\+tcp://127\.0\.0\.1:(\d+)/nqn\.2026-11\.org\.outlast:(\w+)"


def greeted(port: int) -> bytes:
    """Answer of the server to an ICReq that wants both digests."""
    request = bytearray(128)
    request[2] = request[4] = 128
    request[11] = 3
    with socket.create_connection(("127.0.0.1", port), timeout=PATIENCE_S) as host:
        host.sendall(request)
        answer = b""
        while len(answer) < 128 and (more := host.recv(128)):
            answer += more
    return answer


def test_the_address_is_printed_and_the_command_has_it(tmp_path: Path) -> None:
    (tmp_path / "small.toml").write_text(SMALL)
    serve = ("serve", "small.toml", "--clock", "virtual", "--nvme", "tcp:127.0.0.1:0", "--run", 'echo "run: $nvme"')
    done = call(*serve, cwd=tmp_path)
    run = re.search(rf"^run: {URI}$", done.stdout, re.MULTILINE)
    assert run is not None, done.stdout
    assert run[2] == "small"


def test_a_host_is_greeted_beside_a_client_of_nbd() -> None:
    with outlast.serve("demo", {"precondition.fill": "none", "precondition.overwrite": "none"}) as plain:
        assert plain.nvme_uri is None
    changes = {"precondition.fill": "none", "precondition.overwrite": "none"}
    with outlast.serve("demo", changes, nvme=True, export="mine") as served:
        address = re.fullmatch(URI, str(served.nvme_uri))
        assert address is not None and address[2] == "mine"
        answer = greeted(int(address[1]))
        assert (answer[0], answer[2], answer[9], answer[11]) == (1, 128, 0, 3)
        assert int.from_bytes(answer[12:16], "little") >= 4096
        assert served.uri.startswith("nbd+unix:")


def test_the_line_that_connects_a_host_is_that_of_the_address() -> None:
    line = "sudo nvme connect -t tcp -a {} -s 4420 -n nqn.2026-11.org.outlast:die-repair"
    uri = "nvme+tcp://{}:4420/nqn.2026-11.org.outlast:die-repair"
    for address, host in (("127.0.0.1", "127.0.0.1"), ("[::1]", "::1")):
        assert connect_line(uri.format(address)) == line.format(host)
    assert connect_line("nbd+unix:///die-repair?socket=/run/nbd") is None


def test_the_line_is_printed_beside_the_address(tmp_path: Path) -> None:
    (tmp_path / "small.toml").write_text(SMALL)
    serve = [sys.executable, "-m", "outlast", "serve", "small.toml", "--clock", "virtual", "--nvme", "tcp:127.0.0.1:0"]
    with subprocess.Popen(serve, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as server:
        assert server.stdout is not None
        uris = [server.stdout.readline(), server.stdout.readline()]
        server.terminate()
        _, said = server.communicate()
    address = re.fullmatch(URI, uris[1].strip())
    assert address is not None
    wanted = f"sudo nvme connect -t tcp -a 127.0.0.1 -s {address[1]} -n nqn.2026-11.org.outlast:small"
    assert wanted in said.splitlines()


def test_namespaces_and_handles_are_figures_of_their_own() -> None:
    scenario = Path(__file__).parents[1] / "scenarios" / "examples" / "namespaces.toml"
    with outlast.serve(scenario, {"precondition.fill": "none", "precondition.overwrite": "none"}) as served:
        state, figures, smart = (served.ask({"do": what}) for what in ("state", "metrics", "smart"))
    assert [own["capacity"] >> 20 for own in figures["namespaces"]] == [128, 96, 16]
    text = exposition(state, figures, smart)[0].decode()
    for line in (
        'outlast_namespace_requests_total{namespace="3",op="flush"} 0.0',
        'outlast_namespace_bytes_total{namespace="1",op="write"} 0.0',
        'outlast_handle_host_bytes_total{handle="2"} 0.0',
        'outlast_handle_remaining_bytes{handle="0"} 0.0',
    ):
        assert line in text.splitlines(), text


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (("--nvme", "tcp:0.0.0.0:0"), '--nvme "tcp:0.0.0.0:0": other machines can reach it'),
        (("--nvme", "4420"), '--nvme "4420": must be'),
        (("--nvme", "tcp:127.0.0.1:0", "--tls-cert", "c.pem", "--tls-key", "k.pem"), "--tls offer"),
        (("--nvme", "tcp:127.0.0.1:0", "--export", "two words"), "neither spaces"),
    ],
)
def test_what_cannot_be_served_is_refused_in_one_line(tmp_path: Path, options: tuple[str, ...], said: str) -> None:
    (tmp_path / "small.toml").write_text(SMALL)
    done = call("serve", "small.toml", "--clock", "virtual", *options, "--run", "true", cwd=tmp_path, check=False)
    assert (done.returncode, done.stderr.count("\n")) == (2, 1), done.stderr
    assert said in done.stderr


def test_a_scenario_behind_the_option_is_said_to_belong_before_it(tmp_path: Path) -> None:
    (tmp_path / "small.toml").write_text(SMALL)
    done = call("serve", "--nvme", "small.toml", cwd=tmp_path, check=False)
    assert (done.returncode, done.stderr.count("\n")) == (2, 1), done.stderr
    assert '--nvme "small.toml"' in done.stderr
    assert "SCENARIO before --nvme" in done.stderr


def test_a_door_that_is_open_to_others_says_so(tmp_path: Path) -> None:
    (tmp_path / "small.toml").write_text(SMALL)
    serve = ("serve", "small.toml", "--clock", "virtual", "--nvme", "tcp:0.0.0.0:0", "--insecure", "--run", "true")
    done = call(*serve, cwd=tmp_path, check=False)
    assert "warning: --insecure: whoever can reach 0.0.0.0:0" in done.stderr
