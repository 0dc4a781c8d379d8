"""The command line: flags become settings, exceptions become exit codes, and nothing else happens here.

A command's module is imported only when that command runs, so that `batchlp --help` loads no solver and no array library.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from importlib import import_module

import click

from batchlp_cli import __version__
from batchlp_cli.errors import BatchLPError

_COMMANDS = {
    "solve": "Solve all linear programs of the given files and folders, and prove every answer.",
    "branch": "Full strong branching at the root: a proved bound for both children of every fractional column.",
    "tighten": "The range of every column over the relaxation, safe outwards; also flux variability analysis.",
    "inspect": "Show what would be solved: groups that share a matrix, sizes, and why files are not together.",
    "compare": "Measure two ways of solving against each other on the same LPs, and at which size they change places.",
    "generate": "Write the files of a seeded family of instances, as LPs, strong-branching children or MIPs.",
    "calibrate": "Measure this machine once, so that later runs choose between backends sooner.",
    "report": "Show what a run came to, as text, as one page with figures, or as a table; compare runs.",
    "scenarios": "Convert a folder of files into a scenario table, or a table into a folder of files.",
    "verify": "Check every verdict of a run folder again, from the inputs and the stored solutions.",
}

EPILOG = """\b
Examples:
  batchlp solve models/                        every model in a folder, a table on the terminal
  batchlp solve models/ -o run1                keep rows and solutions in the folder run1
  batchlp solve models/ -o run1 --resume       go on where an earlier run stopped
  batchlp solve 'case*.mps.gz' | jq .objective JSON lines in a pipe
  batchlp inspect models/                      which files share a matrix, and why others do not
  batchlp report run1 --html                   what the run came to, as one page with figures
  batchlp verify run1 --exact                  check a run again, in rational arithmetic
  batchlp branch model.mps --cutoff 120        which column to branch on, and what is fixed already
  batchlp tighten model.mps -o run2            the range of every column, and the model with the tighter bounds

Exit codes: 0 every instance has a verified verdict, 1 some have not, 2 usage, 3 nothing readable,
4 backend or device missing, 5 output not writable, 70 a fault of batchlp, 130 and 143 interrupted.
"""


class LazyGroup(click.Group):
    """A group whose commands are imported when they are asked for, and listed from `_COMMANDS` without import."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Returns the names of all commands."""
        return list(_COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Imports and returns a command, or None where there is none of that name."""
        if cmd_name not in _COMMANDS:
            return None
        command: click.Command = import_module(f"batchlp_cli.commands.{cmd_name}").command
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Writes the list of commands from their one-line texts, importing none of them."""
        with formatter.section("Commands"):
            formatter.write_dl(list(_COMMANDS.items()))


@click.group(cls=LazyGroup, epilog=EPILOG, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 110})
@click.version_option(__version__, "--version", prog_name="batchlp")
def cli() -> None:
    """Solve many linear programs at once, and prove every answer.

    batchlp reads MPS and LP files, groups those that share a matrix into batches, solves each batch, and checks every
    answer on the original data before it calls it optimal, infeasible or unbounded.
    """


def exit_code_of(arguments: Sequence[str] | None, started: float) -> int:
    """Runs the command line and returns its exit code; every exception is turned into one here and nowhere else."""
    try:
        code = cli.main(args=arguments, prog_name="batchlp", standalone_mode=False, obj=started)
        sys.stdout.flush()
        return int(code or 0)
    except click.ClickException as error:
        error.show()
        return error.exit_code
    except click.Abort:
        return 130
    except BatchLPError as error:
        _complain(f"batchlp: {error}")
        return error.exit_code
    except BrokenPipeError:
        # Whoever read stdout has left: end as quietly as other tools do, also when Python flushes at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 141
    except KeyboardInterrupt:
        return 130
    except Exception as error:
        _report_bug(error)
        return 70


def _complain(text: str) -> None:
    click.echo(text, err=True)


def _report_bug(error: Exception) -> None:
    import platform
    import traceback

    traceback.print_exception(error, file=sys.stderr)
    _complain(
        f"\nbatchlp: this is a fault of batchlp {__version__}, not of your input ({type(error).__name__}: {error}).\n"
        f"Please report it with the text above, the command line, and if possible the file "
        f"(Python {platform.python_version()}, {platform.system()} {platform.machine()}).\n"
        "Rows that were finished before are kept in the run folder; go on with --resume."
    )
