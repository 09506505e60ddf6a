"""Tables in memory: data frames of any library, numpy arrays, columns in a dict."""

import datetime as dt
import numbers
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np
from numpy.typing import NDArray

from clearwood._shared.arrays import Floats
from clearwood._shared.errors import InputError
from clearwood.table.raw import Form, Raw, factorise, number_text
from clearwood.table.sources.codes import category_codes, string_codes

__all__ = ["computing", "from_array", "from_columns", "from_frame", "from_memory"]


class NotAValueError(InputError, TypeError):
    """A cell holds a list, a dict or the like; a TypeError too, as scikit-learn expects."""


def from_memory(data: Any) -> list[Raw]:
    """Read the columns of a data frame, an array, a dict or a sequence of rows."""
    if isinstance(data, np.ndarray):
        return from_array(data)
    if isinstance(data, Mapping):
        return from_columns(data)
    if hasattr(data, "tocsr") or hasattr(data, "toarray"):
        raise InputError(
            f"a sparse matrix ({type(data).__name__}) cannot be used",
            parameter="source",
            hint="pass a dense one (.toarray()), or a data frame.",
        )
    if isinstance(data, Sequence) and not isinstance(data, str):
        return from_array(np.asarray(data))
    return from_frame(data)


def from_frame(data: Any) -> list[Raw]:
    """Return the columns of a pandas, polars, Arrow or other data frame."""
    import narwhals.stable.v2 as nw

    try:
        frame: Any = nw.from_native(data)
    except TypeError:
        if hasattr(data, "__array__"):
            return from_array(np.asarray(data))
        raise InputError(
            f"{type(data).__name__} is not a table",
            parameter="source",
            hint="pass a file's path, a data frame, a numpy array or a dict of columns.",
        ) from None
    except ValueError as error:
        raise InputError(f"the data frame cannot be used: {error}", parameter="source") from error
    if isinstance(frame, nw.LazyFrame):
        with computing("lazy frame", frame.to_native()):
            frame = frame.collect()
    check_names([str(name) for name in frame.columns])
    # By position: pandas has columns named by numbers, which would be taken for rows.
    columns = zip(frame.columns, frame.iter_columns(), strict=True)
    return [_from_series(str(name), series) for name, series in columns]


@contextmanager
def computing(what: str, frame: Any = None) -> Iterator[None]:
    """Report whatever fails while a frame is computed, with the files that it is computed from."""
    try:
        yield
    except InputError:
        raise
    except Exception as error:
        reason = next(iter(filter(None, str(error).splitlines())), "")
        scanned = _scanned(frame)
        raise InputError(
            f"the {what}{f' ({scanned})' if scanned else ''} cannot be computed: "
            f"{type(error).__name__}: {reason}",
            parameter="source",
            hint="compute it without Clearwood to find the cause, or leave out what fails.",
        ) from error


def _scanned(frame: Any) -> str:
    """Return what a lazy frame of polars reads, as its plan writes it; nothing without a plan."""
    try:
        plan = frame.explain(optimized=False)
    except Exception:  # the plan cannot be made either
        return ""
    scans = [line.strip() for line in plan.splitlines() if " SCAN " in line]
    return ", ".join(dict.fromkeys(scans))


def check_names(names: Sequence[str]) -> None:
    """Refuse names that are empty or shared."""
    twice = [name for name, count in Counter(names).items() if count > 1]
    if twice:
        raise InputError(
            f"more than one column is named {', '.join(map(repr, twice[:5]))}",
            parameter=twice[0],
            hint="every column needs its own name.",
        )
    if any(not name.strip() for name in names):
        raise InputError("a column has no name", parameter="source", hint="name every column.")


def _from_series(name: str, series: Any) -> Raw:
    dtype = series.dtype
    if dtype.is_numeric():
        return Raw(name, "number", _as_floats(series))
    if dtype.is_temporal():
        return _from_temporal(name, series)
    kind = type(dtype).__name__
    if kind == "Boolean":
        return Raw(name, "boolean", _as_floats(series))
    if kind in ("Categorical", "Enum"):
        return _from_categorical(name, series)
    coded = string_codes(series) if kind == "String" else None
    if coded is not None and len(coded[1]):
        return Raw(name, "string", *coded)
    return from_objects(name, series.to_list())


