"""Figure 3 and section 3.5: in which order pages are written, and how long parity stays in the cache."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from outlast.reproduce.check import near
from outlast.reproduce.model import TEXT, Cell, Figure, Found, Row, Setting, Statement, Table

Records = Sequence[Mapping[str, Any]]
DATA, CARDS, BANKS = 8, 2, 4
"""Pages of data in a page stripe of Figure 3: two cards of four banks; the third card has the parity."""
BLOCK = 63
"""Pages of data in a block under (63, 1)."""


def order(stride: int) -> list[int]:
    """Pages in the order of their writes: every `stride`-th, then from the next one on."""
    return [page for start in range(stride) for page in range(start, DATA, stride)]


def printed(stride: int) -> list[int]:
    """The order by the text's formula, `i · stride % (D − 1)`."""
    return [write * stride % (DATA - 1) for write in range(DATA)]


def staged(stride: int) -> dict[int, int]:
    """By parity page: writes from the first that it depends on to the last, both counted.

    Parity P of bank b is over the pages of that bank on both cards.
    """
    place = {page: write for write, page in enumerate(order(stride))}
    spans = {}
    for bank in range(BANKS):
        writes = [place[bank + card * BANKS] for card in range(CARDS)]
        spans[DATA + bank] = max(writes) - min(writes) + 1
    return spans


def _rows(_: Setting, __: Sequence[Cell], ___: Records) -> list[Row]:
    return [
        {"stride": f"{stride}", "order": " ".join(f"D{page}" for page in order(stride))}
        | {"printed": " ".join(f"D{page}" for page in printed(stride))}
        | {"staged": max(staged(stride).values())}
        for stride in (1, 4)
    ]


def _fifth(_: Table) -> Found:
    return near("P8, stride 1: until write", staged(1)[8], 5, 0)


def _stride_4(table: Table) -> Found:
    words = table.row(stride="4")["order"]
    return Found(words == "D0 D4 D1 D5 D2 D6 D3 D7", f"{words}: parity stays for {staged(4)[8]} writes")


def _formula(_: Table) -> Found:
    words = "; ".join(f"stride {stride}: {' '.join(f'D{page}' for page in printed(stride))}" for stride in (1, 4))
    return Found(all(sorted(printed(stride)) == list(range(DATA)) for stride in (1, 4)), words)


def _flushed(_: Table) -> Found:
    return near("(62 × 8) + 1 =", (BLOCK - 1) * DATA + 1, 435, 0, " writes")


FIGURE = Figure(
    "fig03",
    "Figure 3 and section 3.5: the parity cache",
    "Three cards of four banks under (2,1): two hold data, the third parity; pages are written in turn. The "
    "order is worked out from the text; `device.ftl.stride` of a drive is the same, but its stripes follow it.",
    lambda _: [],
    {"staged": "writes that parity waits for"},
    lambda _: [],
    [
        Statement("With a stride of 1 P8 is staged until the 5th write.", "3.5", _fifth),
        Statement("With a stride of 4 the order is D0, D4, D1, D5, D2, D6, D3, D7.", "3.5", _stride_4),
        Statement(
            "The i-th write goes to page i · stride % (D − 1).",
            "3.3",
            _formula,
            "the formula takes page 0 twice and never the last one, so that it does not give the text's own order: the "
            "pages in turn need the last one apart",
        ),
        Statement(
            "Under (63,1) a block's parity is flushed after at most (62 · 8) + 1 = 435 writes.",
            "3.5",
            _flushed,
            "(62 · 8) + 1 is 497; 435 is (62 · 7) + 1, as the D − 1 of the stride's formula would have it",
        ),
    ],
    (),
    _rows,
    TEXT,
)
