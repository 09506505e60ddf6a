"""Delimited text: we detect dialect, header and encoding; DuckDB reads the rows.

Only the dialect and the header are worked out here; DuckDB parses the rows. The types are our own
choice too (number or string), because an engine that guesses types may also guess away a header,
skip lines that look odd, or round ``1.5`` into a column it took for integers.
"""

import codecs
import csv
import gzip
import io
import re
import tempfile
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, NoReturn, cast

import numpy as np

from clearwood._shared.errors import InputError, Option, Text, bad_value, words
from clearwood._shared.messages import tell
from clearwood.table.duck import connect, fetch, filled, literal_path
from clearwood.table.kinds.written_numbers import Writing
from clearwood.table.raw import Raw, factorise

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

__all__ = ["MISSING", "CsvScan", "NotNumbersError", "TextFile", "read_csv", "scan_csv"]

#: What counts as missing in text files. "None" and "?" are levels in real tables, so they are not.
MISSING = ("", "NA", "N/A", "NaN", "nan", "NULL", "null")

_DELIMITERS = (",", ";", "\t", "|")
_NO_DELIMITERS = ('"', "\n", "\r")
_SAMPLE_BYTES = 1 << 18
_BOMS = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
_UTF8 = ("utf-8", "utf8", "utf-8-sig", "ascii")
_MOST_LEVELS = 500
_SOME_LEVELS = 50
_MOST_COLUMNS_IN_ONE_PASS = 500
_LONGEST_LINE = 2**24
# The code of a string that the head of the file did not have.
_ANOTHER = -2
_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?|[+-]?inf(inity)?", re.IGNORECASE)
# A leading zero makes a code of it (a postcode, a key): reading 01234 as 1234 would lose it.
_CODE = re.compile(r"0\d+")


@dataclass(frozen=True)
class Dialect:
    """How a file writes its cells, and what the first rows hold.

    Parameters
    ----------
    delimiter
        What separates cells.
    names
        The header.
    numeric
        Which columns hold nothing but numbers so far.
    levels
        The distinct cells of each other column so far, at most some hundreds.
    decimal
        The decimal sign.
    shows_decimals
        Whether it occurs in the first rows.
    line_size
        Longest line to expect, in bytes. DuckDB reads in larger pieces the longer it is, and
        fewer pieces keep fewer cores busy.
    """

    delimiter: str
    names: tuple[str, ...]
    numeric: tuple[bool, ...]
    levels: tuple[tuple[str, ...], ...]
    decimal: str = "."
    shows_decimals: bool = False
    line_size: int = 2**21


@dataclass(frozen=True)
class TextFile:
    """How a text file is to be read; what is None is detected.

    Parameters
    ----------
    delimiter
        What separates cells.
    encoding
        The file's encoding; UTF-8 and UTF-16 are recognised, others tried with a warning.
    writing
        How its numbers are written.
    as_written
        Columns whose text is kept, so that a postcode ``01234`` keeps its zero.
    """

    delimiter: str | None
    encoding: str | None
    writing: Writing
    as_written: frozenset[str]


def read_csv(path: Path, options: TextFile) -> list[Raw]:
    """Return the columns of a CSV or TSV file, gzipped or not."""
    encoding = options.encoding
    sample, _ = _head(path)
    known = _encoding(path, sample, encoding)
    if known is not None:
        return _read_transcoded(path, known, options)
    try:
        return _read_utf8(path, path.name, options)
    except UnicodeDecodeError:
        if encoding is not None:
            raise _undecodable(path, encoding) from None
    try:
        columns = _read_transcoded(path, "cp1252", options)
    except UndecodableError as error:
        message = f"{path.name} is neither UTF-8 nor cp1252: {error.where}"
        raise _unreadable(path.name, message, error.hint) from None
    tell(
        words(
            f"{path.name} is not UTF-8; read as cp1252 (Windows, western Europe). Set ",
            Option("encoding"),
            " if letters look wrong.",
        )
    )
    return columns


def _encoding(path: Path, sample: bytes, encoding: str | None) -> str | None:
    """Return the encoding that a file is to be converted from; None where DuckDB can read it."""
    if not sample.strip():
        raise _unreadable(path.name, f"{path.name} is empty", "it needs a header line and rows.")
    known = encoding or next((name for bom, name in _BOMS if sample.startswith(bom)), "utf-8")
    if b"\0" in sample and not known.lower().startswith(("utf-16", "utf_16", "utf-32", "utf_32")):
        raise _unreadable(
            path.name,
            f"{path.name} holds binary data, not text",
            words(
                "save it as CSV or Parquet; for UTF-16 text set ", Option("encoding", "utf-16"), "."
            ),
        )
    if sample.startswith(codecs.BOM_UTF8 + b'"'):
        # DuckDB does not see that the quote after a byte-order mark opens a cell.
        return "utf-8-sig"
    return None if known.lower().replace("_", "-") in _UTF8 else known


