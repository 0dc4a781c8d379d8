"""What the C library does with memory that was freed."""

from __future__ import annotations

import numpy as np

LARGEST_KEPT = 32 << 20
"""glibc keeps freed blocks up to this size at most (mallopt(3), DEFAULT_MMAP_THRESHOLD_MAX on 64 bits)."""


def keep_freed_memory() -> None:
    """Makes the C library keep up to 64 MB of freed memory instead of handing it back each time.

    Arrays of 100 kB and more are else mapped anew for every use, and the page faults take longer than the arithmetic: with 10,000
    columns the referee takes twice as long. glibc raises its threshold to the size of a mapped block that is freed; this one is
    never written to, so it takes no memory. Elsewhere it does nothing.
    """
    np.empty(LARGEST_KEPT - (1 << 16), dtype=np.uint8)
