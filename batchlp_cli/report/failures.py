"""What has no verdict, gathered by reason: a thousand instances that failed alike are one entry."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

from batchlp_cli.report.outcome import Outcome

MOST_EXAMPLES = 5
_REASONS = {
    "time_limit": "the time limit was reached; raise --time-limit and go on with --retry-failed",
    "iteration_limit": "the iteration limit was reached; raise --iteration-limit and go on with --retry-failed",
}
_CHANGING = re.compile(r"'[^']*'|\"[^\"]*\"|\S*/\S*|[-+]?\d[\d.,]*(?:e[-+]?\d+)?", re.IGNORECASE)
"""What differs between messages of one kind: quoted text, paths, numbers."""


@dataclass(frozen=True, slots=True)
class Failure:
    """Instances with one status and like reasons: the reason of the first in full, how many, and a few names."""

    status: str
    reason: str
    count: int
    examples: tuple[str, ...]


def group_failures(outcomes: Iterable[Outcome]) -> tuple[Failure, ...]:
    """Returns the failures of all outcomes that are not verified, most frequent first."""
    alike: dict[tuple[str, str], Failure] = {}
    for o in outcomes:
        if o.verified:
            continue
        key = o.status, _CHANGING.sub("#", o.remark)
        old = alike.get(key, Failure(o.status, o.remark or _REASONS.get(o.status, "no reason was given"), 0, ()))
        examples = old.examples if len(old.examples) >= MOST_EXAMPLES else (*old.examples, o.name)
        alike[key] = Failure(old.status, old.reason, old.count + 1, examples)
    return tuple(sorted(alike.values(), key=lambda f: -f.count))