def _open(path: Path) -> IO[bytes]:
    if path.suffix.lower() == ".gz":
        return cast("IO[bytes]", gzip.open(path, "rb"))
    return path.open("rb")


def _head(path: Path) -> tuple[bytes, bool]:
    """Return the first lines of a file, the header and a row at least, and whether that is all."""
    try:
        with _open(path) as file:
            head = file.read(_SAMPLE_BYTES)
            while head.count(b"\n") + head.count(b"\r") < 3 and (more := file.read(len(head))):
                head += more
            return head, not file.read(1)
    except (gzip.BadGzipFile, EOFError) as error:
        message = f"{path.name} is not a complete gzip file: {error}"
        raise _unreadable(path.name, message) from error


def _unreadable(shown: str, message: Text, hint: Text | None = None) -> InputError:
    return InputError(message, parameter="source", value=shown, hint=hint)


class UndecodableError(InputError):
    """A file that is not in the encoding tried; ``where`` names the byte."""

    def __init__(self, path: Path, encoding: str, where: str) -> None:
        self.where = where
        super().__init__(
            f"{path.name} is not {encoding}: {where}",
            parameter="encoding",
            value=encoding,
            hint=words(
                "name the encoding it was saved in, such as ", Option("encoding", "cp1252"), "."
            ),
        )


def _undecodable(path: Path, encoding: str) -> InputError:
    position = 0
    decoder = codecs.getincrementaldecoder(encoding)()
    with _open(path) as file:
        while chunk := file.read(_SAMPLE_BYTES):
            try:
                decoder.decode(chunk)
            except UnicodeDecodeError as error:
                # A decoder that kept half a letter counts it before the chunk.
                at = position - (len(error.object) - len(chunk)) + error.start
                byte = error.object[error.start : error.start + 1]
                return UndecodableError(path, encoding, f"byte {at} ({byte!r}) cannot be read")
            except UnicodeError as error:  # such as a byte-order mark that is not there
                return UndecodableError(path, encoding, str(error))
            position += len(chunk)
    return UndecodableError(path, encoding, "it ends in the middle of a letter")


def _read_transcoded(path: Path, encoding: str, options: TextFile) -> list[Raw]:
    with _as_utf8(path, encoding) as copy:
        return _read_utf8(copy, path.name, options)


@contextmanager
def _as_utf8(path: Path, encoding: str) -> Iterator[Path]:
    """Copy a file in another encoding to one in UTF-8, for a while."""
    try:
        io.TextIOWrapper(io.BytesIO(), encoding)  # unlike a look-up, it refuses rot13 and its like
    except LookupError:
        raise bad_value(
            "encoding",
            encoding,
            "there is no such encoding",
            hint="try 'utf-8', 'cp1252' or 'utf-16'.",
        ) from None
    with tempfile.TemporaryDirectory(prefix="clearwood-") as folder:
        copy = Path(folder) / "utf8.csv"
        try:
            with (
                io.TextIOWrapper(_open(path), encoding, newline="") as source,
                copy.open("w", encoding="utf-8", newline="") as out,
            ):
                while chunk := source.read(1 << 20):
                    out.write(chunk)
        except UnicodeError:
            raise _undecodable(path, encoding) from None
        yield copy


def _read_utf8(path: Path, shown: str, options: TextFile) -> list[Raw]:
    import duckdb

    sample, whole = _head(path)
    # Only a letter cut in two at the end of the sample is forgiven.
    text = codecs.getincrementaldecoder("utf-8-sig")().decode(sample, final=whole)
    with _long_cells_allowed():
        dialect = _sniff(text, shown, options, whole=whole)
    numeric = [
        number and name not in options.as_written
        for name, number in zip(dialect.names, dialect.numeric, strict=True)
    ]
    types = ["DOUBLE" if number else "VARCHAR" for number in numeric]
    with connect() as connection:
        try:
            try:
                columns = _columns(connection, path, dialect, types, whole=whole)
            except duckdb.InvalidInputException:
                # the one cause that can be helped is a long line
                dialect = replace(dialect, line_size=_LONGEST_LINE)
                columns = _columns(connection, path, dialect, types, whole=whole)
        except duckdb.InvalidInputException as error:
            _check_utf8(path)
            raise _explained(str(error), shown, dialect) from error
        except duckdb.OutOfMemoryException as error:
            raise _unreadable(shown, f"{shown} does not fit into memory") from error
    if not len(columns[0].values):
        raise _unreadable(shown, f"{shown} has a header but no rows", "is it the right file?")
    decimal = dialect.decimal if dialect.shows_decimals else ""
    return [
        replace(raw, name=name, decimal=decimal)
        for name, raw in zip(dialect.names, columns, strict=True)
    ]


