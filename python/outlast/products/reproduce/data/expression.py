"""Expressions over the rows of a figure: `2 * waf(access="uniform", utilisation=u)`.

A name is a column of the row at hand or what a statement binds with `for`; a call with labels is a column of the one
row that has them; `models.NAME(...)` is a function of `outlast.models`. The grammar is Python's, of which only
arithmetic, comparisons, `and`, `or`, `not`, `A if B else C`, texts and numbers are taken.
"""

from __future__ import annotations

import ast
import itertools
import math
import operator
import re
import statistics
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

from outlast.errors import ScenarioError
from outlast.products.reproduce.model import Row, Table

Names: TypeAlias = Mapping[str, Any]
OPERATORS: Mapping[type[ast.AST], Callable[..., Any]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.Mod: operator.mod,
    ast.Pow: operator.pow,
    ast.USub: operator.neg,
    ast.UAdd: operator.pos,
    ast.Not: operator.not_,
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
}


def number(value: Any) -> float:
    """The number that a label begins with: 75 of "75 %"."""
    return float(str(value).split()[0])


FUNCTIONS: Mapping[str, Callable[..., Any]] = {
    "abs": abs,
    "exp": math.exp,
    "floor": math.floor,
    "log": math.log,
    "log10": math.log10,
    "max": max,
    "mean": statistics.fmean,
    "min": min,
    "number": number,
    "sqrt": math.sqrt,
    "sum": sum,
}
"""Functions of expressions, beside columns, models and what `_Evaluation` has: `each`, `at`, `previous` and `zero`."""
NODES = (
    ast.Expression,
    ast.BinOp,
    ast.UnaryOp,
    ast.BoolOp,
    ast.Compare,
    ast.IfExp,
    ast.Call,
    ast.Name,
    ast.Attribute,
    ast.Constant,
    ast.List,
    ast.keyword,
    ast.Load,
    ast.operator,
    ast.unaryop,
    ast.boolop,
    ast.cmpop,
)


@dataclass(frozen=True)
class Expression:
    """An expression that was read and found to hold nothing but what is known."""

    text: str
    _tree: ast.expr

    def of(self, table: Table, names: Names | None = None) -> Any:
        """Value of the expression.

        Raises:
            LookupError: a row, a column or a value is absent.

        """
        return _Evaluation(table, names or {}, names).value(self._tree)


def parse(text: str, place: str) -> Expression:
    """Reads an expression; `place` is for messages: file and key."""
    try:
        tree = ast.parse(text, mode="eval")
    except SyntaxError as error:
        raise ScenarioError(f"{place} = {text}: no expression: {error.msg}") from error
    for node in ast.walk(tree):
        if not isinstance(node, NODES) or (isinstance(node, ast.BinOp) and type(node.op) not in OPERATORS):
            raise ScenarioError(f"{place} = {text}: {type(node).__name__} is not taken in an expression")
        if isinstance(node, ast.Attribute):
            _check_model(node, f"{place} = {text}")
        if isinstance(node, ast.Call) and any(keyword.arg is None for keyword in node.keywords):
            raise ScenarioError(f"{place} = {text}: labels are given by name")
    return Expression(text, tree.body)


def _check_model(node: ast.Attribute, place: str) -> None:
    import outlast.models

    if not (isinstance(node.value, ast.Name) and node.value.id == "models"):
        raise ScenarioError(f"{place}: a dot only follows models")
    if node.attr.startswith("_") or not callable(getattr(outlast.models, node.attr, None)):
        raise ScenarioError(f"{place}: no function {node.attr} in outlast.models")


class Words:
    """A text in which expressions stand in braces: `a tenth takes {minutes(share="0.1"):.1f} min`."""

    def __init__(self, text: str, place: str) -> None:
        parts = re.split(r"\{([^{}]*?)(?::([-+.,%\dA-Za-z]*))?\}", text)
        self._texts = parts[::3]
        self._values = [
            (parse(part.strip(), place), form or ".4g") for part, form in zip(parts[1::3], parts[2::3], strict=True)
        ]

    def of(self, table: Table, names: Names | None = None) -> str:
        """The text with its numbers; `LookupError` where one is absent."""
        shown = [f"{value.of(table, names):{form}}" for value, form in self._values]
        return "".join(itertools.chain.from_iterable(itertools.zip_longest(self._texts, shown, fillvalue="")))


