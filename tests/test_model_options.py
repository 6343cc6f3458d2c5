"""Does each option of `outlast model` change its result, and is what has no answer refused?"""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

import pytest

from conftest import Outlast
from test_bad_input import refused
from test_model_commands import NAMES, printed


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ("uper --pe 1000:24000", ['"1000:24000"', "from:to:step"]),
        ("uper --pe 24000:1000:10", ["ends before it begins"]),
        ("uper --pe 0:1e9:1", ["more than 100000"]),
        ("uper --rber 1e-9:1e-3:x1", ["factor above 1"]),
        ("uper --parities 0.5", ["0.5", "whole"]),
        ("uper --parities 8", ["parities = 8", "0 to 7"]),
        ("uper --chip qlc", ["qlc", "there are"]),
        ("uper --rber 2", ["rber = 2"]),
        ("uper --waf 1,2", ["--waf", "2 values", "3 curves"]),
        ("dlp --parity 50,20,20", ["sum of parity_percent = 90"]),
        ("ages --rates 1,0.5 --parity 50,50", ["not both"]),
        ("ages --limit -1", ["limit = -1"]),
        ("lifetime --target 2", ["target = 2"]),
        ("lifetime --years 0", ["--years = 0"]),
        ("lifetime --years inf --json", ["--years = inf", "1e+06"]),
        ("lifetime --spare 1e308 --json", ["spare = 1e+308", "at most 1e+06"]),
        ("mttdl --mttr -1", ["mttr = -1"]),
        ("mttdl --scrub 0", ["--scrub = 0"]),
        ("mttdl --device-bytes 4XB", ["4XB", "4TB"]),
        ("mttdl --copies 1", ["copies = 1"]),
        ("lifetime --spare 7%%", ["7%%", "7%"]),
        ("waf --hot-space 0.2", ["belong together"]),
        ("waf --plot . --spare 0.1", ["is a folder"]),
        ("wafe", ["wafe"]),
    ],
)
def test_nonsense_is_refused(outlast: Outlast, tmp_path: Path, arguments: str, says: list[str]) -> None:
    refused(outlast, tmp_path, "model", *arguments.split(), says=says)


# For each option that changes a result: what it is given, and what it needs beside it.
CHANGES = {
    "uper": "--n 9000 --k 9 --codewords 2 --stripe 9 --parities 3 --rber 1e-4 --pe 5000 --waf 2 --chip mlc-2y-nm "
    "--days 9:--chip=mlc-2y-nm --reads 9e5:--chip=mlc-2y-nm --count pages",
    "uber": "--n 5000 --k 5 --user-bits 2048 --chips im-2 --rber 1e-4 --pe 5000",
    "dlp": "--parity 90,5,5,0,0 --parities 2 --full-stripes 0.5 --limit 9000 --chip im-2 --failed any "
    "--device-bytes 1e9 --n 5000 --k 5 --user-bits 2048",
    "ages": "--parity 60,10,10,10,10 --rates 1,0.5 --parities 2:--parity=90,45,25,20,20 --full-stripes 0.5 "
    "--limit 9000 --replacements 9 --start 9,8,7,6,5",
    "lifetime": "--n 9000 --k 9 --codewords 2 --stripe 9 --parities 2 --spare 0.6 --waf 2 --retired 1e-6 --target 1e-9 "
    "--years 3 --chip mlc-2y-nm --days 9:--chip=mlc-2y-nm --reads 9e5:--chip=mlc-2y-nm",
    "mttdl": "--devices 8 --parities 3 --copies 2 --mttf 1e6 --mttr 9 --parallel --uber 1e-16 "
    "--device-bytes 1e12:--uber=1e-16 --latent-mttf 1e5 --scrub 99:--latent-mttf=1e5",
    "waf": "--spare 0.3 --stripe 9:--parities=1 --parities 1 --unusable 0.1 --hot-space 0.2:--hot-writes=0.9 "
    "--hot-writes 0.8:--hot-space=0.2",
}


TOGETHER = {("waf", "--hot-space"), ("waf", "--hot-writes"), ("ages", "--parities")}


def _given(model: str) -> list[tuple[list[str], list[str]]]:
    """Words of each option, and of those that it needs."""
    found = []
    for part in f" {CHANGES[model]}".split(" --")[1:]:
        own, _, need = part.partition(":")
        found.append((f"--{own}".split(), need.split()))
    return found


@pytest.mark.parametrize("model", NAMES)
def test_every_option_of_a_closed_form_changes_its_result(outlast: Outlast, model: str) -> None:
    from outlast.cli.model import model_command

    @cache
    def result(*words: str) -> list[Any]:
        found = printed(outlast, model, *words)
        return [found["x"]["values"], *found["curves"]]

    options = _given(model)
    known = {own.opts[0] for own in model_command.commands[model].params} - {"--json", "--plot", "--help"}
    assert {own[0] for own, _ in options} == known
    for own, need in options:
        # Options that belong together have no result of one alone.
        without = [] if (model, own[0]) in TOGETHER else need
        assert result(*need, *own) != result(*without), own


@pytest.mark.parametrize(
    ("arguments", "why"),
    [
        ("uper --rber 1e-4 --pe 1000", "--rber gives"),
        ("uper --rber 1e-4 --waf 2", "--rber gives"),
        ("uper --rber 1e-4 --chip msapl", "--rber gives"),
        ("uper --days 9", "chip msapl do not depend on it"),
        ("lifetime --reads 9", "chip msapl do not depend on it"),
        ("uper --parities 0 --stripe 9", "no curve has parity"),
        ("waf --stripe 9", "no curve has parity"),
        ("lifetime --parities 0 --stripe 9", "no curve has parity"),
        ("uber --rber 1e-4 --chips im-2", "--rber gives"),
        ("ages --rates 1,0.5 --parities 2", "any workload"),
        ("ages --rates 1,0.5 --full-stripes 0.5", "any workload"),
        ("mttdl --scrub 9", "--latent-mttf"),
        ("mttdl --device-bytes 1e9", "--uber"),
        ("mttdl --parities 1 --parallel", "one parity"),
    ],
)
def test_an_option_that_would_change_nothing_is_refused(
    outlast: Outlast, tmp_path: Path, arguments: str, why: str
) -> None:
    refused(outlast, tmp_path, "model", *arguments.split(), says=["changes nothing", why])