def _columns(
    connection: "DuckDBPyConnection",
    path: Path,
    dialect: Dialect,
    types: list[str],
    *,
    whole: bool,
) -> list[Raw]:
    if not whole and len(types) <= _MOST_COLUMNS_IN_ONE_PASS:
        columns = _read_in_one_pass(connection, path, dialect, types)
        if columns is not None:
            return columns
    _load(connection, path, dialect, types)
    return fetch(connection, "data")


class NotNumbersError(Exception):
    """A column that began with numbers has a cell that is none."""


@dataclass(frozen=True)
class CsvScan:
    """How a text file is read in batches of rows.

    Parameters
    ----------
    dialect
        How it writes its cells.
    numeric
        The columns that are read as numbers, the others as text.
    encoding
        What it is converted from; None for UTF-8.
    """

    dialect: Dialect
    numeric: frozenset[str]
    encoding: str | None = None

    @property
    def decimal(self) -> str:
        """The decimal sign, where the first rows show it."""
        return self.dialect.decimal if self.dialect.shows_decimals else ""

    def batches(
        self, path: Path, shown: str, rows: int, columns: Sequence[str] | None
    ) -> Iterator[Any]:
        """Read the file as Arrow batches whose columns have the names of the header."""
        import duckdb

        names = self.dialect.names
        wanted = [i for i, name in enumerate(names) if columns is None or name in set(columns)]
        listed = ", ".join(f"c{i}" for i in wanted)
        with self._utf8(path) as file, connect() as connection:
            connection.execute("SET threads = 1")
            for size in (self.dialect.line_size, _LONGEST_LINE):
                dialect = replace(self.dialect, line_size=size)
                query = f"SELECT {listed} FROM {_scan(dialect, self._types())}"  # noqa: S608 - names and types are ours
                started = False
                try:
                    relation: Any = connection.sql(query, params=[literal_path(file)])
                    reader = getattr(relation, "to_arrow_reader", relation.fetch_arrow_reader)
                    for batch in reader(rows):
                        started = True
                        yield batch.rename_columns([names[i] for i in wanted])
                except (duckdb.Error, OSError, ValueError) as error:
                    if not started and size != _LONGEST_LINE:
                        continue  # a long line can be helped
                    self._refuse(file, shown, error)
                return

    def _refuse(self, file: Path, shown: str, error: Exception) -> NoReturn:
        import duckdb

        try:
            _check_utf8(file)
        except UnicodeDecodeError as fault:
            message = f"{shown} is not UTF-8: byte {fault.start} cannot be read"
            hint = words("set its encoding, such as ", Option("encoding", "cp1252"), ".")
            raise _unreadable(shown, message, hint) from None
        try:
            is_word = self._checked(file) != self.numeric
        except duckdb.Error:
            is_word = False
        if is_word:
            raise NotNumbersError from error
        raise _explained(str(error), shown, self.dialect) from error

    @contextmanager
    def _utf8(self, path: Path) -> Iterator[Path]:
        if self.encoding is None:
            yield path
            return
        with _as_utf8(path, self.encoding) as copy:
            yield copy

    def _types(self) -> list[str]:
        return ["DOUBLE" if n in self.numeric else "VARCHAR" for n in self.dialect.names]

    def checked(self, path: Path) -> "CsvScan":
        """Return the scan with the columns that are numbers in all rows."""
        with self._utf8(path) as file:
            return replace(self, numeric=self._checked(file))

    def _checked(self, file: Path) -> frozenset[str]:
        with connect() as connection:
            types = _types_of_all_rows(connection, file, self.dialect, self._types())
        names = zip(self.dialect.names, types, strict=True)
        return frozenset(name for name, kind in names if kind == "DOUBLE")