class _Evaluation:
    """Values of the nodes of a tree; `row` is the row at hand, if there is one."""

    def __init__(self, table: Table, names: Names, row: Names | None) -> None:
        self._table, self._names, self._row = table, names, row

    def value(self, node: ast.AST) -> Any:
        match node:
            case ast.Constant():
                return node.value
            case ast.List():
                return [self.value(part) for part in node.elts]
            case ast.Name():
                return self._named(node.id)
            case ast.BinOp():
                return OPERATORS[type(node.op)](self.value(node.left), self.value(node.right))
            case ast.UnaryOp():
                return OPERATORS[type(node.op)](self.value(node.operand))
            case ast.BoolOp():
                values = [bool(self.value(part)) for part in node.values]
                return all(values) if isinstance(node.op, ast.And) else any(values)
            case ast.Compare():
                return self._compared(node)
            case ast.IfExp():
                return self.value(node.body if self.value(node.test) else node.orelse)
            case ast.Call():
                return self._called(node)
        raise LookupError(f"{type(node).__name__} has no value")

    def _named(self, name: str) -> Any:
        if self._names.get(name) is None:
            raise LookupError(f"no value of {name}")
        return self._names[name]

    def _compared(self, node: ast.Compare) -> bool:
        values = [self.value(part) for part in (node.left, *node.comparators)]
        pairs = zip(node.ops, values, values[1:], strict=False)
        return all(OPERATORS[type(op)](left, right) for op, left, right in pairs)

    def _called(self, node: ast.Call) -> Any:
        labels = {keyword.arg or "": self.value(keyword.value) for keyword in node.keywords}
        if isinstance(node.func, ast.Attribute):
            import outlast.models

            return getattr(outlast.models, node.func.attr)(*map(self.value, node.args), **labels)
        name = node.func.id if isinstance(node.func, ast.Name) else ""
        if name == "each":
            return self._each(node.args, labels)
        if name == "at":
            return self._between(node.args, self._table.where(**labels))
        if name == "previous":
            return self._previous(node.args, self._table.where(**labels))
        if name == "zero":
            return self._zero(node.args)
        if name in FUNCTIONS:
            values = [self.value(part) for part in node.args]
            if name in ("mean", "sum"):
                return FUNCTIONS[name](values[0] if isinstance(values[0], list) else values)
            if values == [[]]:
                raise LookupError(f"nothing that {name} could be taken of")
            return FUNCTIONS[name](*values)
        found = self._table.row(**labels).get(name)
        if found is None:
            raise LookupError(f"no value of {name} where {labels}")
        return found

    def _between(self, parts: list[ast.expr], rows: list[Row]) -> float:
        """A column where another has a value: on the straight line between the rows on either side."""
        if len(parts) != 3:
            raise LookupError("at takes a column, the one that it is over, a value of that, and labels")
        name, over, place = self._column(parts[:1]), self._column(parts[1:2]), float(self.value(parts[2]))
        points = [(row[over], row[name]) for row in rows if row.get(over) is not None and row.get(name) is not None]
        for (low, first), (high, second) in itertools.pairwise(points):
            if low <= place < high:
                return float(first + (place - low) / (high - low) * (second - first))
        raise LookupError(f"no rows with {over} on either side of {place:g}")

    def _previous(self, parts: list[ast.expr], rows: list[Row]) -> Any:
        """An expression in the row before the one at hand, among rows that it shares labels with.

        In the first of them its second argument.
        """
        if len(parts) not in (1, 2):
            raise LookupError("previous takes an expression, what stands for it in the first row, and labels")
        place = next((place for place, row in enumerate(rows) if row is self._row), None)
        if place is None or (place == 0 and len(parts) == 1):
            raise LookupError("no row before this one")
        return self._inside(rows[place - 1]).value(parts[0]) if place else self.value(parts[1])

    def _zero(self, parts: list[ast.expr]) -> float:
        """Root at which an expression changes its sign, by halving, as `zero(x ** 2 - 2, x, 0, 2)`."""
        if len(parts) != 4 or not isinstance(parts[1], ast.Name):
            raise LookupError("zero takes an expression, a name in it and two values, between which it is sought")
        name, low, high = parts[1].id, float(self.value(parts[2])), float(self.value(parts[3]))

        def above(place: float) -> bool:
            return bool(self._inside({name: place}).value(parts[0]) > 0)

        first = above(low)
        if above(high) == first:
            raise LookupError(f"no change of sign from {low:g} to {high:g}")
        for _ in range(60):
            middle = (low + high) / 2
            low, high = (middle, high) if above(middle) == first else (low, middle)
        return low

    def _inside(self, row: Row) -> _Evaluation:
        """Evaluation with the names of a row beside those that are there."""
        return _Evaluation(self._table, {**self._names, **row}, row)

    @staticmethod
    def _column(parts: list[ast.expr]) -> str:
        if len(parts) != 1 or not isinstance(parts[0], ast.Name):
            raise LookupError("at takes names of columns")
        return parts[0].id

    def _each(self, parts: list[ast.expr], labels: Mapping[str, Any]) -> list[float]:
        """Values of a column or expression in all rows with these labels in which a condition holds, if there is one.

        A row in which the column or the condition has no value is left out; a condition needs one in some row.
        """
        if len(parts) not in (1, 2):
            raise LookupError("each takes a column or an expression, a condition if need be, and labels")
        rows, found, decided = self._table.where(**labels), [], len(parts) == 1
        for row in rows:
            inside = self._inside(row)
            if len(parts) == 2:
                holds = inside.holds(parts[1])
                decided |= holds is not None
                if not holds:
                    continue
            if isinstance(parts[0], ast.Name) and row.get(parts[0].id) is None:
                continue
            found.append(float(inside.value(parts[0])))
        if rows and not decided:
            raise LookupError("the condition of each has a value in no row: is a name misspelt?")
        return found

    def holds(self, condition: ast.expr) -> bool | None:
        """True if a condition holds; `None` where a value is absent."""
        try:
            return bool(self.value(condition))
        except LookupError:
            return None
