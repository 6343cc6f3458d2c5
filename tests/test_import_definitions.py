"""Are the definitions of a C header read as a compiler reads them, and nothing executed?"""

from __future__ import annotations

import re
import tomllib
import tracemalloc
from functools import partial
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from conftest import Outlast
from foreign_configs import SIMPLESSD_CFG, SSD_CONFIG_H
from outlast.errors import ScenarioError
from outlast.products.imports.definitions import Definitions, _Expression
from outlast.products.imports.femu import femu
from outlast.products.imports.femu_script import options_of
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


def test_constants_of_enumerations_and_older_names_are_known(tmp_path: Path) -> None:
    older = re.sub(r"#define SSD_TYPE_\w+ \d\n", "", SSD_CONFIG_H)
    older = older.replace("CELL_MODE (2)", "CELL_MODE (CELL_MODE_MLC)").replace("GLOBAL_WB_SIZE", "WRITE_BUFFER_SIZE")
    (tmp_path / "old.h").write_text(older)
    (tmp_path / "new.h").write_text(SSD_CONFIG_H)
    old, new = (nvmevirt(tmp_path / name, None, 256 << 20) for name in ("old.h", "new.h"))
    values = [{name: value for name, (value, _) in draft.settings.items()} for draft in (old, new)]
    assert values[0] == values[1]


SCRIPT = """\
#!/bin/bash
nchs=${nchs:-4}   # channels, not 8
pg_rd_lat=40000 # page read latency
SUBSYS="-device femu-subsys,fdp=on"
FEMU_OPTIONS="-device femu"
FEMU_OPTIONS=${FEMU_OPTIONS}",devsz_mb=1024"
FEMU_OPTIONS=${FEMU_OPTIONS}",femu_mode=1,nchs=${nchs}"
FEMU_OPTIONS=${FEMU_OPTIONS}",pg_rd_lat=$pg_rd_lat"
touch %s
sudo ./qemu ${SUBSYS} \\
  ${FEMU_OPTIONS} -nographic
"""
"""A run script in the way of FEMU's, with a command that must not run."""


def test_a_run_script_of_femu_is_read_and_not_run(tmp_path: Path) -> None:
    trap, file = tmp_path / "trap", tmp_path / "run.sh"
    file.write_text(SCRIPT % trap)
    assert options_of(file) == "devsz_mb=1024,femu_mode=1,nchs=4,pg_rd_lat=40000"
    assert not trap.exists()
    for text, says in (
        ("echo nothing\n", "no -device femu"),
        ("a=$((1+2))\nqemu -device femu,nchs=$((a))\n", "computed by the script"),
    ):
        file.write_text(text)
        with pytest.raises(ScenarioError, match=says):
            options_of(file)


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("A=1\n" + "A=$A$A\n" * 60, ":18: characters of A = 65538 or more: must be at most 65536"),
        ("A=" + "x" * 60_000 + "\necho $A$A\n", ":2: characters of a line = 120005 or more: must be at most 65536"),
        ("A=" + "x" * 60_000 + "\nB=$A'$A'$A\n", ":2: characters of B = 120002 or more: must be at most 65536"),
        ("echo " + "x" * 70_000 + "\n", ":1: characters of a line = 70005 or more: must be at most 65536"),
        ("echo \\\n" * 20_000, "characters of a line = 655"),
        (
            "A=" + "x" * 60_000 + "\n" + "".join(f"A{i}=$A\n" for i in range(90_000)),
            ":70: characters of all expanded values: must be at most 4194304",
        ),
    ],
)
def test_what_a_script_of_femu_expands_to_takes_bounded_memory(tmp_path: Path, text: str, says: str) -> None:
    file = tmp_path / "run.sh"
    file.write_text(text + "qemu -device femu,devsz_mb=$A\n")
    tracemalloc.start()
    try:
        with pytest.raises(ScenarioError) as refused:
            options_of(file)
        assert tracemalloc.get_traced_memory()[1] < 64 << 20
    finally:
        tracemalloc.stop()
    assert says in str(refused.value) and str(file) in str(refused.value)


def test_definitions_that_double_take_bounded_memory(tmp_path: Path) -> None:
    file = tmp_path / "ssd_config.h"
    end = "#define NAND_PROG_LATENCY (185000)"
    assert end in SSD_CONFIG_H
    for how, count in (
        ("(D{0} * D{0})", 31),
        ("(D{0} + D{0})", 31),
        ("D{0} << 40", 31),
        ("1" + " * 999999999" * 5000, 1),
    ):
        chain = "".join(f"#define D{i + 1} {how.format(i)}\n" for i in range(count))
        file.write_text(SSD_CONFIG_H.replace(end, f"#define D0 999\n{chain}#define NAND_PROG_LATENCY D{count}"))
        tracemalloc.start()
        try:
            with pytest.raises(ScenarioError, match=r"is no number that can be computed|must be a whole number"):
                nvmevirt(file, None, None)
            assert tracemalloc.get_traced_memory()[1] < 32 << 20
        finally:
            tracemalloc.stop()
    file.write_text("".join(f"#if (BASE_SSD == B{i})\n#endif\n" for i in range(1000)))
    with pytest.raises(ScenarioError, match=r"models that BASE_SSD selects = 1000: must be at most 64"):
        nvmevirt(file, None, None)


def test_options_of_femu_are_taken_as_qemu_has_them(outlast: Outlast, tmp_path: Path) -> None:
    (tmp_path / "run.sh").write_text(SCRIPT % "x")
    by_script = outlast("import", "femu", tmp_path / "run.sh").stdout
    as_words = outlast("import", "femu", "-device", "femu,devsz_mb=1024,femu_mode=1,nchs=4,pg_rd_lat=40000").stdout
    assert by_script == as_words and "channels = 4" in as_words


def test_the_configuration_of_a_simulation_is_told_from_the_drives(tmp_path: Path) -> None:
    (tmp_path / "s.cfg").write_text("[global]\nInterface = 0\n" + SIMPLESSD_CFG)
    with pytest.raises(ScenarioError, match=r":1: \[global\]: configures a simulation; name the drive's file"):
        simplessd(tmp_path / "s.cfg")


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
        ("femu,devsz_mb", '"devsz_mb" is neither of the form name=value nor a script'),
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
