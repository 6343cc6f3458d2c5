"""Do junit.xml, report.html and the summary tell what was found, and nothing else?"""

from __future__ import annotations

import json
import re
import shlex
import shutil
from io import StringIO
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

import pytest
from rich.console import Console

from conftest import Outlast, call
from ledgers import FUNCTION, record
from outlast.products.torture import summary
from outlast.products.torture.check import check
from outlast.products.torture.check_request import CheckRequest
from outlast.products.torture.crash import State
from outlast.products.torture.junit import junit
from outlast.products.torture.page import page
from outlast.products.torture.result import Result
from outlast.products.torture.results import file_name
from outlast.products.torture.timeline import MOST_SHADES, WIDTH, Stretch, joined, timeline
from outlast.products.torture.trial import in_process
from outlast.report.figure import Figure
from served import needs
from states import FakeRecording, FakeState
from tortured import needs_loop


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A checked recording of a ledger that forgets to flush."""
    folder = tmp_path_factory.mktemp("ledger")
    record(folder, 10, 4)
    (folder / "check.py").write_text(FUNCTION)
    call("torture", "check", "run.outlast", "--check-in-process", "check.py:check", cwd=folder, check=False)
    return folder


def result_of(folder: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((folder / "run.outlast.torture" / "result.json").read_text())
    return found


def test_there_is_a_test_case_for_each_state(folder: Path) -> None:
    out = folder / "run.outlast.torture"
    suites = ET.parse(out / "junit.xml").getroot()
    lines = [json.loads(line) for line in (out / "results.jsonl").read_text().splitlines()]
    known = {line["state"]: line for line in lines if line["purpose"] != "shrink"}
    cases = {case.get("name"): case for case in suites.iter("testcase")}
    result = result_of(folder)
    assert len(cases) == len(list(suites.iter("testcase"))) == result["states"]["checked"]
    assert suites.get("tests") == str(len(cases))
    assert suites.get("failures") == str(result["states"]["bad"])
    assert [suite.get("name") for suite in suites] == list(result["by_model"]) == ["contract", "drive"]
    for suite in suites:
        counts = result["by_model"][suite.get("name")]
        assert (suite.get("tests"), suite.get("failures")) == (str(counts["checked"]), str(counts["bad"]))
        assert len(suite.findall("testcase")) == counts["checked"]
        assert len(suite.findall("testcase/failure")) == counts["bad"] > 0
    for name, case in cases.items():
        assert name is not None
        failure = case.find("failure")
        assert (failure is not None) == (known[name]["verdict"] == "bad")
        if failure is not None:
            assert failure.text is not None
            assert all(entry["text"] in failure.text for entry in known[name]["witness"])
            assert f"--state {name} --check-in-process check.py:check" in failure.text


def checked(tmp_path: Path, states: list[FakeState], complaint: str) -> Result:
    """Result of checking states that are all bad."""

    def function(state: State) -> str | None:
        return complaint if state.spans_ns else None

    request = CheckRequest(
        run=tmp_path / "a & b", out=tmp_path / "out", command=[], in_process="a.py:f", models=("drive",)
    )
    return check(FakeRecording(states), request, in_process(function), "in process", lambda *_: None)


NASTY = "\x00\x1b[31m<b>&amp;]]>\ud800\ufffe \N{SNOWMAN} [bold]"


def test_whatever_a_program_prints_is_text(tmp_path: Path) -> None:
    states = [FakeState("drive@1", "drive", mark="<mark> & [red]", spans_ns=[(0, 1000)], lost=["1"])]
    result = checked(tmp_path, states, NASTY)
    failure = ET.fromstring(junit(result)).find("testsuite/testcase/failure")
    assert failure is not None
    assert failure.text is not None
    assert "<b>&amp;]]>" in failure.text
    assert "\N{SNOWMAN} [bold]" in failure.text
    assert "<mark> & [red]" in str(failure.get("message"))
    html = page(result)
    assert "<b>&amp;]]>" not in html
    assert "&lt;b&gt;&amp;amp;]]&gt;" in html
    assert "<mark>" not in html
    shown = shown_of(result)
    assert "[bold]" in shown
    assert "'<mark> & [red]'" in shown


def shown_of(result: Result) -> str:
    text = StringIO()
    summary.show(result, Console(file=text, width=200, highlight=False, soft_wrap=True))
    return text.getvalue()


def test_the_page_has_all_parts_and_loads_nothing(folder: Path) -> None:
    html = (folder / "run.outlast.torture" / "report.html").read_text()
    own = re.sub(r"<script>.*?</script>", "", html, flags=re.S)
    for name in ("failures", "when", "models", "bad"):
        assert f'<section id="{name}">' in own
    assert 'id="timeline"' in own
    assert "default-src 'none'" in own
    result = result_of(folder)
    for failure in result["failures"]:
        smallest = failure["smallest"]
        assert smallest["reproduce"].replace("'", "&#x27;") in own
        assert smallest["witness"][0]["text"] in own
    assert own.count("<details>") == result["states"]["bad"]
    assert "(exact)" in own
    assert "in process" in own


def test_the_page_opens_without_errors(browser: Any, folder: Path) -> None:
    from selenium.webdriver.support.ui import WebDriverWait

    browser.get_log("browser")
    browser.get((folder / "run.outlast.torture" / "report.html").as_uri())
    WebDriverWait(browser, 60).until(lambda it: it.execute_script("return document.documentElement.dataset.drawn"))
    assert [entry for entry in browser.get_log("browser") if entry["level"] == "SEVERE"] == []
    assert browser.execute_script("return document.querySelectorAll('#timeline .scatterlayer .trace').length") >= 4
    overflow = "return document.documentElement.scrollWidth - document.documentElement.clientWidth"
    assert browser.execute_script(overflow) <= 0


def test_the_time_line_has_every_write_flush_and_mark(folder: Path, tmp_path: Path) -> None:
    figure = drawn(folder, tmp_path)
    lanes = {lane["name"]: lane for lane in figure.data}
    assert list(lanes) == ["write", "flush", "mark", "bad: drive"]
    # Writes of a microsecond beside each other are one stretch.
    stretches = lanes["write"]["customdata"][::3]
    assert sum(int(label.split()[0]) if label.endswith(" writes") else 1 for label in stretches) == 10
    assert 1 < len(stretches) < 10
    assert lanes["flush"]["x"].count(None) == 10 // 4
    assert lanes["mark"]["customdata"] == [*map(str, range(1, 11)), "outlast:end", "outlast:unmounted"]
    shaded = sum(shade["x1"] - shade["x0"] for shade in figure.layout["shapes"])
    first, last = result_of(folder)["recording"]["window_ns"]
    assert shaded * 1e6 == pytest.approx(last - first, rel=1e-6)


def drawn(folder: Path, tmp_path: Path) -> Figure:
    """The time line of the ledger if every instant were bad."""
    from outlast import _core

    recording = _core.Recording(str(folder / "run.outlast"))
    first, last = json.loads(recording.facts())["window_ns"]
    result = checked(tmp_path, [FakeState("drive@1", "drive", spans_ns=[(first, last)])], "bad")
    object.__setattr__(result, "timeline", json.loads(recording.timeline())["events"])
    figure = timeline(result)
    assert figure is not None
    return figure


def test_a_long_time_line_is_drawn_from_what_can_be_told_apart() -> None:
    stretches = [Stretch(n, n + 0.5, f"write {n}") for n in range(100_000)]
    few = joined(stretches, 100_000 / WIDTH, "writes")
    assert [(each.start, each.end, each.label) for each in few] == [(0, 99_999.5, "100000 writes")]
    apart = joined([Stretch(0, 1, "a"), Stretch(50, 51, "b"), Stretch(50.5, 52, "c")], 10, "writes")
    assert [(each.start, each.end, each.label) for each in apart] == [(0, 1, "a"), (50, 52, "2 writes")]


def test_a_page_of_many_bad_instants_stays_small(tmp_path: Path) -> None:
    states = [
        FakeState(f"drive@{n}", "drive", spans_ns=[(n * 10, n * 10 + 2)], mark=str(n), at_ns=n * 10)
        for n in range(5000)
    ]
    result = checked(tmp_path, states, "bad")
    events = [
        {"event": 0, "at_ns": 0, "kind": "mark", "text": "a"},
        {"event": 9, "at_ns": 50_000, "kind": "mark", "text": "b"},
    ]
    object.__setattr__(result, "timeline", events)
    figure = timeline(result)
    assert figure is not None
    assert 0 < len(figure.layout["shapes"]) <= MOST_SHADES
    assert "200 of 5000; results.jsonl has all." in page(result)


def test_the_summary_says_what_a_person_wants_to_know_first(tmp_path: Path) -> None:
    states = [FakeState("drive@1", "drive", spans_ns=[(0, 250)], lost=["4"]), FakeState("drive@2", "drive")]
    states[1] = FakeState("drive@2", "drive", spans_ns=[(250, 1000)])
    request = CheckRequest(
        run=tmp_path / "run", out=tmp_path / "out", command=[], in_process="a.py:f", models=("drive",)
    )
    result = check(FakeRecording(states), request, in_process(lambda s: "no" if s.lost else None), "x", lambda *_: None)
    shown = shown_of(result)
    assert shown.startswith("1 bad of 2 states   ")
    assert "states/s" in shown
    assert "25.0 % (exact)" in shown
    assert "this drive is left in this state" in shown
    assert "write 4 is lost" in shown
    assert f"again: {request.reproduce('drive@1')}" in shown


def test_json_is_the_result(folder: Path) -> None:
    words = ("run.outlast", "--json", "--check-in-process", "check.py:check")
    done = call("torture", "check", *words, cwd=folder, check=False)
    assert done.returncode == 1
    assert json.loads(done.stdout) == result_of(folder)


def test_states_with_long_names_have_files() -> None:
    long = "contract@812-" + ",".join(map(str, range(500)))
    assert len(file_name(long)) < 120
    assert file_name(long) != file_name(f"{long},500")
    assert file_name("twice/3@7-1") == "twice_3@7-1"


SAVE = """#!/bin/sh
set -eu
mark() { printf '%s\\n' "$1" >&"$OUTLAST_MARK_FD"; read -r _ <&"$OUTLAST_MARK_FD"; }
for number in 1 2 3; do
    echo "version $number" > "$OUTLAST_MOUNT/new"
    sync "$OUTLAST_MOUNT/new"
    mv "$OUTLAST_MOUNT/new" "$OUTLAST_MOUNT/file"
    SYNC
    mark "$number"
