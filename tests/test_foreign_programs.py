"""Does what only looks at a foreign file run nothing that the file names?"""

from __future__ import annotations

import pickle
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

import outlast
from conftest import ROOT, TINY, call
from outlast.policies.makers import Maker


class Trap:
    """Runs when it is unpickled."""

    def __init__(self, sign: str) -> None:
        self.sign = sign

    def __reduce__(self) -> tuple[Callable[..., object], tuple[str, str]]:
        return open, (self.sign, "w")


SIGN = "EXECUTED"
WAYS = ["py", "so", "pkl"]


def trap(folder: Path, kind: str) -> Path:
    """A scenario whose policy leaves a sign when it is loaded; the sign."""
    sign = folder / SIGN
    if kind == "py":
        (folder / "p.py").write_text(f"open({str(sign)!r}, 'w').close()\ndef choose(view): return None\n")
    elif kind == "so":
        if shutil.which("cc") is None:
            pytest.skip("no C compiler")
        source = (
            "#include <fcntl.h>\n__attribute__((constructor)) static void now(void) "
            f'{{ open("{sign}", O_CREAT | O_WRONLY, 0600); }}\nint choose(void) {{ return 0; }}\n'
        )
        (folder / "p.c").write_text(source)
        subprocess.run(["cc", "-shared", "-fPIC", "-o", "p.so", "p.c"], cwd=folder, check=True)
    else:
        (folder / "p.pkl").write_bytes(pickle.dumps(Trap(str(sign))))
    (folder / "tiny.toml").write_text(TINY)
    (folder / "pol.toml").write_text(f'extends = "tiny.toml"\nname = "x"\n[policies]\ngc = "p.{kind}:choose"\n')
    return sign


@pytest.mark.parametrize("kind", WAYS)
def test_looking_runs_nothing(tmp_path: Path, kind: str) -> None:
    sign = trap(tmp_path, kind)
    for words in (
        ("validate", "pol.toml"),
        ("validate", "pol.toml", "--estimate"),
        ("validate", "pol.toml", "--json"),
        ("validate", "pol.toml", "--estimate", "--json"),
        ("validate", "pol.toml", "--toml"),
        ("validate", "tiny.toml", "--set", f"policies.gc=p.{kind}:choose"),
        ("serve", "pol.toml", "--run", "true"),
        ("presets",),
        ("schema",),
        ("policies",),
    ):
        done = call(*words, cwd=tmp_path, check=False)
        assert done.returncode == (2 if words[0] == "serve" else 0), (words, done.stderr)
        assert not sign.exists(), words
    outlast.validate(tmp_path / "pol.toml")
    outlast.estimate(tmp_path / "pol.toml")
    assert not sign.exists()


@pytest.mark.parametrize("kind", WAYS)
def test_load_runs_it_as_it_says(tmp_path: Path, kind: str) -> None:
    sign = trap(tmp_path, kind)
    call("validate", "pol.toml", "--load", cwd=tmp_path, check=False)
    assert sign.exists()


@pytest.mark.parametrize(
    ("name", "told"),
    [
        ("absent.py:choose", "absent.py is not a file"),
        ("absent.so:choose", "absent.so is not a file"),
        ("absent.pkl:choose", "absent.pkl is not a file"),
        ("text.txt:choose", "text.txt is not a Python file"),
        ("own.py:two words", '"two words" is no name of a function or class'),
        ("own.py:a..b", '"a..b" is no name'),
        (".:choose", "is not a file"),
    ],
)
def test_the_form_of_code_is_checked_without_running_it(tmp_path: Path, name: str, told: str) -> None:
    (tmp_path / "tiny.toml").write_text(TINY)
    for file in ("text.txt", "own.py"):
        (tmp_path / file).write_text("raise SystemExit(7)\n")
    done = call("validate", "tiny.toml", "--set", f"policies.gc={name}", cwd=tmp_path, check=False)
    assert (done.returncode, done.stderr.count("\n")) == (2, 1), done.stderr
    assert "policies.gc = " in done.stderr and told in done.stderr, done.stderr


def test_a_shared_library_is_refused_for_what_it_cannot_decide(tmp_path: Path) -> None:
    trap(tmp_path, "so")
    done = call("validate", "tiny.toml", "--set", "policies.pacing=p.so:choose", cwd=tmp_path, check=False)
    assert done.returncode == 2 and "a shared library decides about superblocks" in done.stderr


def test_every_decision_can_be_checked_from_outside(tmp_path: Path) -> None:
    """An array asks for all decisions of arrays; placement is asked for the first writes."""
    (tmp_path / "tiny.toml").write_text(TINY)
    (tmp_path / "own.py").write_text("raise SystemExit(7)\n")
    for decision in ("gc", "wear_leveling", "placement", "pacing"):
        done = call("validate", "tiny.toml", "--set", f"policies.{decision}=own.py:choose", cwd=tmp_path, check=False)
        assert done.returncode == 0, done.stderr


def test_the_page_on_programs_is_linked_where_programs_are_named() -> None:
    guide = ROOT / "docs" / "guide"
    for page in ("adding-a-policy.md", "sweeps.md", "images.md"):
        assert "(programs-and-data.md)" in (guide / page).read_text().replace("\n", " "), page


def test_a_maker_is_what_loading_gives(tmp_path: Path) -> None:
    """Loading by hand springs the trap, which proves that the traps of other tests are set."""
    from outlast.policies import load

    sign = trap(tmp_path, "py")
    (maker,) = load([("gc", str(tmp_path / "p.py"), "choose")])
    assert isinstance(maker, Maker) and sign.exists()
