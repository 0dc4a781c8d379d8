"""Numbers as people read them."""

from __future__ import annotations


def seconds_in_words(seconds: float | None) -> str:
    """Returns a duration with its unit and three digits: 12.0 ms, 3.46 s, 4 min 05 s, 2 h 03 min; a dash for None."""
    if seconds is None:
        return "-"
    if seconds < 0.9995e-3:
        return f"{seconds * 1e6:.0f} us"
    if seconds < 0.9995:
        return f"{_three_digits(seconds * 1e3)} ms"
    if seconds < 99.95:
        return f"{_three_digits(seconds)} s"
    minutes, rest = divmod(round(seconds), 60)
    if minutes < 60:
        return f"{minutes} min {rest:02d} s"
    return f"{minutes // 60} h {minutes % 60:02d} min"


def _three_digits(value: float) -> str:
    return f"{value:.2f}" if value < 9.995 else f"{value:.1f}" if value < 99.95 else f"{value:.0f}"


def plural(number: int, noun: str, nouns: str = "") -> str:
    """Returns a number with its noun: 1 instance, 2,000 instances."""
    return f"{number:,} {noun if number == 1 else nouns or noun + 's'}"


def percent(share: float) -> str:
    """Returns a share as a percentage without false digits: 0 %, below 1 %, 34 %."""
    return "below 1 %" if 0 < share < 0.01 else f"{100 * share:.0f} %"


def bytes_in_words(size: int | None) -> str:
    """Returns a size with its unit: 240 MB; a dash for None."""
    if not size:
        return "-"
    for unit, factor in (("GB", 1e9), ("MB", 1e6), ("kB", 1e3)):
        if size >= factor:
            return f"{size / factor:.3g} {unit}"
    return f"{size} bytes"


def value_in_words(value: float | None, form: str = ".6g") -> str:
    """Returns a number in a form of `format`, a dash for None."""
    return "-" if value is None else format(value, form)


def listed(words: tuple[str, ...], total: int) -> str:
    """Returns words as a list that says how many more there are than shown."""
    more = f" and {total - len(words):,} more" if total > len(words) else ""
    return ", ".join(words) + more
