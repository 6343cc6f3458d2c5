"""Can a served machine be asked and told from outside, by those who may and by nobody else?"""

from __future__ import annotations

import http.client
import json
import os
import re
import socket
import stat
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import outlast
from conftest import ROOT, call
from drives import ARRAY
from outlast.serving import sockets
from outlast.serving.client import Client, path_of
from outlast.serving.control import LONGEST_REQUEST, MOST_CLIENTS, Control
from outlast.serving.web import POSTS
from patience import PATIENCE_S

NAME = "under-test"


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[outlast.Served]:
    """A small array, served with a control socket in a folder of the test's own, and HTTP."""
    before = os.environ.get("XDG_RUNTIME_DIR")
    os.environ["XDG_RUNTIME_DIR"] = str(tmp_path_factory.mktemp("run"))
    try:
        with outlast.serve(ARRAY, name=NAME, http=True) as served:
            yield served
    finally:
        if before is None:
            del os.environ["XDG_RUNTIME_DIR"]
        else:
            os.environ["XDG_RUNTIME_DIR"] = before


def asked(served: outlast.Served, method: str, path: str, body: Any = None, **headers: str) -> tuple[int, bytes, Any]:
    """Status, body and headers of an HTTP request, with the token unless another Authorization is given."""
    assert served.url is not None
    host, token = re.fullmatch(r"http://([\d.:]+)/#token=(\S+)", served.url).groups()  # type: ignore[union-attr]
    given = {"Authorization": f"Bearer {token}"} | {name.replace("_", "-"): value for name, value in headers.items()}
    connection = http.client.HTTPConnection(host, timeout=PATIENCE_S)
    try:
        connection.putrequest(method, path, skip_host="Host" in given)
        data = b"" if body is None else body if isinstance(body, bytes) else json.dumps(body).encode()
        for name, value in (given | {"Content-Length": str(len(data))}).items():
            connection.putheader(name, value)
        connection.endheaders(data)
        answer = connection.getresponse()
        return answer.status, answer.read(), answer.headers
    finally:
        connection.close()


def test_the_socket_is_for_its_owner_alone(served: outlast.Served) -> None:
    assert served.control == sockets.socket_path(NAME)
    found = served.control.stat()
    assert stat.S_ISSOCK(found.st_mode) and stat.S_IMODE(found.st_mode) == 0o600
    assert stat.S_IMODE(served.control.parent.stat().st_mode) == 0o700


def test_the_socket_answers_line_by_line(served: outlast.Served) -> None:
    with Client(path_of(NAME)) as client:
        state = client.ask({"do": "state"})
        assert state["machine"]["array"]["level"] == "raid5"
        client.ask({"do": "mark", "text": "commit 17 returned"})
        assert client.ask({"do": "state"})["events"][-1]["text"] == "commit 17 returned"
        for request, message in (
            ({"do": "dance"}, "unknown variant `dance`"),
            ({"do": "fault", "fault": {"kind": "die", "die": 99, "device": 0}}, "die = 99"),
            ({"do": "power", "action": "away"}, "unknown variant `away`"),
            ({}, "missing field `do`"),
        ):
            with pytest.raises(outlast.ControlError, match=re.escape(message)) as caught:
                client.ask(request)
            assert "\n" not in str(caught.value)


def test_nonsense_on_the_socket_is_refused_and_the_connection_lives(served: outlast.Served) -> None:
    with socket.socket(socket.AF_UNIX) as raw:
        raw.connect(str(served.control))
        lines = raw.makefile("rwb")
        for line in (b"nonsense", b"[1, 2]", b"\xff\xfe", b'{"do":"state"', b"", b"{}"):
            lines.write(line + b"\n")
            lines.flush()
            assert set(json.loads(lines.readline())) == {"error"}
        lines.write(b"x" * (LONGEST_REQUEST + 2) + b"\n")
        lines.flush()
        assert "at most" in json.loads(lines.readline())["error"]


def test_many_clients_are_refused_in_words(served: outlast.Served) -> None:
    assert served.control is not None
    held = [Client(served.control) for _ in range(MOST_CLIENTS)]
    try:
        for client in held:
            client.ask({"do": "metrics"})
        with Client(served.control) as late, pytest.raises(outlast.ControlError, match="clients are connected already"):
            late.ask({"do": "metrics"})
    finally:
        for client in held:
            client.__exit__(None, None, None)


