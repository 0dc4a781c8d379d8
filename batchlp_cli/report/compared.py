"""The page of a comparison over sizes, from the record that `compare` keeps; like every page without script and network."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from batchlp_cli import __version__
from batchlp_cli.report.markup import Markup, image, table, tag
from batchlp_cli.report.page import document

TIMES = "size|members|rows|nonzeros|{0} [s]|{1} [s]|{1} / {0}|{0} cold [s]|{1} cold [s]"
ACCURACY = "size|{0} worst residual|{1} worst residual|failed|disagreements"


def compared_page(found: Mapping[str, object], picture: bytes | None) -> str:
    """Returns the page of a comparison; found: what compare.json holds; picture: the curve as SVG, if there is one.

    Raises KeyError, TypeError or ValueError where the record is none of `compare`.
    """
    sides = str(found["first"]), str(found["second"])
    title = f"batchlp compare: {sides[0]} against {sides[1]}"
    return document(title, [tag("h1", title), *_parts(found, sides, picture)])


def _parts(found: Mapping[str, object], sides: tuple[str, str], picture: bytes | None) -> Iterator[Markup]:
    disagreements = [str(sentence) for sentence in _sequence(found["disagreements"])]
    if disagreements:
        yield tag("p", f"✗ The sides disagree on {len(disagreements)} answers.", class_="answer bad")
        yield tag("ul", *(tag("li", sentence) for sentence in disagreements))
    words = str(found["words"])
    yield tag("p", words[:1].upper() + words[1:] + ".", class_="answer" if disagreements else "answer good")
    if picture is not None:
        yield image(picture, words, "A point a size, a tick a repeat.")
    caption = "Seconds an LP, medians over the repeats; cold is the first solve, with start and compilation, as a whole."
    sizes = [_mapping(size) for size in _sequence(found["sizes"])]
    yield table(TIMES.format(*sides).split("|"), [_times(size) for size in sizes], caption)
    yield table(ACCURACY.format(*sides).split("|"), [_accuracy(size) for size in sizes], "What the referee found.")
    for heading in ("settings", "versions", "machine"):
        told = _mapping(found[heading])
        yield tag("p", f"{heading.capitalize()}: " + ", ".join(f"{key} {value}" for key, value in told.items()))
    yield tag("footer", f"Made by batchlp {__version__}. Every answer was judged by the referee, on the original data.")


def _times(record: Mapping[str, object]) -> list[str]:
    """Returns the row of a size among the times."""
    cells = [str(record["label"]), *(f"{int(str(record[name])):,}" for name in ("members", "rows", "nonzeros"))]
    return cells + [_number(record[name]) for name in ("first_time", "second_time", "speedup", "first_cold", "second_cold")]


def _accuracy(record: Mapping[str, object]) -> list[str]:
    """Returns the row of a size among the answers."""
    worst = (_number(record[name]) for name in ("first_worst", "second_worst"))
    failed = int(str(record["first_failed"])) + int(str(record["second_failed"]))
    return [str(record["label"]), *worst, str(failed), str(record["disagreements"])]


def _number(value: object) -> str:
    return "none" if value is None else f"{float(str(value)):.3g}"


def _mapping(value: object) -> Mapping[str, object]:
    if not isinstance(value, Mapping):
        raise TypeError(f"found {type(value).__name__}, expected an object")
    return value


def _sequence(value: object) -> Sequence[object]:
    if not isinstance(value, list):
        raise TypeError(f"found {type(value).__name__}, expected a list")
    return value
