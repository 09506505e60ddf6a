"""Numbers as people write them: grouped thousands, currencies, per cent, words for missing.

A column of strings is a column of numbers if every cell is one in the same convention, apart from
words that mean missing. Only the distinct strings are looked at, so a table without such columns
costs nothing.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import groupby

import numpy as np

from clearwood._shared.errors import InputError, Option, Text, bad_value, did_you_mean, words
from clearwood._shared.numbers import count
from clearwood.table.kinds.dates import are_dates
from clearwood.table.kinds.review import Finding
from clearwood.table.raw import Raw

__all__ = [
    "PERCENT",
    "Writing",
    "convert_written_numbers",
    "numbers_among",
    "with_missing_words",
    "words_among_numbers",
]

#: The unit of numbers written with a per cent sign; they stay numbers of per cent.
PERCENT = "%"
#: What may stand between groups of three digits. Spaces and apostrophes come in several forms.
_THOUSANDS = (",", ".", " ", "'")
_SAME_SIGN = {
    ord(sign): plain
    for plain, signs in ((" ", "\u00a0\u2009\u202f"), ("'", "\u2019\u02bc"), ("-", "\u2212\u2013"))
    for sign in signs
}
_CURRENCY = (
    r"[A-Z]{0,3}[€$£¥₹₽₩₺₴₪₫฿]|S?Fr\.?|kr\.?|zł|Kč|Ft|EUR|USD|GBP|CHF|JPY|CNY|INR|CAD|AUD|NZD|SEK|NOK"
    r"|DKK|PLN|CZK|HUF|RON|BGN|TRY|ILS|ZAR|BRL|MXN|SGD|HKD|KRW|RUB"
)
_CELL = re.compile(
    rf"(?P<bracket>\()?(?P<sign>[+-])? ?(?P<before>{_CURRENCY})? ?(?P<sign2>[+-])?"
    r"(?P<number>(?:\d|[.,](?=\d))(?:[\d.,' ]*\d)?\.?(?:[eE][+-]?\d+)?)"
    rf"(?P<whole>(?<=\.)[-—]|,[-—])?(?P<minus>-)? ?(?P<after>{_CURRENCY}|%)?(?P<closed>\))?"
)
#: Words for a gap between numbers, in lower case: signs, spreadsheets' errors, then by language.
_WORDS = (
    "-|--|---|.|..|...|—|?|??|*|/",
    "#n/a|#na|#nv|#n/v|#null!|#value!|#wert!|#valeur!|#div/0!|#ref!|#bezug!|#num!|#zahl!",
    "na|n/a|n.a.|n.a|n. a.|nan|null|nil|none|missing|unknown|unk|unk.|not available|not known",
    "not applicable|no data|n/k|n.k.|nd|n.d.|n/d|tbd",
    "k.a.|k. a.|ka|k.a|k/a|keine angabe|keine angaben|unbekannt|unbek.|fehlt|fehlend|leer|n.v.",
    "nicht verfügbar|nicht bekannt",
    "inconnu|inconnue|non disponible|nc|n.c.|non renseigné|s.o.",
    "sconosciuto|non disponibile|desconocido|no disponible|onbekend|okänt|ukendt",
)
_MISSING_WORDS = frozenset(word for line in _WORDS for word in line.split("|"))
#: Strings to look at before a column of text is given up.
_FIRST_LOOK = 60
#: Below this share of rows with a number, words are not read as gaps between numbers.
_LEAST_SHARE = 0.1
#: Up to this share of rows, words that are not known to mean missing are pointed out.
_MOST_WORDS = 0.1


@dataclass(frozen=True)
class Writing:
    """How numbers and gaps are written; None is worked out from the table.

    Parameters
    ----------
    decimal
        The decimal sign.
    thousands
        What groups digits by three; empty for nothing.
    missing
        Words that mean missing: in every column, or by column.
    """

    decimal: str | None = None
    thousands: str | None = None
    missing: Sequence[str] | Mapping[str, Sequence[str]] | None = None

    def __post_init__(self) -> None:
        if self.decimal not in (None, ".", ","):
            raise bad_value("decimal", self.decimal, "the decimal sign must be '.' or ','")
        if self.thousands not in (None, "", *_THOUSANDS):
            raise bad_value(
                "thousands",
                self.thousands,
                "thousands are grouped by ',', '.', a space or an apostrophe, or '' for nothing",
            )
        if self.thousands and self.thousands == self.decimal:
            raise bad_value("thousands", self.thousands, "it is the decimal sign as well")
        if isinstance(self.missing, str):
            raise bad_value(
                "missing",
                self.missing,
                "it must be a list of words",
                hint=words("pass ", Option("missing", [self.missing]), "."),
            )

    def check_columns(self, names: Sequence[str]) -> None:
        """Refuse words for columns that the table does not have."""
        for name in self.missing if isinstance(self.missing, Mapping) else ():
            if name not in names:
                raise InputError(
                    words(f"there is no column {name!r} (set in ", Option("missing"), ")"),
                    parameter="missing",
                    value=name,
                    hint=did_you_mean(str(name), names),
                )

    def missing_words(self, name: str) -> frozenset[str]:
        """Return the words that the user states as missing in a column."""
        stated = self.missing or ()
        return frozenset(map(str, stated.get(name, ()) if isinstance(stated, Mapping) else stated))


@dataclass(frozen=True)
class _Convention:
    """How a column writes its numbers."""

    decimal: str
    thousands: str
    unit: str = ""
    #: The other way to read the same cells, where the column alone does not decide.
    doubtful: bool = False


@dataclass(frozen=True)
class _Converted:
    """A column of strings as numbers, and what was special about it."""

    raw: Raw
    convention: _Convention
    #: How many cells are not plain numbers, and one of them.
    n_special: int
    example: str
    #: Whether a decimal sign occurs.
    has_decimals: bool
    #: Rows for each word read as missing.
    gaps: Mapping[str, int] = field(default_factory=dict)


def with_missing_words(raws: Sequence[Raw], writing: Writing) -> list[Raw]:
    """Return the columns without the words, or the numbers, that the user states as missing."""
    writing.check_columns([raw.name for raw in raws])
    return [without_words(raw, writing.missing_words(raw.name)) for raw in raws]


def without_words(raw: Raw, gone: frozenset[str]) -> Raw:
    """Return the column without some words, or numbers, that mean missing."""
    if not gone:
        return raw
    if raw.is_coded:
        codes = [i for i, level in enumerate(raw.levels) if level.strip() in gone]
        if not codes:
            return raw
        return replace(raw, values=np.where(np.isin(raw.values, codes), -1, raw.values)).at(
            slice(None)
        )
    numbers = numbers_among(gone)
    if raw.form != "number" or not numbers:
        return raw
    return replace(raw, values=np.where(np.isin(raw.values, numbers), np.nan, raw.values))


def numbers_among(words: Iterable[str]) -> list[float]:
    """Return the words that are numbers, as numbers."""
    return [float(word) for word in words if _is_float(word)]


def _is_float(word: str) -> bool:
    try:
        float(word)
    except ValueError:
        return False
    return True


def convert_written_numbers(
    raws: Sequence[Raw], writing: Writing, skipped: Iterable[str] = ()
) -> tuple[list[Raw], list[Finding]]:
    """Turn columns of strings that are numbers into numbers, and report each kind of change.

    Examples
    --------
    >>> price = Raw("price", "string", np.array([0, 1, 2, 1]), ("1.693,66", "k.A.", "12,5"))
    >>> (read,), findings = convert_written_numbers([price], Writing())
    >>> read.values
    array([1693.66,     nan,   12.5 ,     nan])
    """
    skipped = set(skipped)
    converted: dict[str, _Converted] = {}
    doubtful = []
    for raw in raws:
        if raw.form == "string" and raw.name not in skipped:
            result = _convert(raw, writing) or _dates_with_gaps(raw, writing)
            if result is not None:
                converted[raw.name] = result
                doubtful += [raw] if result.convention.doubtful and not raw.decimal else []
    # Columns that leave no doubt decide for those that do.
    clear = {
        one.convention.decimal
        for one in converted.values()
        if not one.convention.doubtful and one.has_decimals
    }
    if len(clear) == 1:
        for raw in doubtful:
            again = _convert(replace(raw, decimal=next(iter(clear))), writing)
            converted[raw.name] = again or converted[raw.name]
    converted = {name: one for name, one in converted.items() if one.n_special or one.gaps}
    columns = [converted[raw.name].raw if raw.name in converted else raw for raw in raws]
    return columns, [*_about_conventions(converted), *_about_gaps(converted)]


def _dates_with_gaps(raw: Raw, writing: Writing) -> _Converted | None:
    """Return a column of dates without the words for missing among them."""
    if writing.missing is not None or not are_dates(_not_missing(raw.levels[:_FIRST_LOOK])):
        return None
    dates = _not_missing(raw.levels)
    if len(dates) == len(raw.levels) or not are_dates(dates):
        return None
    rows = raw.rows_per_level()
    gaps = {
        level.strip(): int(n)
        for level, n in zip(raw.levels, rows, strict=True)
        if level not in dates
    }
    without = without_words(raw, frozenset(gaps))
    return _Converted(without, _Convention(".", ""), 0, "", has_decimals=False, gaps=gaps)


def _not_missing(levels: Sequence[str]) -> list[str]:
    return [level for level in levels if _tidied([level])[0].casefold() not in _MISSING_WORDS]


def words_among_numbers(raw: Raw) -> Finding | None:
    """Point out a column that is not numeric because of a few of its cells."""
    if raw.form != "string" or not any(map(_is_number, _tidied(raw.levels[:100]))):
        return None
    levels = _tidied(raw.levels)
    others = [i for i, level in enumerate(levels) if not _is_number(level)]
    units = set() if others else {unit for level in levels for unit in _units(level)}
    if len(units) > 1:
        return Finding(
            f"column {raw.name!r} holds numbers in several units ({', '.join(sorted(units))}), so "
            "it is not numeric; convert them to one unit",
            left_out=False,
        )
    rows = raw.rows_per_level()
    n_others = int(rows[others].sum())
    if not n_others or n_others > _MOST_WORDS * rows.sum():
        return None
    shown = sorted((raw.levels[i].strip() for i in others if rows[i]), key=len)[:5]
    return Finding(
        words(
            f"column {raw.name!r} holds numbers except for {count(n_others, 'cell')} such as "
            f"{shown[0]!r}, so it is not numeric; correct them, or read them as missing: set ",
            Option("missing", {raw.name: shown}),
        ),
        left_out=False,
    )


def _units(level: str) -> tuple[str, ...]:
    """Return the unit of a cell; one without is a share where others are per cents."""
    cell = _CELL.fullmatch(level)
    return () if cell is None else (cell["before"] or cell["after"] or "no unit",)


def _is_number(level: str) -> bool:
    cell = _CELL.fullmatch(level)
    return cell is not None and not re.match(r"0\d", cell["number"])


def _convert(raw: Raw, writing: Writing) -> _Converted | None:
    if not _looks_numeric(_tidied(raw.levels[:_FIRST_LOOK])):
        return None
    levels = _tidied(raw.levels)
    cells = [_CELL.fullmatch(level) for level in levels]
    known = writing.missing is None
    gaps = [
        i
        for i, (level, cell) in enumerate(zip(levels, cells, strict=True))
        if known and cell is None and level.casefold() in _MISSING_WORDS
    ]
    numbers = np.setdiff1d(np.arange(len(levels)), gaps)
    if not len(numbers) or any(cells[i] is None for i in numbers):
        return None
    matches = [cell for i in numbers if (cell := cells[i]) is not None]
    convention = _convention(matches, raw, writing)
    if convention is None:
        return None
    rows = raw.rows_per_level()
    if rows[numbers].sum() < _LEAST_SHARE * rows.sum():
        return None
    values = np.full(len(levels) + 1, np.nan)
    values[numbers] = [_value(match, convention) for match in matches]
    special = [i for i in numbers if not _is_float(levels[i]) or float(levels[i]) != values[i]]
    return _Converted(
        Raw(
            raw.name,
            "number",
            values[raw.values],
            unit=convention.unit,
            decimal=convention.decimal,
            repeats=raw.repeats,
        ),
        convention,
        int(rows[special].sum()),
        max((levels[i] for i in special), key=len, default=""),
        any(convention.decimal in match["number"] for match in matches),
        {raw.levels[i].strip(): int(rows[i]) for i in gaps},
    )


def _tidied(levels: Sequence[str]) -> list[str]:
    return [level.strip().translate(_SAME_SIGN) for level in levels]


def _looks_numeric(levels: Sequence[str]) -> bool:
    numbers = sum(_CELL.fullmatch(level) is not None for level in levels)
    gaps = sum(level.casefold() in _MISSING_WORDS for level in levels)
    return numbers > 0 and numbers + gaps == len(levels)


def _convention(matches: Sequence[re.Match[str]], raw: Raw, writing: Writing) -> _Convention | None:
    """Return the one way in which all cells are numbers, or None."""
    unit = _unit(matches)
    if unit is None or any((m["bracket"] is None) != (m["closed"] is None) for m in matches):
        return None
    numbers = [match["number"] for match in matches]
    ways = {
        decimal: thousands
        for decimal in (".", ",")
        if writing.decimal in (None, decimal)
        and writing.thousands != decimal
        and (thousands := _grouping(numbers, decimal, writing.thousands)) is not None
    }
    if not ways:
        return None
    signs = {sign for number in numbers for sign in ".," if sign in number}
    if len(ways) == 1 or not signs:
        decimal = raw.decimal if raw.decimal in ways else next(iter(ways))
        is_whole = not any(decimal in number for number in numbers)
        if ways[decimal] and not unit and is_whole and _are_identifiers(numbers):
            return None
        return _Convention(decimal, ways[decimal], unit)
    # Every cell is a number both ways: 1,234 is 1234 or 1.234.
    (sign,) = signs
    other = "." if sign == "," else ","
    return _Convention(
        *((other, sign) if _groups(sign, unit, raw.decimal) else (sign, "")),
        unit,
        doubtful=True,
    )


def _groups(sign: str, unit: str, decimal: str) -> bool:
    """Whether a sign that may be either groups thousands: by the other columns, or by the unit."""
    if decimal:
        return sign != decimal
    if unit not in ("", PERCENT):
        return True  # amounts of money have no thousandths
    return sign == ","


def _unit(matches: Sequence[re.Match[str]]) -> str | None:
    """Return the unit that all cells share, empty for none; None where they differ."""
    units = {unit for m in matches for unit in (m["before"], m["after"]) if unit}
    if len(units) > 1:
        return None
    unit = next(iter(units), "")
    # 0.12 among per cents may be 12 %
    if unit == PERCENT and any(m["after"] is None and m["number"].strip("0.,") for m in matches):
        return None
    return unit


def _grouping(numbers: Sequence[str], decimal: str, stated: str | None) -> str | None:
    """Return what groups thousands if this is the decimal sign; None where the cells forbid it."""
    for thousands in ("", *_THOUSANDS):
        if thousands == decimal or (stated is not None and thousands not in ("", stated)):
            continue
        form = _form(decimal, thousands)
        if all(form.fullmatch(number) for number in numbers):
            return thousands
    return None


def _form(decimal: str, thousands: str) -> re.Pattern[str]:
    # A leading zero makes a code of a number: 01234 is not 1234.
    whole = r"(?:0|[1-9]\d*)"
    if thousands:
        whole = rf"(?:{whole}|[1-9]\d{{0,2}}(?:{re.escape(thousands)}\d{{3}})+)"
    point = re.escape(decimal)
    return re.compile(rf"(?:{whole}(?:{point}\d*)?|{point}\d+)(?:[eE][+-]?\d+)?")


def _are_identifiers(numbers: Sequence[str]) -> bool:
    """Whether long whole numbers have one length, as those of telephones and accounts have."""
    lengths = {sum(sign.isdigit() for sign in number) for number in numbers}
    is_split = all(" " in number or "." in number or "'" in number for number in numbers)
    return len(numbers) >= 5 and len(lengths) == 1 and lengths.pop() >= 7 and is_split


def _value(match: re.Match[str], convention: _Convention) -> float:
    digits = match["number"].replace(convention.thousands or " ", "")
    value = float(digits.replace(convention.decimal, "."))
    negative = "-" in (match["sign"], match["sign2"], match["minus"]) or match["bracket"]
    return -value if negative else value


def _about_conventions(converted: Mapping[str, _Converted]) -> list[Finding]:
    """Report, for each convention, the columns read in it."""
    special = sorted(
        ((name, one) for name, one in converted.items() if one.n_special),
        key=lambda pair: str(pair[1].convention),
    )
    findings = []
    for _, group in groupby(special, key=lambda pair: str(pair[1].convention)):
        columns = list(group)
        convention = columns[0][1].convention
        listed = _listed(
            f"{name!r} ({count(one.n_special, 'cell')}, such as {one.example!r})"
            for name, one in columns
        )
        how = [f"{_named(convention.thousands)} between thousands"] if convention.thousands else []
        if convention.decimal == "," or any(one.has_decimals for _, one in columns):
            how.append(f"{_named(convention.decimal)} as the decimal sign")
        if convention.unit:
            how.append(f"the unit {convention.unit}")
        doubt: Text = words("to keep the text, set ", _as_category(columns))
        if convention.doubtful and convention.thousands:
            doubt = words("if they have decimals, set ", Option("decimal", convention.thousands))
        elif convention.doubtful:
            doubt = words("if these are thousands, set ", Option("thousands", convention.decimal))
        way = f" with {' and '.join(how)}" if how else ""
        note = words(f"read as numbers{way}: {listed}; ", doubt)
        findings.append(Finding(note, left_out=False))
    return findings


def _about_gaps(converted: Mapping[str, _Converted]) -> list[Finding]:
    columns = [(name, one) for name, one in converted.items() if one.gaps]
    if not columns:
        return []
    listed = _listed(
        f"{name!r} ({', '.join(f'{n:,} × {word!r}' for word, n in one.gaps.items())})"
        for name, one in columns
    )
    return [
        Finding(
            words(
                f"words among numbers or dates are read as missing: {listed}; to keep them, set ",
                Option("missing", [""]),
            ),
            left_out=False,
        )
    ]


def _as_category(columns: Sequence[tuple[str, _Converted]]) -> Option:
    return Option("kinds", {columns[0][0]: "category"})


def _named(sign: str) -> str:
    return {" ": "a space", "'": "an apostrophe"}.get(sign, repr(sign))


def _listed(items: Iterable[str], most: int = 6) -> str:
    items = list(items)
    more = f" and {count(len(items) - most, 'other column')}" if len(items) > most else ""
    return ", ".join(items[:most]) + more