def test_a_name_is_used_once_and_what_a_dead_server_left_is_replaced(served: outlast.Served) -> None:
    class Deaf:
        def request(self, text: str) -> str:
            return text

    with pytest.raises(outlast.ControlError, match="a server of that name runs already"):
        Control(Deaf(), sockets.socket_path(NAME))
    left = sockets.socket_path("left")
    with socket.socket(socket.AF_UNIX) as dead:
        dead.bind(str(left))
    assert left.exists()
    with (
        Control(Deaf(), left),
        Client(left) as client,
        pytest.raises(outlast.ControlError, match="neither ok nor error"),
    ):
        client.ask({"do": "nothing"})
    assert not left.exists()
    for name in ("", "a/b", "..", "x" * 65):
        with pytest.raises(outlast.ControlError, match="name"):
            sockets.socket_path(name)


def test_a_folder_that_others_can_enter_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path))
    (tmp_path / "outlast").mkdir(mode=0o755)
    (tmp_path / "outlast").chmod(0o755)
    with pytest.raises(outlast.ControlError, match="nobody else can enter"):
        sockets.socket_path("mine")


def test_the_command_is_a_thin_client(served: outlast.Served) -> None:
    shown = call("ctl", NAME, "state").stdout
    assert "raid5 [UUUU], healthy" in shown and "drive 3: 4 dies good" in shown
    # The only one that runs needs no name.
    call("ctl", "mark", "two", "words")
    state = json.loads(call("ctl", "state", "--json").stdout)
    assert state["events"][-1]["text"] == "two words"
    assert json.loads(call("ctl", "clock").stdout)["mode"] == "virtual"
    assert json.loads(call("ctl", "smart").stdout)["media_errors"] == 0
    assert json.loads(call("ctl", "metrics").stdout)["clients"] == 0
    refused = call("ctl", "fault", "die", "99", "device=1", check=False)
    assert (refused.returncode, refused.stdout) == (2, "")
    assert refused.stderr.startswith("error: fault.die = 99") and refused.stderr.count("\n") == 1
    nobody = call("ctl", "nobody", "state", check=False)
    assert nobody.returncode == 2 and "no server listens there" in nobody.stderr
    unknown = call("ctl", "sate", check=False)
    assert unknown.returncode == 2 and 'no command "sate"' in unknown.stderr


def test_http_says_what_the_socket_says(served: outlast.Served) -> None:
    status, body, headers = asked(served, "GET", "/v1/state")
    assert status == 200 and json.loads(body)["machine"]["name"] == "small"
    assert "default-src 'none'" in headers["content-security-policy"]
    assert headers["access-control-allow-origin"] is None
    status, body, _ = asked(served, "POST", "/v1/mark", {"text": "by http"})
    assert status == 200
    assert served.state()["events"][-1]["text"] == "by http"
    status, body, _ = asked(served, "POST", "/v1/faults", {"kind": "die", "die": 77, "device": 1})
    assert status == 400 and "die = 77" in json.loads(body)["error"]
    assert asked(served, "POST", "/v1/faults", b"not json")[0] == 400
    assert asked(served, "POST", "/v1/faults", [1])[0] == 400
    assert asked(served, "POST", "/v1/mark", {"text": "x" * LONGEST_REQUEST})[0] == 413
    assert asked(served, "GET", "/v1/smart?format=poem")[0] == 400
    assert asked(served, "GET", "/nowhere")[0] == 404


def test_the_health_log_comes_in_three_shapes_and_reading_needs_no_token(served: outlast.Served) -> None:
    def read(path: str) -> tuple[int, bytes, Any]:
        return asked(served, "GET", path, Authorization="")

    status, body, _ = read("/v1/smart")
    assert status == 200 and json.loads(body) == served.smart() == json.loads(read("/v1/smart?format=json")[1])
    status, body, _ = read("/v1/smart?format=smartctl&device=3")
    told = json.loads(body)
    assert (status, told["model_name"], told["device"]["type"]) == (200, served.state()["machine"]["model"], "nvme")
    log = told["nvme_smart_health_information_log"]
    status, page, headers = read("/v1/smart?format=raw&device=3")
    assert (status, len(page), headers["content-type"]) == (200, 512, "application/octet-stream")
    # Bytes of NVMe's log page: spare, its threshold, percentage used, power cycles.
    found = (page[3], page[4], page[5], int.from_bytes(page[112:128], "little"))
    keys = ("available_spare", "available_spare_threshold", "percentage_used", "power_cycles")
    assert found == tuple(log[key] for key in keys)
    for path, expected in (
        ("/v1/smart?format=poem", 400),
        ("/v1/smart?format=raw&device=99", 404),
        ("/v1/smart?device=x", 400),
        ("/v1/smart?device=-1", 400),
    ):
        status, body, _ = read(path)
        assert status == expected and json.loads(body)["error"], path
    for path in ("/v1/state", "/v1/metrics", "/metrics"):
        assert read(path)[0] == 200


