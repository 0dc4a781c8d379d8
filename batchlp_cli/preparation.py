"""What a run will need later is got ready while it waits for something else: the backend, and scipy where that pays."""

from __future__ import annotations

import threading
from importlib import import_module

from batchlp_cli.backends.base import Backend, load_backend
from batchlp_cli.settings import BackendName, SolveSettings


class Preparation:
    """Loads the backend, starts its worker processes and imports scipy in threads. What fails there is left to who needs it."""

    def __init__(self, settings: SolveSettings) -> None:
        self._settings = settings
        self._backend: Backend | None = None
        self._loaded = threading.Event()
        self._thread: threading.Thread | None = None
        self._importing: threading.Thread | None = None

    def begin(self, members: int) -> None:
        """Begins, for a run of so many members; only the first call counts."""
        if self._thread is None:
            self._thread = threading.Thread(target=self._prepare, args=(members,), name="preparation")
            self._thread.start()

    def load_scipy(self) -> None:
        """Imports scipy while members are solved, for the referee; only the first call counts."""
        if self._importing is None:
            self._importing = threading.Thread(target=import_module, args=("scipy.sparse",), name="import of scipy")
            self._importing.start()

    def backend(self, name: BackendName) -> Backend:
        """Returns the backend that was got ready, or loads the one asked for; raises BackendMissing where it cannot."""
        if name is self._settings.backend and self._thread is not None:
            self._loaded.wait()
            if self._backend is not None:
                return self._backend
        return load_backend(name, self._settings)

    def close(self) -> None:
        """Ends the workers that were started; may be called twice."""
        if self._thread is not None:
            self._loaded.wait()
        if self._backend is not None:
            self._backend.close()

    def _prepare(self, members: int) -> None:
        try:
            self._backend = load_backend(self._settings.backend, self._settings)
            self._backend.prepare(members)
        except Exception:  # it comes again, in the thread that needs what is missing, and is reported there
            return
        finally:
            self._loaded.set()
