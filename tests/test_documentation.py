"""Every command, option, exit code, status and result key is documented."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click
import pytest

from batchlp_cli import errors
from batchlp_cli.commands import cli
from batchlp_cli.files.discover import Discovery
from batchlp_cli.report.rows import RESULT_FIELDS
from batchlp_cli.run import run
from batchlp_cli.run_options import RunOptions
from batchlp_cli.settings import SolveSettings
from batchlp_cli.solution import Status
from batchlp_cli.studies.records import BRANCH_FIELDS, TIGHTEN_FIELDS
from batchlp_cli.watch import SERIES

ROOT = Path(__file__).parents[1]


def text_of(name: str) -> str:
    """Returns the text of a document of the project."""
    return (ROOT / name).read_text(encoding="utf-8")


def commands() -> Iterator[tuple[str, click.Command]]:
    """Yields every command with its name."""
    context = click.Context(cli)
    for name in cli.list_commands(context):
        command = cli.get_command(context, name)
        assert command is not None, f"{name} is listed but is no command"
        yield name, command


def options() -> Iterator[tuple[str, str]]:
    """Yields (command, option) for every spelling of every option."""
    for name, command in commands():
        for parameter in command.params:
            if isinstance(parameter, click.Option) and not parameter.hidden:
                yield from ((name, spelling) for spelling in (*parameter.opts, *parameter.secondary_opts))


def documented(word: str, text: str) -> bool:
    """Tells whether a text names a word inside backquotes, as a whole word."""
    return any(re.search(rf"(?<![\w-]){re.escape(word)}(?![\w-])", code) for code in re.findall(r"`([^`\n]+)`", text))


@pytest.mark.parametrize("name", [name for name, _ in commands()])
def test_command_is_documented(name: str) -> None:
    """docs/cli.md and README.md name each command."""
    assert documented(f"batchlp {name}", text_of("docs/cli.md"))
    assert documented(f"batchlp {name}", text_of("README.md"))


@pytest.mark.parametrize(("command", "option"), sorted(options()))
def test_option_is_documented(command: str, option: str) -> None:
    """docs/cli.md names each spelling of each option."""
    assert documented(option, text_of("docs/cli.md")), f"docs/cli.md does not name {option} of batchlp {command}"


def test_no_option_is_invented() -> None:
    """Every long option that README.md and docs/cli.md name in backquotes with batchlp, or in a table, exists."""
    known = {option for _, option in options()} | {"--help", "--version"}
    for document in ("README.md", "docs/cli.md"):
        codes = re.findall(r"^\| `(--[^`]+)`|`(batchlp [^`]+)`", text_of(document), re.MULTILINE)
        named = {option for pair in codes for code in pair for option in re.findall(r"(?<!\S)--[a-z][a-z-]*", code)}
        assert named <= known, f"{document} names options that do not exist: {sorted(named - known)}"


@pytest.mark.parametrize("document", ["README.md", "docs/cli.md"])
def test_exit_codes_are_documented(document: str) -> None:
    """The table of exit codes has the code of every exception, of success, of an unproved answer and of both signals."""
    kinds = [kind for kind in vars(errors).values() if isinstance(kind, type) and issubclass(kind, errors.BatchLPError)]
    raised = {kind.exit_code for kind in kinds}
    rows = re.findall(r"^\| ([\d, ]+) \|", text_of(document), re.MULTILINE)
    assert raised | {0, 1, 130, 143} <= {int(code) for row in rows for code in row.split(",")}


@pytest.mark.parametrize(
    "word", [*dict.fromkeys([*RESULT_FIELDS, *BRANCH_FIELDS, *TIGHTEN_FIELDS]), *(status.value for status in Status)]
)
def test_row_is_documented(word: str) -> None:
    """docs/results.md names every key of a row and every status."""
    assert re.search(rf"\b{word}\b", text_of("docs/results.md"))


def test_keys_of_reports_and_traces_are_documented(tmp_path: Path) -> None:
    """docs/results.md names every key of report.json and of a trace."""
    settings = SolveSettings(jobs=1)
    report = run(Discovery(()), RunOptions(settings=settings, output=tmp_path / "out"), lambda event: None)
    text = text_of("docs/results.md")
    for key in (*report, *SERIES):
        assert documented(key, text), f"docs/results.md does not name {key}"


def test_examples_of_the_library_run_as_they_stand(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The blocks of docs/library.md, one after another in one namespace, run and print what their sentences promise."""
    text = "NAME m\nROWS\n N obj\n G r\nCOLUMNS\n x obj 1 r 1\nRHS\n RHS r 2\nENDATA\n"
    (tmp_path / "model.mps").write_text(text)
    monkeypatch.chdir(tmp_path)
    blocks = re.findall(r"(?:^    .*\n|^\n(?=    ))+", text_of("docs/library.md"), re.MULTILINE)
    printed: list[tuple[Any, ...]] = []
    namespace: dict[str, object] = {"print": lambda *words: printed.append(words)}
    for block in blocks:
        exec(compile(textwrap.dedent(block), "docs/library.md", "exec"), namespace)
    assert len(blocks) == 4
    first, second, (best, fixings, scores), (ranges,) = printed
    assert [word[:3] for word in (first, second)] == [("model", "optimal", True), ("model.mps", "optimal", True)]
    assert (first[3], second[3]) == (pytest.approx(11.5), pytest.approx(2))
    assert best == "C2"
    assert fixings == [{"column": "C1", "bound": "upper", "value": 3.0, "reason": "infeasible"}]
    assert scores == [pytest.approx(0.5), None]
    assert ranges == [("C1", 0.0, 3.0), ("C2", 0.0, 2.0)]


def test_missing_word_is_missed() -> None:
    """The instrument of these tests tells an option from a longer one and from plain text."""
    assert documented("--null", "use `--null` here")
    assert not documented("--null", "use `--null-bytes` or --null here")


def test_families_are_documented() -> None:
    """docs/families.md has a row for each family, with its source."""
    from batchlp_cli.families import FAMILIES

    text = text_of("docs/families.md")
    for family in FAMILIES.values():
        assert f"| `{family.name}` | {family.summary} |" in text
        assert family.source in text