def scan_csv(path: Path, shown: str, options: TextFile) -> CsvScan:
    """Detect dialect, header and encoding of a text file from its head."""
    if path.suffix.lower() in (".tsv", ".tab") and options.delimiter is None:
        options = replace(options, delimiter="\t")
    sample, whole = _head(path)
    encoding = _encoding(path, sample, options.encoding)
    try:
        decoder = codecs.getincrementaldecoder(encoding or "utf-8-sig")()
        text = decoder.decode(sample, final=whole)
    except UnicodeDecodeError as error:
        message = f"{shown} is not {encoding or 'UTF-8'}: byte {error.start} cannot be read"
        hint = words("set its encoding, such as ", Option("encoding", "cp1252"), ".")
        raise _unreadable(shown, message, hint) from None
    with _long_cells_allowed():
        dialect = _sniff(text, shown, options, whole=whole)
    names = zip(dialect.names, dialect.numeric, strict=True)
    numeric = frozenset(n for n, number in names if number and n not in options.as_written)
    return CsvScan(replace(dialect, levels=()), numeric, encoding)


@contextmanager
def _long_cells_allowed() -> Iterator[None]:
    """Lift the csv module's limit on cells, which holds for the whole process, for a while."""
    before = csv.field_size_limit(_LONGEST_LINE)
    try:
        yield
    finally:
        csv.field_size_limit(before)


def _reader(text: str, delimiter: str) -> Iterator[list[str]]:
    return csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, skipinitialspace=True)


def _sniff(text: str, shown: str, options: TextFile, *, whole: bool) -> Dialect:
    """Find the delimiter, the header's names and which columns look numeric so far."""
    delimiter = options.delimiter
    if delimiter is None:
        delimiter = _find_delimiter(text, options.writing.decimal)
    elif len(delimiter) != 1 or delimiter in _NO_DELIMITERS:
        raise bad_value(
            "delimiter", delimiter, "it must be one character, other than a quote or a line end"
        )
    rows = [row for row in _reader(text, delimiter) if row]
    if not rows:
        raise _unreadable(shown, f"{shown} is empty", "it needs a header line and rows.")
    names = _checked_names(rows[0], shown)
    body = rows[1:] if whole else rows[1:-1]  # the last row of a sample may be cut in two
    if all(_is_number(name, ".") for name in names):
        tell(
            f"the first line of {shown} is taken as the header, but its cells are numbers "
            f"({', '.join(names[:3])}); add a header line if it has none"
        )
    decimal = options.writing.decimal or _opposite(options.writing.thousands)
    numbers = _Numbers(body, len(names), decimal or ".")
    shows = numbers.shows_decimals
    if decimal is None and not shows and delimiter != ",":
        with_comma = _Numbers(body, len(names), ",")
        # a semicolon between cells goes with a comma in numbers
        if with_comma.shows_decimals or (delimiter == ";" and numbers.look_grouped):
            numbers, decimal, shows = with_comma, ",", True
            tell(
                words(
                    f"numbers in {shown} are read with ',' as the decimal sign; if that is wrong, "
                    "set ",
                    Option("decimal", "."),
                )
            )
        else:
            # 1,234 in every cell: what it means is decided with the other columns in view
            decimal = "."
    numeric = numbers.numeric
    levels = [() if numeric[i] else _distinct(body, i) for i in range(len(names))]
    return Dialect(delimiter, names, tuple(numeric), tuple(levels), decimal or ".", shows)


def _opposite(thousands: str | None) -> str | None:
    """Return the decimal sign that goes with what groups thousands, where that decides it."""
    return {".": ",", ",": "."}.get(thousands or "")


class _Numbers:
    """Which columns of the first rows are numbers with a decimal sign, and how they look.

    A column in which the sign is followed by three digits in every cell shows nothing: there it
    may as well group thousands.
    """

    def __init__(self, rows: list[list[str]], n_columns: int, decimal: str) -> None:
        self.numeric = [True] * n_columns
        grouped = _grouped_by(decimal)
        self._signs = [[0, 0, 0] for _ in range(n_columns)]  # with the sign, grouped, small
        for row in rows:
            for index, raw in enumerate(row[:n_columns]):
                if not self.numeric[index]:
                    continue
                cell = raw.strip()
                self.numeric[index] = _is_number(cell, decimal)
                counts = self._signs[index]
                if counts[0] > counts[1]:  # it shows what the sign is
                    continue
                if decimal in cell:
                    counts[0] += 1
                    counts[1] += grouped.fullmatch(cell) is not None
                elif cell not in MISSING:
                    counts[2] += len(cell) <= 3

    @property
    def shows_decimals(self) -> bool:
        """Whether a column has the sign in a place where it cannot group thousands."""
        return any(
            is_number and with_sign > grouped
            for is_number, (with_sign, grouped, _) in zip(self.numeric, self._signs, strict=True)
        )

    @property
    def look_grouped(self) -> bool:
        """Whether a column has the sign before three digits in large numbers and only there."""
        return any(
            is_number and with_sign == grouped >= 3 and small
            for is_number, (with_sign, grouped, small) in zip(
                self.numeric, self._signs, strict=True
            )
        )


