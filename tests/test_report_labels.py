"""Labels of compared results of one name, and the place where their settings are shown."""

from __future__ import annotations

import copy
from pathlib import Path
from typing import Any

from outlast.report import render
from outlast.report.labels import LONGEST, labels, numbered
from outlast.result import Result
from sample import sample_result
from test_report import own_html


def demo(settings: dict[str, Any] | None = None, folder: str | None = None) -> Result:
    """A result called demo with other settings, by dotted name, perhaps read from a folder."""
    result = copy.deepcopy(sample_result("demo"))
    for name, value in (settings or {}).items():
        own = result.summary["scenario"]
        *parents, last = name.split(".")
        for parent in parents:
            own = own.setdefault(parent, {})
        own[last] = value
    if folder is not None:
        vars(result)["folder"] = Path(folder)
    return result


def by(policy: str) -> Result:
    return demo({"device.ftl.gc.policy": policy})


def test_runs_of_one_name_are_called_by_the_setting_that_differs() -> None:
    assert labels([by("greedy"), by("fifo")]) == ["demo, gc.policy = greedy", "demo, gc.policy = fifo"]
    assert labels([by("greedy"), sample_result("other"), by("fifo")])[1] == "other"
    two = [demo({"device.ftl.over_provisioning": 0.3}), demo({"device.ftl.capacity": "1GiB"})]
    for result, absent in zip(two, ("capacity", "over_provisioning"), strict=True):
        result.summary["scenario"]["device"]["ftl"].pop(absent, None)
    assert labels(two) == ["demo, over_provisioning = 0.3", "demo, ftl.capacity = 1GiB"]


def test_where_too_much_differs_the_folder_says_which_it_is() -> None:
    many = {"seed": 7, "device.ftl.gc.policy": "fifo", "device.ftl.gc.choices": 9}
    assert labels([demo(folder="out/a"), demo(many, "out/b")]) == ["a", "b"]
    assert labels([demo(), demo(many)]) == ["demo #1", "demo #2"]
    # One folder's name is no better than the other's, and a path is no label.
    assert labels([demo(folder="a/out"), demo(folder="b/out")]) == ["demo #1", "demo #2"]
    assert labels([by("x" * LONGEST), by("y" * LONGEST)]) == ["demo #1", "demo #2"]


def test_labels_are_unique_whatever_the_names() -> None:
    for names in (["a", "a", "a #1"], ["a #1", "a", "a", "a #1"], ["a", "b"]):
        found = numbered(names)
        assert len(set(found)) == len(names), found
    assert numbered(["a", "b", "a"]) == ["a #1", "b", "a #2"]


def test_the_settings_that_differ_come_first() -> None:
    page = own_html(render([by("greedy"), by("fifo")]))
    assert page.index('<section id="settings">') < page.index('<section id="headline">')
    assert "1 setting differs." in page and "<td>greedy</td><td>fifo</td>" in page
    assert "demo #1" not in page and "demo, gc.policy = fifo" in page
    assert "All settings are the same." in render([demo(), demo()])
    many = {f"device.made_up_{number}": number for number in range(20)}
    assert "<summary>and 8 more settings</summary>" in render([demo(), demo(many)])
