"""Brings traces of members to the run folder, and says of which wanted members there is none."""

from __future__ import annotations

from batchlp_cli.events import Listen, Note
from batchlp_cli.files.ledger import Row, encode_row
from batchlp_cli.files.results import RunFolder
from batchlp_cli.watch import Watch


class Tracer:
    """Keeps in traces/NAME.json what a watch has of a member, when that member is finished."""

    def __init__(self, watch: Watch, folder: RunFolder | None) -> None:
        self._watch, self._folder = watch, folder
        self._missed: list[str] = []
        self._kept = 0

    def keep(self, name: str) -> None:
        """Writes the trace of a finished member if it is wanted."""
        if not self._watch.wants(name):
            return
        series = self._watch.take(name)
        if series is None:
            self._missed.append(name)
        elif self._folder is not None:
            record: Row = {"name": name, "backend": "pdhg", **series}
            self._folder.write_atomic(f"traces/{name}.json", f"{encode_row(record)}\n".encode("ascii"))
            self._kept += 1

    def finish(self, listen: Listen) -> None:
        """Says which members were to be traced and were not."""
        if self._missed:
            count = f"{len(self._missed)} member{'s' * (len(self._missed) > 1)} that --trace names"
            why = "only lanes (--backend pdhg or auto) tell residuals by iteration, simplex has none"
            listen(Note(f"no trace of {count} (the first is {self._missed[0]}): {why}"))
        elif self._watch.tracing and not self._kept:
            listen(Note("--trace names none of the members that were solved; it is compared with the `name` of their rows"))
