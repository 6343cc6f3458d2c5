"""JSON of which some belongs elsewhere: what readers of foreign files are tried with."""

from __future__ import annotations

import copy
import os
from typing import Any

from hypothesis import HealthCheck, settings
from hypothesis import strategies as st

EXAMPLES = int(os.environ.get("OUTLAST_FOREIGN_EXAMPLES", "60"))
"""Examples of each kind of file; a nightly run takes thousands."""

MANY = settings(max_examples=EXAMPLES, deadline=None, suppress_health_check=list(HealthCheck))

ODD: st.SearchStrategy[Any] = st.sampled_from(
    [None, True, "", "x", "\x1b[2J\n", -1, 0, 2**64 - 1, -(2**63), 1e149, -1e149, 5e-324, [], {}, [[]], [None], {"": 1}]
)


def places(value: Any) -> list[tuple[Any, Any]]:
    """Every place in a JSON value: what holds it, and its key or number."""
    found, rest = [], [value]
    while rest:
        own = rest.pop()
        for key, below in own.items() if isinstance(own, dict) else enumerate(own):
            found.append((own, key))
            if isinstance(below, dict | list):
                rest.append(below)
    return found


def disturb(data: st.DataObject, value: Any) -> None:
    """Changes up to three places: takes them out, or puts in their place what belongs elsewhere."""
    for _ in range(data.draw(st.integers(1, 3))):
        if not (all_places := places(value)):
            return
        own, key = all_places[data.draw(st.integers(0, len(all_places) - 1))]
        if data.draw(st.booleans()):
            del own[key]
        else:
            own[key] = copy.deepcopy(data.draw(ODD))