def _as_floats(series: Any) -> Floats:
    import narwhals.stable.v2 as nw

    if series.null_count():
        # Nulls of Arrow and polars are not NaN; numpy has only the latter.
        series = series.cast(nw.Float64).fill_null(float("nan"))
    return np.array(series.to_numpy(), dtype=np.float64)


def _from_temporal(name: str, series: Any) -> Raw:
    import narwhals.stable.v2 as nw

    kind = type(series.dtype).__name__
    if kind == "Duration":
        seconds = series.dt.total_microseconds()
        return Raw(name, "number", _as_floats(seconds) / 1e6)
    if kind == "Time":
        return from_objects(name, series.to_list())
    if kind == "Datetime" and series.dtype.time_zone is not None:
        series = series.dt.convert_time_zone("UTC").dt.replace_time_zone(None)
    if kind == "Date":
        series = series.cast(nw.Datetime("us"))
    values = series.to_numpy().astype("datetime64[us]")
    return Raw(name, "date", values)


def _from_categorical(name: str, series: Any) -> Raw:
    import narwhals.stable.v2 as nw

    categories = series.cat.get_categories().to_list()
    # A polars Enum lists its levels in an order, but most people use it for the list.
    ordered = nw.is_ordered_categorical(series) and not series.implementation.is_polars()
    levels = tuple(_text(level) for level in categories)
    codes = category_codes(series)
    if codes is None:
        index = {level: code for code, level in enumerate(categories)}
        codes = np.array([index.get(value, -1) for value in series.to_list()], dtype=np.int32)
    form: Form = "ordered" if ordered else "category"
    return Raw(name, form, codes, levels, _label_type(categories))


def _label_type(values: Sequence[Any]) -> str:
    kinds = {type(value) for value in values}
    if kinds and kinds <= {bool, np.bool_}:
        return "boolean"
    if kinds and all(issubclass(kind, numbers.Integral) for kind in kinds):
        return "integer"
    if kinds and all(issubclass(kind, numbers.Real) for kind in kinds):
        return "number"
    return "text"


def _text(value: Any) -> str:
    if isinstance(value, bool | np.bool_) or not isinstance(value, numbers.Real):
        return str(value)
    return number_text(float(value))


def _is_missing(value: Any) -> bool:
    # pandas' NA and NaT are recognised by not equalling themselves, without importing pandas.
    return value is None or type(value).__name__ in ("NAType", "NaTType") or _is_nan(value)


def _is_nan(value: Any) -> bool:
    return isinstance(value, float | np.floating) and bool(np.isnan(value))


def from_objects(name: str, values: Sequence[Any]) -> Raw:
    """Read a column of Python objects in the form that they share."""
    present = [None if _is_missing(value) else value for value in values]
    kinds = {type(value) for value in present if value is not None}
    if not kinds:
        return Raw(name, "number", np.full(len(present), np.nan))
    if kinds <= {bool, np.bool_}:
        return Raw(name, "boolean", _objects_as_floats(name, present))
    if all(issubclass(kind, complex | np.complexfloating) for kind in kinds):
        raise InputError(
            "Complex data not supported",
            parameter=name,
            hint=f"split {name!r} into two columns.",
        )
    if all(_is_real(kind) for kind in kinds):
        return Raw(name, "number", _objects_as_floats(name, present))
    if all(issubclass(kind, dt.date | np.datetime64) for kind in kinds):
        return Raw(name, "date", _objects_as_dates(present))
    strange = [kind for kind in kinds if issubclass(kind, Mapping | list | set | np.ndarray)]
    if strange:
        raise NotAValueError(
            f"column {name!r} holds values of type {strange[0].__name__}: an argument must be a "
            "string or a number",
            parameter=name,
            hint="spread them over columns of their own.",
        )
    codes, levels = factorise([None if value is None else _text(value) for value in present])
    return Raw(name, "string", codes, levels)


