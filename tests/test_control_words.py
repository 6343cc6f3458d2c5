"""Are the words of requests taken as the standards have them, and those that are no words refused?"""

from __future__ import annotations

import json

import pytest

import outlast
from test_control import asked, served

__all__ = ["served"]


def test_schemes_and_hosts_are_in_any_case(served: outlast.Served) -> None:
    assert served.url is not None
    port, token = served.url.split(":")[2].split("/")[0], served.url.partition("token=")[2]
    for scheme in ("bearer", "BEARER", "Bearer"):
        assert asked(served, "POST", "/v1/mark", {"text": scheme}, Authorization=f"{scheme} {token}")[0] == 200
    assert asked(served, "POST", "/v1/mark", {"text": "bare"}, Authorization=token)[0] == 401
    assert asked(served, "GET", "/v1/state", Host=f"LOCALHOST:{port}")[0] == 200


@pytest.mark.parametrize("shape", ["json", "smartctl", "raw", "ocp"])
def test_the_health_of_a_drive_that_is_not_there_is_not_found(served: outlast.Served, shape: str) -> None:
    status, body, _ = asked(served, "GET", f"/v1/smart?format={shape}&device=99999")
    assert status == 404 and json.loads(body) == {"error": "device = 99999: there is no such drive"}
    assert asked(served, "GET", f"/v1/smart?format={shape}&device=1")[0] == 200


@pytest.mark.parametrize(
    "text", ["two\nlines", "\x1b[31mred", "a\rb", "nul\0", "\x9b1m", "\u202eturned", "outlast:begin"]
)
def test_a_mark_is_one_line_that_commands_no_terminal(served: outlast.Served, text: str) -> None:
    before = served.state()["events"][-1:]
    status, body, _ = asked(served, "POST", "/v1/mark", {"text": text})
    refused = json.loads(body)["error"]
    assert status == 400 and refused.startswith("text = ") and refused.isprintable(), refused
    with pytest.raises(outlast.ControlError, match="text = "):
        served.ask({"do": "mark", "text": text})
    if not text.startswith("outlast:"):
        with pytest.raises(outlast.ControlError, match="export = "):
            served.ask({"do": "fork", "export": text})
    assert served.state()["events"][-1:] == before
