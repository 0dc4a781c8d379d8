"""Where batchlp keeps what later runs may use again. What is kept there is known to whoever keeps it."""

from __future__ import annotations

import os
from pathlib import Path

import platformdirs

VARIABLE = "BATCHLP_CACHE_DIR"


def cache_root() -> Path:
    """Returns the folder that $BATCHLP_CACHE_DIR names, else the user's cache folder; it is not made here."""
    return Path(os.environ.get(VARIABLE) or platformdirs.user_cache_path("batchlp"))
