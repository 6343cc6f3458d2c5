"""The result as JUnit XML, which test services show: a test case for each state."""

from __future__ import annotations

import re
from xml.etree import ElementTree as ET

from outlast.products.torture.result import Result
from outlast.products.torture.results import Verdict

_FORBIDDEN = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
"""Characters that XML 1.0 cannot hold, not even escaped; programs may print them."""


def junit(result: Result) -> str:
    """The text of junit.xml."""
    suites = ET.Element("testsuites", name="outlast torture")
    for model in result.planned:
        of_model = [verdict for verdict in result.verdicts if verdict.model == model]
        suite = ET.SubElement(suites, "testsuite", {"name": model, **_counts(of_model)})
        for verdict in of_model:
            suite.append(_case(verdict, result))
    suites.attrib.update(_counts(result.verdicts))
    ET.indent(suites)
    return '<?xml version="1.0" encoding="UTF-8"?>\n' + ET.tostring(suites, encoding="unicode") + "\n"


def _counts(verdicts: list[Verdict]) -> dict[str, str]:
    return {
        "tests": str(len(verdicts)),
        "failures": str(sum(verdict.is_bad for verdict in verdicts)),
        "errors": "0",
        "skipped": "0",
        "time": f"{sum(verdict.seconds for verdict in verdicts):.3f}",
    }


def _case(verdict: Verdict, result: Result) -> ET.Element:
    case = ET.Element(
        "testcase",
        classname=f"{result.request.run.name}.{verdict.model}",
        name=verdict.state,
        time=f"{verdict.seconds:.3f}",
    )
    if verdict.is_bad:
        lost = [f"  {entry['text']}" for entry in verdict.witness]
        if len(lost) < verdict.lost:
            lost.append(f"  and {verdict.lost - len(lost)} more")
        said = [verdict.output.rstrip(), "", "lost:", *(lost or ["  nothing"]), "", "again:"]
        failure = ET.SubElement(case, "failure", type=verdict.stage, message=_plain(why(verdict)))
        failure.text = _plain("\n".join([*said, f"  {result.request.reproduce(verdict.state)}"]))
    return case


def why(verdict: Verdict) -> str:
    """Short reason of a bad state."""
    after = f" after {verdict.mark!r}" if verdict.mark else ""
    if verdict.stage == "start":
        return f"the device does not start{after}"
    if verdict.stage == "mount":
        return f"cannot be mounted{after}"
    if verdict.timed_out:
        return f"the check took too long{after}"
    code = "" if verdict.exit is None else f" with {verdict.exit}"
    return f"{'fsck' if verdict.stage == 'fsck' else 'the check'} failed{code}{after}"


def _plain(text: str) -> str:
    return _FORBIDDEN.sub("\N{REPLACEMENT CHARACTER}", text)