@pytest.mark.parametrize("path", sorted(POSTS.values()))
@pytest.mark.parametrize("authorization", ["", "Bearer", "Bearer wrong", "Basic eDp5", "Bearer \xe9"])
def test_nobody_changes_anything_without_the_token(served: outlast.Served, path: str, authorization: str) -> None:
    before = served.state()["events"][-1:]
    status, body, _ = asked(served, "POST", path, {"text": "stolen"}, Authorization=authorization)
    assert status == 401 and "token" in json.loads(body)["error"]
    assert served.state()["events"][-1:] == before


@pytest.mark.parametrize(
    "host", ["evil.example", "evil.example:PORT", "127.0.0.1", "127.0.0.1:1", "", "127.0.0.1:PORT.evil"]
)
def test_a_name_that_resolves_to_this_computer_is_no_way_in(served: outlast.Served, host: str) -> None:
    assert served.url is not None
    port = served.url.split(":")[2].split("/")[0]
    for method, path in (("GET", "/v1/state"), ("GET", "/"), ("POST", "/v1/mark")):
        status, body, _ = asked(served, method, path, Host=host.replace("PORT", port))
        assert status in (400, 421), (status, body)
    assert asked(served, "GET", "/v1/state", Host=f"localhost:{port}")[0] == 200


def test_pages_of_another_origin_get_nothing(served: outlast.Served) -> None:
    for origin in ("http://evil.example", "null", "https://127.0.0.1"):
        assert asked(served, "GET", "/v1/state", Origin=origin)[0] == 403
        assert asked(served, "POST", "/v1/mark", {"text": "x"}, Origin=origin)[0] == 403
        assert asked(served, "OPTIONS", "/v1/mark", Origin=origin)[0] == 403


def test_events_come_as_a_stream(served: outlast.Served) -> None:
    assert served.url is not None
    connection = http.client.HTTPConnection(served.url.split("/")[2], timeout=PATIENCE_S)
    connection.request("GET", "/v1/events")
    answer = connection.getresponse()
    assert answer.getheader("content-type", "").startswith("text/event-stream")
    told: list[dict[str, Any]] = []
    while len(told) < 3:
        line = answer.readline()
        if line.startswith(b"data: "):
            told.append(json.loads(line[6:]))
    connection.close()
    assert all(set(each) == {"state", "figures"} for each in told)


def test_names_for_prometheus_are_documented_and_no_others(served: outlast.Served) -> None:
    from prometheus_client.parser import text_string_to_metric_families

    status, body, headers = asked(served, "GET", "/metrics")
    assert status == 200 and headers["content-type"].startswith("text/plain")
    families = {family.name: family for family in text_string_to_metric_families(body.decode())}
    told = {f"{name}_total" if family.type == "counter" else name for name, family in families.items()}
    told = {re.sub(r"^outlast_smart_.*", "outlast_smart_*", name) for name in told}
    page = (ROOT / "docs" / "reference" / "control.md").read_text()
    rows = dict(re.findall(r"^\| `(outlast_[^`]+)` \|([^|]*)\|", page, re.M))
    assert set(rows) == told
    # A name of which the table says that it is that of a figure is that of a figure.
    figures = (ROOT / "docs" / "reference" / "metrics.md").read_text()
    same = [name for row in rows.values() for name in re.findall(r"`([^`]+)`", row)]
    assert len(same) > 8
    for name in same:
        assert f"| `{name}` |" in figures, name


def test_requests_from_many_threads_are_all_answered(served: outlast.Served) -> None:
    answers: list[int] = []

    def ask() -> None:
        for _ in range(20):
            answers.append(served.metrics()["clock"]["now_ns"])

    threads = [threading.Thread(target=ask) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(answers) == 160