def _is_real(kind: type) -> bool:
    # Decimal is not a `numbers.Real`, but converts to float like one.
    return issubclass(kind, numbers.Real) or kind.__name__ == "Decimal"


def _objects_as_floats(name: str, values: Sequence[Any]) -> Floats:
    try:
        return np.array([np.nan if value is None else float(value) for value in values])
    except (OverflowError, ValueError) as error:
        raise InputError(
            f"column {name!r} holds a number that is too large: {error}", parameter=name
        ) from error


def _objects_as_dates(values: Sequence[Any]) -> NDArray[Any]:
    def plain(value: Any) -> Any:
        if isinstance(value, dt.datetime) and value.tzinfo is not None:
            return np.datetime64(value.astimezone(dt.UTC).replace(tzinfo=None), "us")
        return np.datetime64("NaT") if value is None else np.datetime64(value, "us")

    return np.array([plain(value) for value in values], dtype="datetime64[us]")


def from_array(data: NDArray[Any], names: Sequence[str] | None = None) -> list[Raw]:
    """Return the columns of a 2-D numpy array as x0, x1, ...; of a structured one by its fields."""
    if data.dtype.names is not None:
        return from_columns({name: data[name] for name in data.dtype.names})
    if data.ndim != 2:
        raise InputError(
            f"Expected 2D array, got {data.ndim}D array instead",
            parameter="data",
            value=data.shape,
            hint="Reshape your data either using array.reshape(-1, 1) if it has one column or "
            "array.reshape(1, -1) if it has one row.",
        )
    if data.dtype.kind == "c":
        raise InputError(
            "Complex data not supported", parameter="source", hint="split it into real columns."
        )
    names = names or [f"x{i}" for i in range(data.shape[1])]
    if data.dtype.kind in "fiub":
        # Column by column in memory, since everything afterwards works on columns.
        columns = np.array(data, dtype=np.float64, order="F")
        return [Raw(name, "number", columns[:, i], plain=True) for i, name in enumerate(names)]
    raws = [from_objects(name, data[:, i].tolist()) for i, name in enumerate(names)]
    return [
        Raw(raw.name, raw.form, raw.values, raw.levels, raw.label_type, plain=raw.form == "number")
        for raw in raws
    ]


def from_columns(data: Mapping[Any, Any]) -> list[Raw]:
    """Return the columns of a dict of lists or arrays."""
    if not data:
        raise InputError("the table has no columns", parameter="source")
    names = [str(name) for name in data]
    check_names(names)
    raws = []
    for name, values in zip(names, data.values(), strict=True):
        array = values if isinstance(values, np.ndarray) else None
        if array is not None and array.ndim != 1:
            raise InputError(
                f"column {name!r} is {array.ndim}-D; a column has one dimension",
                parameter=name,
                value=array.shape,
            )
        raws.append(_from_vector(name, array) if array is not None else _from_list(name, values))
    lengths = {raw.name: len(raw.values) for raw in raws}
    if len(set(lengths.values())) > 1:
        shown = ", ".join(f"{name!r} {length}" for name, length in list(lengths.items())[:5])
        raise InputError(
            f"the columns differ in length: {shown}", parameter="source", value=lengths
        )
    return raws


def _from_list(name: str, values: Any) -> Raw:
    if isinstance(values, str) or not hasattr(values, "__iter__"):
        raise InputError(
            f"column {name!r} is {values!r}, not a list of values", parameter=name, value=values
        )
    if hasattr(values, "dtype") and hasattr(values, "to_numpy"):
        import narwhals.stable.v2 as nw

        return _from_series(name, nw.from_native(values, series_only=True))
    return from_objects(name, list(values))


def _from_vector(name: str, values: NDArray[Any]) -> Raw:
    if values.dtype.kind == "b":
        return Raw(name, "boolean", values.astype(np.float64))
    if values.dtype.kind in "fiu":
        return Raw(name, "number", values.astype(np.float64))
    if values.dtype.kind == "M":
        return Raw(name, "date", values.astype("datetime64[us]"))
    return from_objects(name, values.tolist())
