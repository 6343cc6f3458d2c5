"""Whether what was to change while data was live did change, in every run, without a read that was lost."""

from __future__ import annotations

from outlast.reproduce.model import Found, Table


def another_code(table: Table) -> Found:
    """Section 3.4: the change of the code was made."""
    return _made(table, "class 0 gets (6, 2)", "the change was made")


def another_card(table: Table) -> Found:
    """Section 3.6: the card was added in all runs in which it was to be."""
    return _made(Table([row for row in table.rows if row["way"] != "never added"]), "8 dies are added", "8 banks added")


def _made(table: Table, change: str, words: str) -> Found:
    lost = sum(row.get("uncorrectable_reads") or 0 for row in table.rows)
    made = all(row["changes"] == [change] for row in table.rows)
    return Found(made and lost == 0, f"{words} in {len(table.rows)} runs; {lost} reads lost")