def _grouped_by(sign: str) -> re.Pattern[str]:
    return re.compile(rf"[+-]?[1-9]\d{{0,2}}({re.escape(sign)}\d{{3}})+")


def _distinct(rows: list[list[str]], column: int) -> tuple[str, ...]:
    cells = dict.fromkeys(row[column] for row in rows if len(row) > column)
    # DuckDB wants one level at least
    return tuple(cell for cell in cells if cell not in MISSING)[:_MOST_LEVELS] or ("-",)


def _is_number(cell: str, decimal: str) -> bool:
    if cell in MISSING:
        return True
    if _CODE.fullmatch(cell) or (decimal == "," and "." in cell):
        return False
    return _NUMBER.fullmatch(cell.replace(decimal, ".")) is not None


def _find_delimiter(text: str, decimal: str | None) -> str:
    """Choose the delimiter that splits the first lines into equally many cells."""
    best, best_score = ",", (0.0, 0)
    for candidate in _DELIMITERS:
        if candidate == decimal:
            continue
        reader = _reader(text[:65536], candidate)
        widths = [len(row) for _, row in zip(range(100), reader, strict=False) if row]
        if len(widths) > 2 and len(text) > 65536:
            widths.pop()
        if not widths or widths[0] < 2:
            continue
        agreeing = sum(width == widths[0] for width in widths) / len(widths)
        score = (round(agreeing, 1), widths[0])
        if score > best_score:
            best, best_score = candidate, score
    return best


def _checked_names(header: list[str], shown: str) -> tuple[str, ...]:
    names = [name.strip() for name in header]
    for position, name in enumerate(names, start=1):
        if not name:
            raise _unreadable(
                shown,
                f"column {position} of {shown} has no name in the header",
                f"the header reads {', '.join(map(repr, names[:8]))}; name every column.",
            )
    twice = [name for name, count in Counter(names).items() if count > 1]
    if twice:
        raise _unreadable(
            shown,
            f"{shown} has more than one column named {', '.join(map(repr, twice[:5]))}",
            "rename them in the header: every column needs its own name.",
        )
    return tuple(names)


def _read_in_one_pass(
    connection: "DuckDBPyConnection", path: Path, dialect: Dialect, types: list[str]
) -> list[Raw] | None:
    """Read a large file straight into arrays, or give None where its head was misleading.

    Strings that the head of the file has come as codes. A column with others is read once more, as
    strings. Without a table in between this takes a quarter less time and memory.
    """
    import duckdb

    selected = []
    for i, levels in enumerate(dialect.levels):
        if types[i] == "DOUBLE":
            selected.append(f"c{i}")
            continue
        listed = ", ".join(_literal(level) for level in levels)
        connection.execute(f"CREATE OR REPLACE TYPE e{i} AS ENUM ({listed})")
        code = f"enum_code(try_cast(c{i} AS e{i}))"
        if len(levels) > _SOME_LEVELS:
            # a cast that fails is slow, and among many levels some are new
            code = f"CASE WHEN c{i} IN ({listed}) THEN enum_code(c{i}::e{i}) END"
        selected.append(
            f"coalesce({code}::INTEGER, "
            f"CASE WHEN c{i} IS NULL THEN -1 ELSE {_ANOTHER} END::INTEGER) AS c{i}"
        )
    # Each word for missing costs time in every cell; words are looked for among the levels below.
    scan = _scan(dialect, types, missing=("",))
    query = f"SELECT {', '.join(selected)} FROM {scan}"  # noqa: S608 - names and types are ours
    try:
        fetched = connection.execute(query, [literal_path(path)]).fetchnumpy()
    except duckdb.ConversionException:
        return None
    columns = []
    for i, levels in enumerate(dialect.levels):
        values = fetched.pop(f"c{i}")
        if types[i] == "DOUBLE":
            columns.append(Raw(f"c{i}", "number", filled(values, "number")))
            continue
        codes = filled(values, "string")
        others = codes == _ANOTHER
        known = levels
        if others.any():
            query = f"SELECT c{i} FROM {scan}"  # noqa: S608 - as above
            strings = connection.execute(query, [literal_path(path)]).fetchnumpy()[f"c{i}"]
            more, new_levels = factorise(np.ma.getdata(strings)[others].tolist())
            codes[others] = more + np.int32(len(levels))
            known = (*levels, *new_levels)
        columns.append(_without_missing(Raw(f"c{i}", "string", codes, known)))
    return columns


