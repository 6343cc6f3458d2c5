"""The files that tell the result of a check, beside the results of its states."""

from __future__ import annotations

from outlast.output import write_file
from outlast.products.torture.junit import junit
from outlast.products.torture.page import page
from outlast.products.torture.result import Result
from outlast.products.torture.results import JUNIT, REPORT, RESULT


def write(result: Result) -> None:
    """Writes result.json, junit.xml and report.html, each whole or not at all."""
    folder = result.request.out
    write_file(folder / RESULT, result.text())
    write_file(folder / JUNIT, junit(result))
    write_file(folder / REPORT, page(result))
