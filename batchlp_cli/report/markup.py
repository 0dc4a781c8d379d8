"""HTML that is safe by its type: text becomes Markup only by escaping, and only Markup is put into a page as it is."""

from __future__ import annotations

import base64
import html
import re
from collections.abc import Iterable, Sequence

_UNSHOWN = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ud800-\udfff\ufffe\uffff\u202a-\u202e\u2066-\u2069]")
SHORT = 16
"""Letters of a text that a table does not break: every status is shorter."""

_VOID = frozenset({"meta", "link", "br", "hr", "img", "col"})


class Markup(str):
    """A piece of HTML. Made by `tag`, `escape` and `joined`; anything else that calls it must know that its text is safe."""

    __slots__ = ()


def plain(text: str) -> str:
    """Returns a text with what no page can show (control characters, bytes that were no UTF-8, turned reading) replaced."""
    return _UNSHOWN.sub("\ufffd", text)


def escape(content: Markup | str) -> Markup:
    """Returns text as HTML that shows it; Markup passes."""
    return content if isinstance(content, Markup) else Markup(html.escape(plain(content), quote=True))


def joined(*parts: Markup | str) -> Markup:
    """Returns parts one after the other, escaping those that are plain text."""
    return Markup("".join(escape(part) for part in parts))


def tag(name: str, /, *content: Markup | str, **attributes: str) -> Markup:
    """Returns an element. Attributes are escaped; a trailing underscore is dropped and others become hyphens."""
    given = "".join(f' {key.rstrip("_").replace("_", "-")}="{escape(str(value))}"' for key, value in attributes.items())
    if name in _VOID:
        return Markup(f"<{name}{given}>")
    return Markup(f"<{name}{given}>{joined(*content)}</{name}>")


def image(svg: bytes, words: str, caption: str) -> Markup:
    """Returns a figure that shows an SVG file as an image, in which no browser runs or loads anything."""
    source = "data:image/svg+xml;base64," + base64.b64encode(svg).decode("ascii")
    return tag("figure", tag("img", src=source, alt=words, style="width:100%;height:auto"), tag("figcaption", caption))


def table(headings: Sequence[str], rows: Iterable[Sequence[Markup | str]], caption: str, text_columns: int = 1) -> Markup:
    """Returns a table with a caption; all columns but the first text_columns hold numbers and stand to the right. Short texts
    stand in one line."""
    kinds = ["" if k < text_columns else "n" for k in range(len(headings))]
    head = tag("tr", *(tag("th", h, scope="col", class_=kind) for h, kind in zip(headings, kinds, strict=True)))
    body = []
    for row in rows:
        first = tag("th", row[0], scope="row")
        rest = (tag("td", cell, class_=kind or "w" * (len(cell) <= SHORT)) for cell, kind in zip(row[1:], kinds[1:], strict=True))
        body.append(tag("tr", first, *rest))
    whole = tag("table", tag("caption", caption), tag("thead", head), tag("tbody", *body))
    return tag("div", whole, class_="scroll")