done
"""
LOOK = """#!/bin/sh
[ "${OUTLAST_MARK:-0}" = 0 ] && exit 0
read -r _ version < "$OUTLAST_MOUNT/file" || exit 4
[ "$version" -ge "$OUTLAST_MARK" ] || { echo "version $version, and $OUTLAST_MARK was saved"; exit 3; }
"""


@needs_loop
@needs("nbdfuse", "fusermount3")
@pytest.mark.parametrize(("sync", "code"), [("", 1), ('sync "$OUTLAST_MOUNT"', 0)])
def test_a_rename_that_is_not_synced_is_found_on_a_mounted_file_system(
    sync: str, code: int, outlast: Outlast, tmp_path: Path
) -> None:
    for name, text in (("save.sh", SAVE.replace("SYNC", sync)), ("look.sh", LOOK)):
        (tmp_path / name).write_text(text)
        (tmp_path / name).chmod(0o755)
    outlast("torture", "record", "--fs", "ext4", "--out", "run.outlast", "--", "./save.sh")
    done = outlast("torture", "check", "run.outlast", "--states", "60", "--fsck", "--", "./look.sh", check=False)
    assert done.returncode == code, done.stdout + done.stderr
    result = result_of(tmp_path)
    assert (result["fs"], result["backend"]) == ("ext4", "loop")
    assert result["states"]["checked"] == result["states"]["planned"]
    assert (result["states"]["bad"] > 0) == bool(code)
    if code:
        # After the first rename there was no such file before.
        assert {(each["stage"], each["exit"]) for each in result["failures"]} <= {("check", 3), ("check", 4)}
        failure = next(each for each in result["failures"] if (each["model"], each["exit"]) == ("contract", 3))
        again = outlast(*shlex.split(failure["smallest"]["reproduce"])[1:], check=False)
        assert again.returncode == 1
        assert "was saved" in again.stdout
    shutil.rmtree(tmp_path / "run.outlast")
