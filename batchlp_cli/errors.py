"""Exceptions for what is nobody's answer; each class carries the exit code of the command line.

What the mathematics decided (infeasible, a limit reached) is a status, see `solution.py`, and never an exception.
"""


class BatchLPError(Exception):
    """Base of all errors that batchlp raises on purpose."""

    exit_code = 70


class UsageError(BatchLPError):
    """The command line or the settings ask for something that cannot be meant."""

    exit_code = 2


class NothingReadable(BatchLPError):
    """Not one of the inputs could be read as a linear program."""

    exit_code = 3


class BackendMissing(BatchLPError):
    """The backend or the device that was asked for is not there."""

    exit_code = 4


class OutputError(BatchLPError):
    """The output folder or a file in it cannot be written."""

    exit_code = 5


class Interrupted(BatchLPError):
    """SIGINT or SIGTERM arrived; what was finished is kept."""

    def __init__(self, signal_number: int) -> None:
        super().__init__(f"interrupted by signal {signal_number}")
        self.exit_code = 128 + signal_number


class ModelError(BatchLPError):
    """A model is malformed: wrong shapes, NaN, or a kind of model that is no LP. It becomes a row, not an exit."""


class ReadError(ModelError):
    """A file is no readable linear program. It becomes a row, not an exit."""


class WorkerCrash(BatchLPError):
    """A worker process could not even be started, so no work can be done."""