def _without_missing(raw: Raw) -> Raw:
    gone = [code for code, level in enumerate(raw.levels) if level in MISSING]
    values = raw.values
    if gone:
        values = np.where(np.isin(values, gone), np.int32(-1), values)
    return replace(raw, values=values).at(slice(None))


def _load(connection: "DuckDBPyConnection", path: Path, dialect: Dialect, types: list[str]) -> None:
    """Load the file into table ``data``, giving up on a number where a later row is not one."""
    import duckdb

    try:
        _create(connection, path, dialect, types)
    except duckdb.ConversionException:
        types = _types_of_all_rows(connection, path, dialect, types)
        _create(connection, path, dialect, types)


def _create(
    connection: "DuckDBPyConnection", path: Path, dialect: Dialect, types: list[str]
) -> None:
    scan = _scan(dialect, types)
    connection.execute(f"CREATE OR REPLACE TABLE data AS FROM {scan}", [literal_path(path)])


def _scan(dialect: Dialect, types: list[str], missing: Sequence[str] = MISSING) -> str:
    columns = ", ".join(f"'c{i}': '{kind}'" for i, kind in enumerate(types))
    absent = ", ".join(f"'{token}'" for token in missing)
    return (
        f"read_csv(?, auto_detect = false, header = true, columns = {{{columns}}}, "
        f"delim = {_literal(dialect.delimiter)}, quote = '\"', escape = '\"', "
        f"nullstr = [{absent}], decimal_separator = {_literal(dialect.decimal)}, "
        f"max_line_size = {dialect.line_size})"
    )


def _literal(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"


def _types_of_all_rows(
    connection: "DuckDBPyConnection",
    path: Path,
    dialect: Dialect,
    types: list[str],
) -> list[str]:
    """Check in all rows which of the columns that looked numeric are."""
    scan = _scan(dialect, ["VARCHAR"] * len(types))
    checks = []
    for i, kind in enumerate(types):
        # with a decimal comma, a point groups thousands: no number for DuckDB
        cell = f"c{i}" if dialect.decimal == "." else f"translate(c{i}, ',.', '.x')"
        checks.append(
            f"bool_and(c{i} IS NULL OR try_cast({cell} AS DOUBLE) IS NOT NULL)"
            if kind == "DOUBLE"
            else "false"
        )
    query = f"SELECT {', '.join(checks)} FROM {scan}"  # noqa: S608 - names and types are ours
    numeric = connection.execute(query, [literal_path(path)]).fetchone()
    assert numeric is not None
    return ["DOUBLE" if number else "VARCHAR" for number in numeric]


def _check_utf8(path: Path) -> None:
    """Raise where a file is not UTF-8; reading had gone on from its first lines."""
    decoder = codecs.getincrementaldecoder("utf-8")()
    with _open(path) as file:
        while chunk := file.read(_SAMPLE_BYTES):
            decoder.decode(chunk)
    decoder.decode(b"", final=True)


def _explained(message: str, shown: str, dialect: Dialect) -> InputError:
    """Explain what DuckDB could not read; where it was is known from its message only."""
    line = re.search(r"CSV Error on Line: (\d+)", message)
    where = f"line {line[1]} of {shown}" if line else shown
    widths = re.search(r"Expected Number of Columns: (\d+) Found: (\d+)", message)
    if widths:
        return _unreadable(
            shown,
            f"{where} has {widths[2]} cells where the header has {widths[1]}",
            words(
                f"cells are separated by {dialect.delimiter!r} (set ",
                Option("delimiter"),
                " if that is wrong); a cell that contains it must be in double quotes.",
            ),
        )
    if "aximum line size" in message:
        return _unreadable(
            shown,
            f"{where} is longer than {_LONGEST_LINE >> 20} MB",
            "is a double quote left open, or is it not a table?",
        )
    if "unterminated quote" in message:
        return _unreadable(shown, f"{where} has a double quote that is never closed")
    first = message.split("\n", maxsplit=1)[0]
    return _unreadable(shown, f"{where} cannot be read: {first}")
