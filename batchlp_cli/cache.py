"""Where batchlp keeps what later runs may use again. What is kept there is known to whoever keeps it."""

from __future__ import annotations

import os
from pathlib import Path

import platformdirs

VARIABLE = "BATCHLP_CACHE_DIR"


def cache_root() -> Path:
    """Returns the folder that $BATCHLP_CACHE_DIR names, else the user's cache folder; it is not made here."""
    return Path(os.environ.get(VARIABLE) or platformdirs.user_cache_path("batchlp"))


def keep_text(path: Path, text: str) -> None:
    """Writes a file of the cache beside its place and renames it, so that nobody reads half of it. Raises OSError."""
    path.parent.mkdir(parents=True, exist_ok=True)
    beside = path.with_name(f".{path.name}.{os.getpid()}")
    beside.write_text(text, encoding="utf-8")
    os.replace(beside, path)
