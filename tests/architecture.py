"""The import rules of docs/architecture.md as a checker that works on source text."""

from __future__ import annotations

import ast
import sys
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass

PACKAGE = "batchlp_cli"
Order = tuple[tuple[str, ...], ...]

ORDER: Mapping[str, Order] = {
    # For each package, its parts in places. A part imports only from places after its own; "__init__" is the package itself.
    "": (
        ("__main__",),
        ("commands",),
        ("console", "console_report"),
        ("library",),
        ("run", "inspection", "conversion", "generation", "reporting", "studies", "verification"),
        ("run_options",),
        ("producers", "stochastic", "windows"),
        ("recorder", "solving", "tracing"),
        ("preparation",),
        ("report", "dispatch", "files", "families", "grouping"),
        ("backends", "kkt"),
        ("certificates", "exact_pool", "measures"),
        ("exact_referee",),
        ("exact_repair",),
        ("dual_repair",),
        ("safe_bound",),
        ("implied_bounds", "optima"),
        ("products",),
        ("exact",),
        ("exact_implied",),
        ("exact_sums",),
        ("batch", "solution", "settings", "processes", "interrupts", "events", "pump", "nearness"),
        ("problem", "worker", "status", "watch", "backlog"),
        ("cache", "errors", "matrix", "memory", "__init__"),
    ),
    "commands": (
        ("__init__",),
        ("branch", "calibrate", "compare", "generate", "inspect", "report", "scenarios", "solve", "tighten", "verify"),
        ("studying",),
        ("sharding",),
        ("options",),
    ),
    "studies": (
        ("__init__",),
        ("pipeline", "comparing"),
        ("records", "comparison"),
        ("branching", "tightening"),
        ("filtering",),
        ("choosing", "incumbent", "scores", "crossover"),
    ),
    "report": (
        ("__init__",),
        ("compared",),
        ("page",),
        ("figures", "sections"),
        ("concerns", "comparison"),
        ("facts", "profile", "studied"),
        ("failures", "trace", "occupancy", "checks", "row_block"),
        ("sources",),
        ("outcome", "markup", "words", "style", "rows"),
    ),
    "families": (
        ("__init__",),
        ("catalogue",),
        ("assignment", "children", "covering", "design", "flux", "knapsack", "known", "location", "shipping", "variation"),
        ("blocks",),
    ),
    "report.figures": (
        ("__init__",),
        ("stages", "members", "traces", "lanes", "profiles", "crossover", "candidates"),
        ("canvas",),
    ),
    "files": (
        ("__init__",),
        ("read",),
        ("smps", "scenario_folder"),
        ("smps_stoch", "scenarios"),
        ("scenario_table", "smps_core"),
        ("scenario_forms",),
        ("scenario_cells", "scenario_names"),
        ("warm_start",),
        ("discover", "results", "claims", "run_rows", "locate", "stored", "mps_writer", "mps_family"),
        ("write",),
        ("mps_columns",),
        ("mps_base",),
        ("mps", "tree", "frames"),
        ("ledger",),
        ("mps_assemble",),
        ("mps_bounds", "mps_costs", "mps_fast", "mps_sections"),
        ("mps_markers", "mps_numbers"),
        ("mps_compare",),
        ("decompress", "refuse", "mps_headers", "mps_keys", "mps_trace"),
        ("inputs", "names", "patterns", "lp_doubts", "lp_mend", "mps_fields", "mps_model"),
    ),
    "files.read": (("__init__", "worker"), ("lp_format",), ("spool", "messages")),
    "backends": (("__init__",), ("auto",), ("highs", "pdhg"), ("base",)),
    "backends.auto": (("__init__",), ("together",), ("joint",), ("steering",), ("books", "rates"), ("cost", "policy", "stint")),
    "backends.pdhg": (
        ("__init__",),
        ("solve",),
        ("loading",),
        ("alone",),
        ("lanes",),
        ("ending",),
        ("states",),
        ("course",),
        ("parameters",),
        ("mending",),
        ("reduction",),
        ("restoration",),
        ("interior",),
        ("certificates", "polish"),
        ("restart", "termination", "weight"),
        ("kernels",),
        ("numbers",),
        ("scaling",),
    ),
    "backends.pdhg.kernels": (
        ("__init__",),
        ("numba_kernel", "torch_kernel"),
        ("base", "numba_steps", "numba_sums"),
        ("cache", "gather"),
        ("emit",),
    ),
    "backends.highs": (
        ("__init__",),
        ("pool",),
        ("convoy",),
        ("course",),
        ("trial", "worker"),
        ("chunk",),
        ("sifting",),
        ("session", "sharing"),
        ("rays", "refinement", "screen"),
        ("engine",),
        ("moves",),
    ),
}

APART: Mapping[str, tuple[str, ...]] = {
    "backends": ("certificates", "dual_repair", "exact_referee", "exact_repair", "exact_pool")
}
"""What the order would allow and is forbidden all the same: a contestant may not judge itself."""

