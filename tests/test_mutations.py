"""Can the mutations still be made that `python tests/mutations.py` puts into the simulator?"""

from __future__ import annotations

import mutations


def test_the_sources_have_the_place_of_every_mutation_once() -> None:
    planned = mutations.mutations()
    files = mutations.sources(planned)
    changed = b"\n".join(files.values())
    for mutation in planned:
        assert changed.count(mutation.switched().encode()) == 1, mutation.name
