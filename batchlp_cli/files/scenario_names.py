"""Names of scenarios as names of files, and back, so that a table and a folder of files have the same scenarios.

Plain names are the same in both. What some file system forbids is written as %XX, as in addresses on the web; a name that is
too long, or differs from another by letter case only, cannot be had back and carries a hash.
"""

from __future__ import annotations

import hashlib
import re
from urllib.parse import quote, unquote

from batchlp_cli.files.names import MOST_BYTES, are_clean, clean_component

_PLAIN = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_+=,@-]*\Z")
_NOT_PLAIN = re.compile(r"[^A-Za-z0-9_+=,@\n-]|^(?:[+=,@-]|$)", re.MULTILINE)
_SAFE = " +=,@()[]{}~!'"


def file_names(scenarios: tuple[str, ...]) -> tuple[str, ...]:
    """Returns the name of each scenario's file; the same names where all are plain."""
    lines = "\n".join(scenarios)
    if lines.count("\n") < len(scenarios) and not _NOT_PLAIN.search(lines) and are_clean(scenarios):
        return scenarios
    return tuple(map(file_name, scenarios))


def file_name(scenario: str) -> str:
    """Returns the name of a scenario's file, without an ending."""
    if _PLAIN.match(scenario) and len(scenario) <= MOST_BYTES and clean_component(scenario) == scenario:
        return scenario
    name = quote(scenario, safe=_SAFE, errors="surrogateescape")
    if name[:1] in (".", "-", "~", " "):
        name = f"%{ord(name[0]):02X}{name[1:]}"
    if name[-1:] in (".", " "):
        name = f"{name[:-1]}%{ord(name[-1]):02X}"
    if name and len(name) <= MOST_BYTES and clean_component(name) == name:
        return name
    digest = hashlib.sha256(scenario.encode("utf-8", "surrogateescape")).hexdigest()[:10]
    return f"{name[: MOST_BYTES - 20]}-{digest}"


def scenario_name(file: str) -> str:
    """Returns the scenario that a file's name (without its ending) stands for; any other name stands for itself."""
    name = unquote(file, errors="surrogateescape")
    return name if file_name(name) == file else file
