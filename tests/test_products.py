"""Is the simulator free of its products (crash states, papers, fits), and do these use its public modules alone?"""

from __future__ import annotations

import ast
import re
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
PACKAGE = ROOT / "python" / "outlast"
PRODUCTS = PACKAGE / "products"
NAMES = {path.parent.name for path in PRODUCTS.glob("*/__init__.py")}

BINDERS = {"python", "bench"}
"""Crates that may use a product: `outlast._core` has the bindings of all, and the benchmarks measure all."""
COMMAND_TABLE = PACKAGE / "cli" / "__init__.py"
"""The only module of the simulator that may name a product, as text: it is loaded when its command is called."""
NATIVE = {"torture"}
"""Products with a crate, whose classes are in `outlast._core`."""
COMMAND_PARTS = {"options", "paper", "progress", "LazyGroup", "ctl.fault_of"}
"""Parts of the command line that products share: options, tables, progress, groups, the words of a fault."""


def crates_used(manifest: str) -> set[str]:
    """Our crates that a manifest names, for the crate itself, its tests or its build."""
    parsed = tomllib.loads(manifest)
    kinds = ("dependencies", "dev-dependencies", "build-dependencies")
    return {name.removeprefix("outlast-") for kind in kinds for name in parsed.get(kind, {}) if "outlast-" in name}


def imports(source: str) -> Iterator[str]:
    """Dotted names that a module imports; of `from a import b` it is `a.b`. A relative one begins with a dot."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield from ("." * node.level + f"{node.module or ''}.{alias.name}" for alias in node.names)


def products_named(source: str) -> bool:
    """A module that imports a product, or holds its name as text, as `import_module` takes it."""
    texts = (node.value for node in ast.walk(ast.parse(source)) if isinstance(node, ast.Constant))
    as_text = any(isinstance(text, str) and re.match(r"outlast\.products\.\w+[\w.:]*$", text) for text in texts)
    return as_text or any(name.startswith(("outlast.products", ".products")) for name in imports(source))


def trespasses(product: str, source: str) -> list[str]:
    """Imports that are no business of a module of `product`."""
    found = []
    for name in imports(source):
        parts = name.split(".")
        if name.startswith("."):
            found.append(f"{name}: imports are absolute")
        elif parts[0] != "outlast":
            continue
        elif parts[1] == "products":
            if parts[2] != product:
                found.append(f"{name}: another product")
        elif parts[1] == "cli":
            if not {".".join(parts[2:end]) for end in (3, 4)} & COMMAND_PARTS:
                found.append(f"{name}: a command of the simulator")
        else:
            private = {part for part in parts[1:] if part.startswith("_") and not part.endswith("__")}
            if private - ({"_core"} if product in NATIVE else set()):
                found.append(f"{name}: private to the simulator")
    return found


def test_crates_of_the_simulator_use_no_product() -> None:
    products = {path.parent.name for path in ROOT.glob("products/*/Cargo.toml")}
    assert products and products <= NAMES
    users = {
        path.parent.name
        for path in [*ROOT.glob("crates/*/Cargo.toml"), ROOT / "fuzz" / "Cargo.toml"]
        if crates_used(path.read_text()) & products
    }
    assert users == BINDERS


def test_modules_of_the_simulator_name_no_product() -> None:
    modules = [path for path in PACKAGE.rglob("*.py") if PRODUCTS not in path.parents]
    assert len(modules) > 80
    users = {path for path in modules if products_named(path.read_text())}
    assert users == {COMMAND_TABLE}
    assert not [name for name in imports(COMMAND_TABLE.read_text()) if "products" in name]


@pytest.mark.parametrize("product", sorted(NAMES))
def test_products_use_public_modules_and_no_other_product(product: str) -> None:
    modules = list((PRODUCTS / product).rglob("*.py"))
    assert len(modules) > 10
    found = {str(path.relative_to(ROOT)): wrong for path in modules if (wrong := trespasses(product, path.read_text()))}
    assert not found


@pytest.mark.parametrize(
    ("source", "reason"),
    [
        ("from outlast.products.reproduce import paper", "another product"),
        ("from outlast.points import _kept", "private"),
        ("from outlast import _core", "private"),
        ("from outlast.cli.run import run_command", "a command"),
        ("def late():\n    from .. import torture", "absolute"),
        ("from outlast import models\nfrom outlast.products.fit.rows import Row\nimport numpy", ""),
        ("from outlast import __version__\nfrom outlast.cli.paper import Paper", ""),
    ],
)
def test_a_trespass_is_seen(source: str, reason: str) -> None:
    found = trespasses("fit", source)
    assert bool(found) == bool(reason)
    assert all(reason in wrong for wrong in found)


def test_a_product_that_is_named_is_seen() -> None:
    assert products_named("def late():\n    from outlast.products.fit import fit")
    assert products_named("import_module('outlast.products.fit.engine')")
    assert products_named("from outlast import products") and products_named("from .products import fit")
    assert not products_named('"""A sentence on outlast.products.fit is none."""\nfrom outlast.points import local')
    assert crates_used('[dev-dependencies]\noutlast-torture.workspace = true\nserde = "1"') == {"torture"}
