"""Definitions of a C header, as far as NVMeVirt's configuration goes: conditions on one name, and constant numbers.

Nothing is executed: an expression is a sum of products of numbers, of other definitions, of KB(), MB(), GB() and of
parentheses, with shifts. What else is defined keeps its text, and is refused only where a number is asked for.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from fractions import Fraction
from pathlib import Path

from outlast.errors import ScenarioError
from outlast.products.imports.parameters import Place
from outlast.products.imports.xml import read_bytes

SELECTOR = "BASE_SSD"
DEEPEST = 32
"""Definitions and parentheses within each other."""
MOST_BITS = 4096
"""Bits of the numerator and of the denominator of a number, at most: no drive has figures of more than 64."""
MOST_READ = 1 << 16
"""Characters that are read for one definition, at most, those of the definitions that it names included."""
MOST_BASES = 64
"""Models of drives in a header; NVMeVirt's has some ten."""
_SCALES = {"KB": 1 << 10, "MB": 1 << 20, "GB": 1 << 30}
ENUMERATIONS = {
    **{name: value for value, name in enumerate(("SSD_TYPE_NVM", "SSD_TYPE_CONV", "SSD_TYPE_ZNS", "SSD_TYPE_KV"))},
    **{f"CELL_MODE_{name}": value for value, name in enumerate(("UNKNOWN", "SLC", "MLC", "TLC", "QLC"))},
}
"""Enumerations of NVMeVirt's versions whose constants are no definitions, or stand in another header."""
_CONDITION = re.compile(rf"\(?\s*{SELECTOR}\s*==\s*(\w+)\s*\)?")
_DEFINE = re.compile(r"define\s+(\w+)(\([^)]*\))?\s*(.*)")
_TOKEN = re.compile(r"\s*(?:(\d+\.\d*|\d+)[uUlL]*|(\w+)|(<<|[-+*/()]))")


@dataclass
class Definitions:
    """The definitions that hold where `BASE_SSD` is `base`."""

    file: str
    base: str
    _values: dict[str, Place]
    _asked: set[str] = field(default_factory=set)
    _read: int = 0
    """Characters that were read for the definition that is asked for."""

    @classmethod
    def read(cls, file: Path, base: str | None) -> Definitions:
        """Reads a header. Without `base`, it is the first conventional drive: the one with most definitions."""
        text = re.sub(rb"/\*.*?\*/", lambda found: b"\n" * found[0].count(b"\n"), read_bytes(file), flags=re.DOTALL)
        lines = re.sub(rb"//[^\n]*", b"", text).decode("utf-8", errors="replace").split("\n")
        bases = list(dict.fromkeys(found[1] for line in lines if "if" in line and (found := _CONDITION.search(line))))
        if not bases:
            raise ScenarioError(f"{file}: no #if ({SELECTOR} == ...): not NVMeVirt's ssd_config.h")
        if len(bases) > MOST_BASES:
            raise ScenarioError(f"{file}: models that {SELECTOR} selects = {len(bases)}: must be at most {MOST_BASES}")
        if base is not None and base not in bases:
            raise ScenarioError(f"{file}: --base {base}: must be one of {', '.join(bases)}")
        tried = [base] if base is not None else bases
        first = None
        for each in tried:
            model = cls(str(file), each, _holding(str(file), lines, each))
            if model._values.get("NS_SSD_TYPE_0", Place("", 0)).text == "SSD_TYPE_CONV":
                return model
            first = first or model
        assert first is not None  # there is a base
        return first

    def text(self, name: str) -> str:
        """A definition as written."""
        return self._values[name].text

    def first_of(self, *names: str) -> str:
        """The first of several names for the same that the header has; if it has none, the first."""
        return next((name for name in names if name in self._values), names[0])

    def rest(self) -> list[str]:
        """The names that were never asked for."""
        return [name for name in self._values if name not in self._asked]

    def number(self, name: str, least: float, most: float) -> float:
        """A number within limits."""
        return float(self._within(name, least, most))

    def whole(self, name: str, least: int, most: int) -> int:
        """A whole number within limits."""
        value = self._within(name, least, most)
        if value.denominator != 1:
            raise self._wrong(name, f"must be a whole number from {least} to {most}")
        return int(value)

    def _within(self, name: str, least: float, most: float) -> Fraction:
        self._asked.add(name)
        if name not in self._values:
            raise ScenarioError(f"{self.file}: {name} is not defined for {self.base}")
        self._read = 0
        value = self._value(name, 0)
        if not least <= value <= most:
            raise self._wrong(name, f"must be from {least:g} to {most:g}")
        return value

    def _wrong(self, name: str, limit: str) -> ScenarioError:
        place = self._values[name]
        return ScenarioError(f"{self.file}:{place.line}: {name} = {place.text[:60]}: {limit}")

    def _value(self, name: str, depth: int) -> Fraction:
        if name not in self._values and name in ENUMERATIONS:
            return Fraction(ENUMERATIONS[name])
        if name not in self._values or depth > DEEPEST:
            raise ValueError(f"{name} is not defined, or by itself")
        text = self._values[name].text
        try:
            # Definitions that each name another twice would be read without end.
            self._read += 1 + len(text)
            if self._read > MOST_READ:
                raise ValueError("too much to read")
            return _Expression(self, text, depth).all()
        except (ValueError, ZeroDivisionError, IndexError) as error:
            raise self._wrong(name, "is no number that can be computed") from error


