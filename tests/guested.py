"""Files of a guest, and the skip for machines that cannot boot one."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from outlast.products.torture import guest, guest_files

HERE = Path(__file__).parent
# Those of `make test-guest` and CI, unless others are named.
os.environ.setdefault(guest_files.VARIABLE, str(HERE.parent / "target" / "guest" / "files"))

LACK = guest.missing("ext4")
needs_guest = pytest.mark.skipif(LACK is not None, reason=f"guest: {LACK}")
