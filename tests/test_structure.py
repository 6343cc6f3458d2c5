"""Does the source stay as separable as it is: no more methods of one type tied across files, no more shared names?"""

from __future__ import annotations

import tomllib
from pathlib import Path

import structure

LIMITS: dict[str, dict[str, float]] = tomllib.loads((Path(__file__).parent / "structure.toml").read_text())

TEXT = """
impl Machine {
    fn first(&self) { self.second(); "a brace } in a string"; }
    // self.third();
    pub(crate) fn second(&mut self) { self . third ( ) }
}

impl<T> Clone for Machine {
    fn third(&self) {}
}

impl Other {
    fn fourth(&self) {}
}

#[cfg(test)]
mod tests {
    impl Machine { fn fifth(&self) {} }
}
"""


def test_nothing_that_ties_the_source_together_grows() -> None:
    measured = structure.measures()
    grown = [
        f"{subject}.{name} is {measured[subject][name]}, and was {limit}"
        for subject, limits in LIMITS.items()
        for name, limit in limits.items()
        if measured[subject][name] > limit
    ]
    assert not grown, "python tests/structure.py shows what grew:\n" + "\n".join(grown)


def test_limits_follow_what_has_been_untied() -> None:
    """A limit that is more than a twentieth above what is measured would let it grow back."""
    measured = structure.measures()
    loose = [
        f"{subject}.{name} is {measured[subject][name]}: lower its limit of {limit} in tests/structure.toml"
        for subject, limits in LIMITS.items()
        for name, limit in limits.items()
        if limit > measured[subject][name] * 1.05 + 1
    ]
    assert not loose, "\n".join(loose)


def test_methods_are_those_of_a_type_without_strings_comments_and_tests() -> None:
    text = structure.without_comments(structure.without_tests(TEXT))
    found = dict(structure.methods_of(text, "Machine"))
    assert list(found) == ["first", "second", "third"]
    calls = {name: structure.CALL.findall(body) for name, body in found.items()}
    assert calls == {"first": ["second"], "second": ["third"], "third": []}


def test_a_circle_is_files_that_call_each_other_and_no_chain() -> None:
    own = structure.Spread(methods={"a": "a.rs", "b": "core/b.rs", "c": "c.rs"})
    own.calls["a.rs"]["core/b.rs"] += 2
    own.calls["core/b.rs"]["c.rs"] += 1
    assert (own.circle, own.between_files, own.between_folders) == (0, 3, 3)
    own.calls["c.rs"]["core/b.rs"] += 1
    assert own.circle == 2