HOMES: Mapping[str, tuple[str, ...]] = {
    # Where each third-party package may be imported: a module or a whole subpackage; "" is everywhere.
    "numpy": ("",),
    "scipy": ("",),
    "click": ("commands", "__main__"),
    "rich": ("console", "console_report"),
    "highspy": ("backends.highs", "files.read"),
    "zstandard": ("files.decompress",),
    "platformdirs": ("cache",),
    "torch": ("backends.pdhg",),
    "triton": ("backends.pdhg.kernels",),
    "numba": ("backends.pdhg.kernels",),
    "llvmlite": ("backends.pdhg.kernels",),
    "pyarrow": ("files",),
    "matplotlib": ("report.figures",),
}

MOST_LINES = 350
MOST_FUNCTION_LINES = 60


@dataclass(frozen=True, slots=True)
class Violation:
    """A rule that a line breaks, in words."""

    module: str
    line: int
    text: str

    def __str__(self) -> str:
        return f"{PACKAGE}.{self.module}:{self.line}: {self.text}"


def violations(module: str, source: str, known: Collection[str]) -> list[Violation]:
    """Returns what breaks the rules in a module's source.

    module and known are names below the package, such as "backends.highs.pool" ("" is the package itself); known
    tells modules from the names that they define.
    """
    missing = _unplaced(module)
    if missing:
        return [Violation(module, 1, missing)]
    tree = ast.parse(source)
    found = []
    for line, name in _imports(tree, known):
        text = _verdict(module, name)
        if text:
            found.append(Violation(module, line, text))
    return found + [Violation(module, line, text) for line, text in _oversized(tree, source)]


def third_party(source: str) -> set[str]:
    """Returns the third-party packages that a source imports."""
    tops = {name.partition(".")[0] for _, name in _imports(ast.parse(source), ())}
    return tops - sys.stdlib_module_names - {PACKAGE, ""}


def _unplaced(module: str) -> str:
    """Returns which part of a module's name has no place, or nothing where each has one."""
    parts = module.split(".") if module else ["__init__"]
    for depth, part in enumerate(parts):
        package = ".".join(parts[:depth])
        if not any(part in place for place in ORDER.get(package, ())):
            return (
                f"{part} has no place in the order of {f'{PACKAGE}.{package}'.rstrip('.')}; give it one in tests/architecture.py"
            )
    return ""


def _imports(tree: ast.Module, known: Collection[str]) -> Iterator[tuple[int, str]]:
    """Yields (line, absolute dotted name) of every import, also inside functions, and of import_module("literal")."""
    for node in ast.walk(tree):
        match node:
            case ast.Import(names=names):
                yield from ((node.lineno, alias.name) for alias in names)
            case ast.ImportFrom(level=level) if level:
                yield node.lineno, "." * level
            case ast.ImportFrom(module=str(base), names=names):
                below = base.removeprefix(PACKAGE).removeprefix(".")
                for alias in names:
                    submodule = f"{below}.{alias.name}".strip(".")
                    yield node.lineno, f"{base}.{alias.name}" if base.startswith(PACKAGE) and submodule in known else base
            case ast.Call(func=function, args=[ast.Constant(value=str(name)), *_]) if _is_import_call(function):
                if not name.startswith(PACKAGE):  # a backend or a command that is loaded by name is what the rule is for
                    yield node.lineno, name


def _is_import_call(function: ast.expr) -> bool:
    name = function.attr if isinstance(function, ast.Attribute) else getattr(function, "id", "")
    return name in ("import_module", "__import__")


def _verdict(module: str, name: str) -> str:
    """Returns why a module may not import a name, or nothing where it may."""
    if name.startswith("."):
        return "imports relatively; write the absolute name"
    top = name.partition(".")[0]
    if top == PACKAGE:
        below = name.removeprefix(PACKAGE).removeprefix(".")
        return "" if below == module else _order_verdict(module, below)
    if top in sys.stdlib_module_names:
        return ""
    if top not in HOMES:
        return f"imports {top}, which has no home; give it one in tests/architecture.py"
    if not any(home in ("", module) or module.startswith(f"{home}.") for home in HOMES[top]):
        return f"imports {top}, which belongs only in {', '.join(HOMES[top])}"
    return ""


def _order_verdict(module: str, target: str) -> str:
    ours, theirs = module.split("."), target.split(".") if target else []
    package: list[str] = []
    while ours and theirs and ours[0] == theirs[0]:
        package.append(ours.pop(0))
        theirs.pop(0)
    order = ORDER[".".join(package)]
    mine, other = (parts[0] if parts and parts[0] else "__init__" for parts in (ours, theirs))
    here, there = (next(k for k, place in enumerate(order) if part in place) for part in (mine, other))
    if other in APART.get(mine, ()):
        return f"imports {PACKAGE}.{target}, which {mine} may never import"
    if here < there:
        return ""
    how = "shares its place" if here == there else "is above it"
    return f"imports {PACKAGE}.{target}, but {other} {how} in the order of {'.'.join([PACKAGE, *package])}"


def _oversized(tree: ast.Module, source: str) -> Iterator[tuple[int, str]]:
    lines = source.count("\n")
    if lines >= MOST_LINES:
        yield 1, f"has {lines} lines, expected fewer than {MOST_LINES}; split it by idea"
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            size = (node.end_lineno or node.lineno) - node.lineno + 1
            if size > MOST_FUNCTION_LINES:
                yield node.lineno, f"{node.name} has {size} lines, expected at most {MOST_FUNCTION_LINES}"