def _bounded(value: Fraction) -> Fraction:
    if max(value.numerator.bit_length(), value.denominator.bit_length()) > MOST_BITS:
        raise ValueError("beyond any number of a drive")
    return value


class _Expression:
    """An expression that is read from left to right, with the precedence of C."""

    def __init__(self, of: Definitions, text: str, depth: int) -> None:
        self._of, self._depth, self._at = of, depth, 0
        self._tokens: list[tuple[str, str, str]] = []
        end = 0
        text = text.strip()
        while end < len(text):
            found = _TOKEN.match(text, end)
            if found is None:
                raise ValueError(text)
            self._tokens.append((found[1] or "", found[2] or "", found[3] or ""))
            end = found.end()

    def all(self) -> Fraction:
        value = self._shift()
        if self._at != len(self._tokens):
            raise ValueError("more than an expression")
        return value

    def _sign(self) -> str:
        return self._tokens[self._at][2] if self._at < len(self._tokens) else ""

    def _shift(self) -> Fraction:
        value = self._sum()
        while self._sign() == "<<":
            self._at += 1
            by = self._sum()
            if not 0 <= by <= 40:
                raise ValueError("shift")
            value = _bounded(value * (1 << int(by)))
        return value

    def _sum(self) -> Fraction:
        value = self._product()
        while (sign := self._sign()) in ("+", "-") and sign:
            self._at += 1
            other = self._product()
            value = _bounded(value + other if sign == "+" else value - other)
        return value

    def _product(self) -> Fraction:
        value = self._atom()
        while (sign := self._sign()) in ("*", "/") and sign:
            self._at += 1
            other = self._atom()
            value = _bounded(value * other if sign == "*" else value / other)
        return value

    def _atom(self) -> Fraction:
        number, name, sign = self._tokens[self._at]
        self._at += 1
        self._depth += 1
        if self._depth > DEEPEST:
            raise ValueError("too deep")
        try:
            if number:
                return _bounded(Fraction(number))
            if sign == "(":
                value = self._shift()
                if self._sign() != ")":
                    raise ValueError("parenthesis")
                self._at += 1
                return value
            if sign == "-":
                return -self._atom()
            if name in _SCALES:
                return _bounded(self._atom() * _SCALES[name])
            return self._of._value(name, self._depth)
        finally:
            self._depth -= 1


def _holding(file: str, lines: list[str], base: str) -> dict[str, Place]:
    """The definitions that hold for a base."""
    values: dict[str, Place] = {}
    # For each condition that is open: whether its present branch holds, and whether one has held.
    open_: list[tuple[bool, bool]] = []
    for number, line in enumerate(lines, 1):
        if not (directive := line.strip()).startswith("#"):
            continue
        directive = directive[1:].strip()
        word = directive.split(None, 1)[0] if directive else ""
        if word.startswith("if"):
            holds = _holds(directive, base)
            open_.append((holds, holds))
        elif word in ("elif", "else", "endif"):
            if not open_:
                raise ScenarioError(f"{file}:{number}: #{word} without #if")
            _, has_held = open_.pop()
            if word != "endif":
                holds = not has_held and (word == "else" or _holds(directive, base))
                open_.append((holds, has_held or holds))
        elif all(holds for holds, _ in open_) and (found := _DEFINE.match(directive)) and not found[2]:
            values[found[1]] = Place(found[3].strip(), number)
    if open_:
        raise ScenarioError(f"{file}: {len(open_)} #if without #endif")
    return values


def _holds(directive: str, base: str) -> bool:
    """Tells whether a condition holds; of those that are not of the base, `#if 0` alone does not."""
    if (found := _CONDITION.search(directive)) is not None:
        return found[1] == base
    return directive.split(None, 1)[1].strip() != "0" if " " in directive else True
