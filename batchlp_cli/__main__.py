"""The entry point of the command line; everything heavy is imported later, by the command that needs it.

Commands that read files need worker processes, whose server takes as long to start as all else that is imported until it
is asked for them; so it is started before anything else.
"""

from __future__ import annotations

import os
import sys
import time

STARTED = time.perf_counter()

WORKERS = {
    "solve": ("batchlp_cli.files.read.worker", "batchlp_cli.backends.highs.worker"),
    "inspect": ("batchlp_cli.files.read.worker",),
}
"""What the worker processes of a command run."""


def main() -> None:
    """Runs the command line and exits with the code that the outcome asks for."""
    # Cores are used by processes; the threads that numpy's BLAS starts on import would take half of the import's time.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    arguments = sys.argv[1:]
    workers = WORKERS.get(arguments[0] if arguments else "", ())
    if workers and not {"--help", "-h"}.intersection(arguments):
        from batchlp_cli.worker import start_server

        start_server(*workers)
    from batchlp_cli.commands import exit_code_of

    sys.exit(exit_code_of(arguments, STARTED))


if __name__ == "__main__":
    main()
