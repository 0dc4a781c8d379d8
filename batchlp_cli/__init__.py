"""batchlp solves many linear programs at once and proves every answer.

`from batchlp_cli import solve, branch, tighten, linear_program, LinearProgram, LPBatch`; each is imported when it is asked for,
so that the command line stays quick. Their types stand in __init__.pyi.
"""

from importlib import import_module

__version__ = "0.1.0"

_HOMES = {
    "Answer": "library",
    "LPBatch": "batch",
    "LinearProgram": "problem",
    "Studied": "library",
    "branch": "library",
    "linear_program": "library",
    "solve": "library",
    "tighten": "library",
}
__all__ = ["__version__", *sorted(_HOMES)]


def __getattr__(name: str) -> object:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)


def __dir__() -> list[str]:
    return sorted({*globals(), *_HOMES})
