"""Are the definitions of a C header read as a compiler reads them, and nothing executed?"""

from __future__ import annotations

import tomllib
from functools import partial
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from foreign_configs import SIMPLESSD_CFG, SSD_CONFIG_H
from outlast.errors import ScenarioError
from outlast.products.imports.definitions import Definitions, _Expression
from outlast.products.imports.femu import femu
from outlast.products.imports.nvmevirt import nvmevirt
from outlast.products.imports.simplessd import simplessd

EXPRESSIONS = st.recursive(
    st.integers(1, 999).map(str),
    lambda inner: (
        st.tuples(inner, st.sampled_from(["+", "-", "*", "/"]), inner).map(
            lambda each: f"({each[0]} {each[1]} {each[2]})"
        )
        | st.tuples(inner, st.sampled_from([" + ", " - ", " * "]), inner).map("".join)
    ),
    max_leaves=8,
)


@given(EXPRESSIONS)
def test_an_expression_has_the_value_that_python_gives_it(text: str) -> None:
    try:
        wanted = eval(text)
    except ZeroDivisionError:
        with pytest.raises(ZeroDivisionError):
            _Expression(Definitions("x", "B", {}), text, 0).all()
        return
    assert float(_Expression(Definitions("x", "B", {}), text, 0).all()) == pytest.approx(wanted)


def test_the_branch_of_the_base_holds(tmp_path: Path) -> None:
    file = tmp_path / "ssd_config.h"
    file.write_text(SSD_CONFIG_H)
    found = Definitions.read(file, None)
    assert found.base == "SOME_DRIVE"
    assert found.whole("ONESHOT_PAGE_SIZE", 1, 10**9) == 32 << 10
    assert found.whole("GLOBAL_WB_SIZE", 1, 10**9) == 4 * 2 * (32 << 10) * 2
    assert found.whole("LBA_SIZE", 1, 10**9) == 512
    draft = nvmevirt(file, None, 256 << 20)
    # 256 MiB over 4 x 2 x 64 blocks are 512 KiB each: 16 one-shot programs of two pages.
    assert draft.value("device.geometry.pages_per_block") == 32
    assert draft.value("device.timing.read") == ["29.76us", "41.76us"]


@pytest.mark.parametrize(
    ("text", "base", "says"),
    [
        (SSD_CONFIG_H, "SOME_MEMORY", "SOME_MEMORY is no conventional SSD"),
        (SSD_CONFIG_H, "NONE", "--base NONE: must be one of SOME_MEMORY, SOME_DRIVE"),
        (SSD_CONFIG_H.replace("(185000)", "system(1)"), None, ":27: NAND_PROG_LATENCY = system(1): is no number"),
        (SSD_CONFIG_H.replace("(185000)", "NAND_PROG_LATENCY"), None, ":27: NAND_PROG_LATENCY = NAND_PROG"),
        (SSD_CONFIG_H.replace("(185000)", "(" * 50 + "1" + ")" * 50), None, "NAND_PROG_LATENCY"),
        (SSD_CONFIG_H.replace("(185000)", "1 << 1 << 400"), None, "NAND_PROG_LATENCY"),
        (SSD_CONFIG_H + "#if 1\n", None, "#if without #endif"),
        ("#endif\n" + SSD_CONFIG_H, None, ":1: #endif without #if"),
        ("int main;\n", None, "not NVMeVirt's ssd_config.h"),
    ],
)
def test_a_bad_header_is_refused_in_a_line(tmp_path: Path, text: str, base: str | None, says: str) -> None:
    file = tmp_path / "ssd_config.h"
    file.write_text(text)
    with pytest.raises(ScenarioError) as refused:
        nvmevirt(file, base, None)
    assert says in str(refused.value) and "\n" not in str(refused.value)


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ("femu", "no options"),
        ("femu,devsz_mb", '"devsz_mb" is not of the form name=value'),
        ("femu,nchs=8,nchs=4", "nchs is given twice"),
        ("femu,femu_mode=3", "femu_mode = 3: must be 1"),
        ("femu,devsz_mb=16384", "devsz_mb = 16384: must leave spare space below the 16384 MiB"),
        ("femu,pg_rd_lat=-1", "pg_rd_lat = -1: must be a whole number"),
    ],
)
def test_bad_options_of_femu_are_refused_in_a_line(options: str, says: str) -> None:
    with pytest.raises(ScenarioError) as refused:
        femu([options])
    assert says in str(refused.value)


@st.composite
def damaged(draw: st.DrawFn, text: str) -> str:
    """A text with some of its characters replaced."""
    letters = list(text)
    for _ in range(draw(st.integers(1, 6))):
        letters[draw(st.integers(0, len(letters) - 1))] = draw(st.characters(codec="utf-8"))
    return "".join(letters)


@given(header=damaged(SSD_CONFIG_H), config=damaged(SIMPLESSD_CFG), options=st.text("femu,nchs=0159-.e", max_size=60))
def test_any_damage_is_read_or_refused_in_a_line(
    tmp_path_factory: pytest.TempPathFactory, header: str, config: str, options: str
) -> None:
    folder = tmp_path_factory.mktemp("damaged")
    (folder / "ssd_config.h").write_text(header, encoding="utf-8")
    (folder / "s.cfg").write_text(config, encoding="utf-8")
    reads = (
        partial(nvmevirt, folder / "ssd_config.h", None, None),
        partial(simplessd, folder / "s.cfg"),
        partial(femu, [options]),
    )
    for read in reads:
        try:
            text = read().text()
        except ScenarioError as error:
            assert "\n" not in str(error)
        else:
            tomllib.loads(text)
