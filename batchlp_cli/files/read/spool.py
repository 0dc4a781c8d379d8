"""A private folder for models that HiGHS cannot read where they are: packed ones, those from stdin, those oddly named."""

from __future__ import annotations

import os
import secrets
import shutil
import socket
import tempfile
from pathlib import Path

from batchlp_cli.cache import cache_root
from batchlp_cli.errors import ReadError


def spool_folders() -> tuple[str, ...]:
    """Returns the folders of this process to try in turn: below BATCHLP_CACHE_DIR or the user's cache, then below the
    system's temporary folder. They are made when first needed."""
    own = f"{socket.gethostname()}-{os.getpid()}-{secrets.token_hex(4)}"
    return str(cache_root() / "spool" / own), str(Path(tempfile.gettempdir()) / f"batchlp-spool-{os.getuid()}" / own)


def spool_file(folders: tuple[str, ...], key: int, ending: str, text: bytes) -> str:
    """Writes the text to a new file in the first folder that takes it; returns its path. Raises ReadError where none does."""
    reasons = []
    for folder in folders:
        path = os.path.join(folder, f"{key}.{ending}")
        try:
            os.makedirs(folder, mode=0o700, exist_ok=True)
            with open(path, "wb") as file:
                file.write(text)
        except OSError as error:
            remove_file(path)
            reasons.append(f"{folder}: {error.strerror}")
        else:
            return path
    found = "; ".join(reasons)
    raise ReadError(f"no place for {len(text)} bytes of unpacked model ({found}); let BATCHLP_CACHE_DIR name a roomy folder")


def remove_file(path: str) -> None:
    """Removes a file; one that is not there, or not ours, is left alone."""
    try:
        os.unlink(path)
    except OSError:
        return


def remove_leftovers(folders: tuple[str, ...], key: int) -> None:
    """Removes what a worker that was ended left behind for a request."""
    for folder in folders:
        for ending in ("mps", "lp"):
            remove_file(os.path.join(folder, f"{key}.{ending}"))


def remove_spool(folders: tuple[str, ...]) -> None:
    """Removes the folders of this process, and those of processes of this machine that are no more."""
    for folder in folders:
        shutil.rmtree(folder, ignore_errors=True)
        for other in Path(folder).parent.glob(f"{socket.gethostname()}-*-*"):
            pid = other.name.split("-")[-2]
            if pid.isdigit() and not _is_running(int(pid)):
                shutil.rmtree(other, ignore_errors=True)


def _is_running(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True
