"""What a release is made of, as a bill of materials (CycloneDX): Rust, Python and the chart library in one file.

Of Rust's crates those are `required` that are compiled into the extension; `excluded` are those that only run while it
is built. Of Python's packages, `required` is what pip brings and `optional` what the extras bring, in the versions
that the release was tested with.
"""

from __future__ import annotations

import tomllib
import uuid
from collections.abc import Iterable, Mapping
from datetime import datetime
from importlib import metadata
from typing import Any

from cyclonedx.contrib.license.factories import LicenseFactory
from cyclonedx.model import HashAlgorithm, HashType
from cyclonedx.model.bom import Bom
from cyclonedx.model.component import Component, ComponentScope, ComponentType
from cyclonedx.output.json import JsonV1Dot6
from packageurl import PackageURL
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

EXTENSION = "outlast-python"
"""The crate that becomes `outlast._core`."""


def component(
    kind: str, name: str, version: str, licence: str | None, scope: ComponentScope, sha256: str | None = None
) -> Component:
    """A part of the release; `kind` is the registry's name in package URLs."""
    url = PackageURL(kind, None, name, version)
    # Older crates separate choices by a slash.
    licences = [LicenseFactory().make_from_string(licence.replace("/", " OR "))] if licence else []
    hashes = [HashType(alg=HashAlgorithm.SHA_256, content=sha256)] if sha256 else []
    return Component(
        name=name,
        version=version,
        type=ComponentType.LIBRARY,
        scope=scope,
        bom_ref=url.to_string(),
        purl=url,
        licenses=licences,
        hashes=hashes,
    )


def crates(cargo: Mapping[str, Any], tree: str, lock: str) -> tuple[list[Component], dict[str, list[str]]]:
    """What the extension is compiled from, of `cargo metadata`, and what depends on what, by package URL.

    `tree` has the lines of `cargo tree` without tests: the metadata also know the features that only tests switch on.
    """
    built = {tuple(line.replace(" v", " ", 1).split()[:2]) for line in tree.splitlines()}
    packages = {package["id"]: package for package in cargo["packages"]}
    nodes = {node["id"]: node for node in cargo["resolve"]["nodes"]}
    sums = {(each["name"], each["version"]): each.get("checksum") for each in tomllib.loads(lock)["package"]}
    (root,) = (key for key, package in packages.items() if package["name"] == EXTENSION)

    def macro(key: str) -> bool:
        return any("proc-macro" in target["kind"] for target in packages[key]["targets"])

    def needs(key: str, kinds: set[str | None]) -> list[str]:
        found = nodes[key]["deps"]
        asked = [each["pkg"] for each in found if kinds & {kind["kind"] for kind in each["dep_kinds"]}]
        return [each for each in asked if (packages[each]["name"], packages[each]["version"]) in built]

    def reached(start: Iterable[str], kinds: set[str | None], through_macros: bool) -> set[str]:
        seen, open_ends = set(), list(start)
        while open_ends:
            key = open_ends.pop()
            if key not in seen and (through_macros or not macro(key)):
                seen.add(key)
                open_ends += needs(key, kinds)
        return seen

    compiled = reached([root], {None}, through_macros=False)
    every = reached([root], {None, "build"}, through_macros=True)
    made = {}
    for key in sorted(every, key=lambda key: (packages[key]["name"], packages[key]["version"])):
        own = packages[key]
        scope = ComponentScope.REQUIRED if key in compiled else ComponentScope.EXCLUDED
        made[key] = component(
            "cargo", own["name"], own["version"], own["license"], scope, sums[own["name"], own["version"]]
        )
    edges = {
        made[key].bom_ref.value or "": [made[each].bom_ref.value or "" for each in needs(key, {None, "build"})]
        for key in made
    }
    return list(made.values()), edges


def licence_of(about: Mapping[str, Any]) -> str | None:
    """The licence that a Python package states, or None where it has only a text or a classifier."""
    stated = str(about.get("license_expression") or about.get("license") or "")
    return stated if 0 < len(stated) < 60 else None


def python_packages(project: Mapping[str, Any]) -> list[Component]:
    """What pip brings, and what the extras bring, in the versions that are installed here."""
    found: dict[str, Component] = {}

    def walk(lines: Iterable[str], scope: ComponentScope) -> None:
        for line in lines:
            asked = Requirement(line)
            name = canonicalize_name(asked.name)
            if name in found or (asked.marker is not None and not asked.marker.evaluate({"extra": ""})):
                continue
            installed = metadata.distribution(name)
            found[name] = component("pypi", name, installed.version, licence_of(installed.metadata.json), scope)
            walk(installed.requires or [], scope)

    walk(project["dependencies"], ComponentScope.REQUIRED)
    for extra, lines in project["optional-dependencies"].items():
        if extra != "dev":
            walk(lines, ComponentScope.OPTIONAL)
    return [found[name] for name in sorted(found)]


def bill(version: str, commit: str, made_at: datetime, parts: Iterable[Component], edges: dict[str, list[str]]) -> str:
    """The bill of materials as JSON; the same for the same parts, commit and time."""
    own = component("pypi", "outlast", version, "Apache-2.0 OR MIT", ComponentScope.REQUIRED)
    own.type = ComponentType.APPLICATION
    parts = list(parts)
    bom = Bom(components=parts, serial_number=uuid.uuid5(uuid.NAMESPACE_URL, f"{own.bom_ref.value}#{commit}"))
    bom.metadata.component, bom.metadata.timestamp = own, made_at
    by_reference = {part.bom_ref.value: part for part in parts}
    for reference, needed in edges.items():
        bom.register_dependency(by_reference[reference], [by_reference[each] for each in needed])
    # Crates hang on each other, below the extension; the rest hangs on the whole.
    whole = [part for part in parts if part.name == EXTENSION or (part.purl is not None and part.purl.type != "cargo")]
    bom.register_dependency(own, whole)
    return str(JsonV1Dot6(bom).output_as_string(indent=2)) + "\n"
