"""Writes the files of a generated family: related LPs, the children of strong branching, or MIPs. Recipes are in families.

A recipe gives the same bytes at all times. Beside the models, family.json holds the recipe, and known.jsonl the optimal
solutions where they are known by construction.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from enum import StrEnum
from pathlib import Path

from batchlp_cli.backends.base import load_backend
from batchlp_cli.batch import LPBatch
from batchlp_cli.errors import OutputError, UsageError
from batchlp_cli.families import branching_children, find_family, relaxed, single
from batchlp_cli.files.ledger import replace_file
from batchlp_cli.files.mps_writer import write_mps
from batchlp_cli.files.results import output_errors
from batchlp_cli.kkt import verify
from batchlp_cli.problem import LinearProgram, Vector
from batchlp_cli.settings import BackendName, SolveSettings
from batchlp_cli.solution import Solution, Status


class Form(StrEnum):
    """As what a family is written: related LPs, a root's children in strong branching, or the related models with their
    integer marks."""

    FAMILY = "family"
    CHILDREN = "children"
    MIP = "mip"


@dataclass(frozen=True, slots=True, kw_only=True)
class Recipe:
    """All that decides the numbers of a family. members: 1 or more; of children, the most there may be."""

    family: str
    size: str
    members: int = 20
    seed: int = 1
    form: Form = Form.FAMILY
    vary: str | None = None

    def __post_init__(self) -> None:
        family = find_family(self.family)
        family.parse_size(self.size)
        if self.members < 1 or self.seed < 0:
            raise UsageError(f"{self.members} members and seed {self.seed}, expected members of 1 or more, a seed of 0 or more")
        if self.form is not Form.FAMILY and not family.integer:
            raise UsageError(f"{self.family} has no integer columns, which --as {self.form} needs; use --as family")
        if self.form is Form.CHILDREN and self.vary is not None:
            raise UsageError("children differ in one bound each; leave out --vary, or use --as family")
        if self.form is not Form.CHILDREN:
            family.varied(self.vary)


def make_batch(recipe: Recipe, settings: SolveSettings) -> tuple[LPBatch, list[Solution]]:
    """Returns the batch of a recipe, and each member's optimal solution where that is known by construction (else none).

    Children need their root solved first, which HiGHS does. Raises UsageError where the root has no children.
    """
    family = find_family(recipe.family)
    if recipe.form is Form.CHILDREN:
        root = family.base(recipe.size, recipe.seed)
        return relaxed(branching_children(root, root_point(root, settings), recipe.members)), []
    batch, known = family.solved_members(recipe.size, recipe.members, recipe.seed, recipe.vary)
    return (batch if recipe.form is Form.MIP else relaxed(batch)), known


def root_point(root: LinearProgram, settings: SolveSettings) -> Vector:
    """Returns an optimal vertex x [n] of a relaxation; raises UsageError where there is none that the referee accepts."""
    backend = load_backend(BackendName.HIGHS, settings)
    try:
        [(_, solution)] = backend.solve(single(root), settings)
    finally:
        backend.close()
    [verdict] = verify(single(root), [solution], settings.tol)
    if solution.status is not Status.OPTIMAL or not verdict.verified or solution.x is None:
        reason = f": {verdict.reason}" if verdict.reason else ""
        raise UsageError(f"the root of {root.name} is {solution.status}{reason}; children need an optimal one: try another seed")
    return solution.x


def write_family(recipe: Recipe, settings: SolveSettings, folder: Path, *, force: bool = False) -> Iterator[dict[str, object]]:
    """Writes the models of a recipe into a folder; yields for each a record of what was written.

    Raises OutputError where a file of another content is there, unless force is given, or the folder cannot be written.
    """
    batch, known = make_batch(recipe, settings)
    with output_errors(folder):
        folder.mkdir(parents=True, exist_ok=True)
    described = {"family": recipe.family, "as": str(recipe.form)} | {k: v for k, v in asdict(recipe).items() if k != "form"}
    described["vary"] = None if recipe.form is Form.CHILDREN else find_family(recipe.family).varied(recipe.vary)
    _write(folder / "family.json", json.dumps(described | {"members": len(batch)}, indent=1) + "\n", force)
    if known:
        _write(folder / "known.jsonl", "".join(_known_lines(batch, known)), force)
    for i in range(len(batch)):
        lp = batch.member(i)
        path = folder / f"{lp.name}.mps"
        _write(path, write_mps(lp), force)
        yield {"name": lp.name, "file": str(path), "rows": lp.m, "columns": lp.n, "nonzeros": lp.nnz} | {
            "integer_columns": int(lp.integer.sum()),
            "sense": "max" if lp.maximize else "min",
            "objective": _objective(lp, known[i]) if known else None,
        }


def _known_lines(batch: LPBatch, known: Sequence[Solution]) -> Iterator[str]:
    """Yields a line a member: its name, optimal objective, x, y and r, in the sense of the file."""
    for i, solution in enumerate(known):
        lp = batch.member(i)
        vectors = {name: _numbers(getattr(solution, name), 1.0 if name == "x" else lp.sign) for name in ("x", "y", "r")}
        yield json.dumps({"name": lp.name, "objective": _objective(lp, solution)} | vectors) + "\n"


def _numbers(vector: Vector, sign: float) -> list[float]:
    return [float(value) + 0.0 for value in sign * vector]


def _objective(lp: LinearProgram, solution: Solution) -> float:
    assert solution.x is not None
    return lp.sign * (float(lp.c @ solution.x) + lp.offset)


def _write(path: Path, text: str, force: bool) -> None:
    """Writes a file, beside and renamed; one of the same content stays as it is."""
    content = text.encode("ascii")
    with output_errors(path):
        if path.exists() and not force and path.read_bytes() != content:
            raise OutputError(f"{path} is there with other content; choose another folder with -o, or replace it with --force")
        replace_file(path, [content])
