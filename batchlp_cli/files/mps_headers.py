"""Section headers of an MPS file, and the sections that hold one word: OBJSENSE, OBJNAME and REFROW."""

from __future__ import annotations

from batchlp_cli.files.mps_fields import LineError, decode
from batchlp_cli.files.mps_model import MpsModel

DATA = frozenset({"ROWS", "LAZYCONS", "USERCUTS", "COLUMNS", "RHS", "RANGES", "BOUNDS"})
ONE_WORD = frozenset({"OBJSENSE", "OBJNAME", "OBJECTIVE", "REFROW"})
SENSE_HEADERS = {"OBJSENSEMAX": True, "OBJSENSEMIN": False}
SENSES = {
    **dict.fromkeys(("MAX", "MAXIMIZE", "MAXIMISE", "MAXIMUM", "MAXIMIZATION", "MAXIMISATION"), True),
    **dict.fromkeys(("MIN", "MINIMIZE", "MINIMISE", "MINIMUM", "MINIMIZATION", "MINIMISATION"), False),
}
REFUSED = {
    **dict.fromkeys(("QUADOBJ", "QMATRIX", "QSECTION", "QCMATRIX", "QUADS"), "quadratic terms"),
    **dict.fromkeys(("SOS", "SOS1", "SOS2", "SETS"), "special ordered sets"),
    **dict.fromkeys(("CSECTION", "CONES"), "cones"),
    **dict.fromkeys(("PWLOBJ", "PWLNAM", "PWLCON"), "piecewise linear terms"),
    "INDICATORS": "indicator constraints",
    "GENCONS": "general constraints",
    "SCENARIOS": "scenarios",
    "MODELCUTS": "model cuts",
    "DELAYEDROWS": "delayed rows",
    "BRANCH": "branching rules",
}
MAX_HEADERS = 1000
KEYWORDS = DATA | ONE_WORD | {"NAME", "ENDATA"} | set(SENSE_HEADERS) | set(REFUSED)


def read_header(model: MpsModel, number: int, line: bytes) -> str:
    """Takes a line that begins with a section's name; returns the section."""
    text = decode(line).strip()
    written, _, rest = text.partition(" ") if "\t" not in text else text.replace("\t", " ").partition(" ")
    section, rest = written.upper(), rest.strip()
    if written != section:
        model.note("case", f"line {number}: section {written!r} is read as {section}")
    _finish_section(model, number)
    if len(model.headers) >= MAX_HEADERS:
        raise LineError(f"more than {MAX_HEADERS} section headers", "each section once")
    _refuse_data(model, section, rest)
    model.headers.append((number, section))
    if section == "NAME":
        model.title = title_of(rest)
    elif section in ONE_WORD:
        if rest:
            read_headed_value(model, section, rest.split())
    elif section in SENSE_HEADERS:
        _set_sense(model, SENSE_HEADERS[section])
    elif _names_set(model, section, rest):
        model.note("set in header", f"line {number}: {rest!r} behind {section} is left out; the lines below name their set")
    elif section not in REFUSED and rest and not rest.startswith("$"):
        raise LineError(f"section {section} with {rest!r} behind it", f"{section} alone; lines of data begin with a blank")
    return section


def _names_set(model: MpsModel, section: str, rest: str) -> bool:
    """Tells whether a header names its set, as old SMPS files do: one word that is no row, so this is no line of data."""
    word = rest.split()[0] if len(rest.split()) == 1 else ""
    return bool(word) and section in ("RHS", "RANGES", "BOUNDS") and word not in model.rows and not word[0].isdigit()


def _refuse_data(model: MpsModel, section: str, rest: str) -> None:
    """Refuses a header that looks like a line of data, in column 1, of a column that has a section's name."""
    if section == "NAME" and any(before in DATA for _, before in model.headers):
        raise LineError("a NAME section behind ROWS", "it in front; lines of data begin with a blank")
    if rest and (section in SENSE_HEADERS or (section == "REFROW" and len(rest.split()) > 1)):
        raise LineError(f"section {section} with {rest!r} behind it", f"{section} alone; lines of data begin with a blank")
    if rest and section in REFUSED:
        raise LineError(f"section {section}: {REFUSED[section]}", "a linear program; lines of data begin with a blank")


def _finish_section(model: MpsModel, number: int) -> None:
    """Checks that the section before a header was complete."""
    before = model.headers[-1] if model.headers else (0, "")
    if before[1] == "OBJSENSE" and model.maximize is None:
        raise LineError(f"a new section, and section OBJSENSE of line {before[0]} is empty", "MAX or MIN in it")


def title_of(rest: str) -> str:
    """Returns the name of the model from what stands behind NAME; a last word FREE only announces the format."""
    words = rest.split()
    if len(words) > 1 and words[-1].upper() in ("FREE", "FREEMPS"):
        words = words[:-1]
    return " ".join(words)


def read_headed_value(model: MpsModel, section: str, fields: list[str]) -> None:
    """Takes the word of an OBJSENSE, OBJNAME or REFROW section; refuses data of any section that is no LP's."""
    if section == "OBJSENSE":
        word = fields[0].upper()
        if len(_before_comment(fields)) != 1 or word not in SENSES:
            raise LineError(f"objective sense {' '.join(fields)!r}", "MAX or MIN, or one of their longer spellings")
        _set_sense(model, SENSES[word])
    elif section in ("OBJNAME", "OBJECTIVE"):
        if len(_before_comment(fields)) != 1 or model.objective_name not in (None, fields[0]):
            raise LineError(f"objective name {' '.join(fields)!r}", "the name of one free row")
        model.objective_name = fields[0]
    elif section == "REFROW":
        model.note("refrow", f"line {model.headers[-1][0]}: REFROW matters to special ordered sets only; it is left out")
    elif section in REFUSED:
        raise LineError(f"section {section}: {REFUSED[section]}", "a linear program", model.headers[-1][0])
    else:
        raise LineError("a line of data outside any section", "a section header such as ROWS in column 1")


def _before_comment(fields: list[str]) -> list[str]:
    """Returns the words in front of a lone $, which begins a comment behind the one word that such a section holds."""
    return fields[: fields.index("$", 1)] if "$" in fields[1:] else fields


def _set_sense(model: MpsModel, maximize: bool) -> None:
    if model.maximize not in (None, maximize):
        raise LineError("an objective sense that contradicts the earlier one", "one objective sense")
    model.maximize = maximize
