"""Tables of figures as cards."""

from __future__ import annotations

from collections.abc import Sequence

from outlast.report.names import label
from outlast.report.numbers import text


def rows_card(
    title: str,
    columns: Sequence[str],
    rows: Sequence[Sequence[str]],
    *,
    wide: bool = False,
    whole: bool = False,
    heads: Sequence[str] = (),
    sides: Sequence[str] = (),
) -> str:
    """Rows as a card, what each is of first; empty without rows.

    A `wide` one scrolls where the page is narrow, a `whole` one takes the whole width of the page. `heads` and `sides`
    are attributes that explain each column and each row (see `names.tip`), empty where there is nothing to explain; a
    cell explains itself as its column does, or else as its row.
    """
    if not rows:
        return ""
    of_column = [*heads, *[""] * (len(columns) - len(heads))]
    of_row = [*sides, *[""] * (len(rows) - len(sides))]
    head = "".join(
        f'<th scope="col"{own}>{label(text(column), own)}</th>' for column, own in zip(columns, of_column, strict=True)
    )
    body = "".join(_row(row, of_column, own) for row, own in zip(rows, of_row, strict=True))
    kind = "card" + (" scroll" if wide else "") + (" whole" if whole else "")
    return (
        f'<div class="{kind}"><h3>{text(title)}</h3><table class="figures"><thead><tr>'
        f"{head}</tr></thead><tbody>{body}</tbody></table></div>"
    )


def _row(row: Sequence[str], of_column: Sequence[str], own: str) -> str:
    name, *cells = row
    columns = "".join(
        f"<td{column or own}>{text(cell)}</td>" for cell, column in zip(cells, of_column[1:], strict=True)
    )
    return f'<tr><th scope="row"{own}>{label(text(name), own)}</th>{columns}</tr>'
