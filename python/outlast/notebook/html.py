"""Tables of HTML that take their colours from the notebook: the text's own, on no ground."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cache
from importlib.resources import files

from outlast.report.numbers import text

DOTS = ("read", "write", "trim", "flush", "padding", "gc")
"""The colours of kinds of requests and of results, which are legible on light and dark."""


@cache
def _style() -> str:
    from outlast.notebook.theme import colours

    light, dark = colours("light"), colours("dark")
    names = "".join(f"--{name}:light-dark({light[name]},{dark[name]});" for name in (*DOTS, "read-soft"))
    rules = files("outlast.notebook").joinpath("notebook.css").read_text(encoding="utf-8")
    return f"<style>.outlast{{{names}}}{' '.join(rules.split())}</style>"


def framed(heading: str, about: str, *parts: str) -> str:
    """HTML of an object: its name, a line about it, and parts. `about` and `parts` are HTML."""
    name = f'<p class="name"><b>{text(heading)}</b></p>' if heading else ""
    description = f'<p class="about">{about}</p>' if about else ""
    return f'<div class="outlast">{_style()}{name}{description}{"".join(parts)}</div>'


def table(titles: Sequence[str], rows: Iterable[Sequence[str]], *, texts: int = 1) -> str:
    """A table of texts, which are escaped. The first `texts` columns hold words, the others figures."""
    kinds = ["words" if index < texts else "figure" for index in range(len(titles))]
    # Long dotted names may go on in the next line.
    head = "".join(
        f'<th scope="col" class="{kind}">{text(title).replace(".", ".<wbr>")}</th>'
        for kind, title in zip(kinds, titles, strict=True)
    )
    body = "".join(
        "<tr>"
        + "".join(f'<td class="{kind}">{text(cell)}</td>' for kind, cell in zip(kinds, row, strict=True))
        + "</tr>"
        for row in rows
    )
    return f'<div class="scroll"><table class="list"><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table></div>'


def note(words: str) -> str:
    """A line of small print; `words` are a text."""
    return f'<p class="note">{text(words)}</p>'
