"""Where compiled kernels are kept between runs: a folder of their own below the user's cache, never the source tree."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numba

from batchlp_cli.cache import cache_root


def cache_folder() -> Path:
    """Returns the folder for compiled kernels: below $BATCHLP_CACHE_DIR, or below the user's cache folder.

    Its name holds a digest of the kernels' sources, since a cached function doesn't notice that one which it calls has changed.
    """
    digest = hashlib.sha256()
    for source in sorted(Path(__file__).parent.glob("*.py")):
        digest.update(source.read_bytes())
    return cache_root() / f"kernels-{digest.hexdigest()[:16]}"


def compiled(parallel: bool = False) -> Callable[[Callable[..., Any]], Any]:
    """Returns a decorator that compiles a function when it is first called, without the interpreter's lock, and keeps the code.

    Without a place to keep it the function is compiled in every run. No fast-math flags: the same bits whatever the width.
    """

    def decorate(function: Callable[..., Any]) -> Any:
        options: dict[str, Any] = {"nogil": True, "error_model": "numpy", "parallel": parallel}
        config: Any = numba.config
        before = config.CACHE_DIR
        try:
            if not os.environ.get("NUMBA_CACHE_DIR"):
                config.CACHE_DIR = str(_writable(cache_folder()))
            return numba.njit(cache=True, **options)(function)
        except (OSError, RuntimeError):  # no folder, or one that Numba cannot use
            return numba.njit(**options)(function)
        finally:
            config.CACHE_DIR = before

    return decorate


def _writable(folder: Path) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    return folder
