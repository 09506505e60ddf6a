"""Labels: what columns are called, their units, the order of their levels, what they mean."""

import os
import tomllib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from clearwood._shared.errors import InputError, Text, did_you_mean
from clearwood.table.column import Column
from clearwood.table.table import Table

__all__ = ["Label", "Labels", "labelled", "read_labels"]

#: A file of labels, or labels by column: a name, or a mapping of what is known about the column.
Labels = str | os.PathLike[str] | Mapping[str, Any]

_KEYS = ("name", "unit", "order", "description")


@dataclass(frozen=True)
class Label:
    """What is known about a column beside its values.

    Parameters
    ----------
    header
        Its name in the data.
    name
        What it is called instead.
    unit
        The unit of its numbers.
    order
        Its levels from low to high, which makes it an ordered category.
    description
        What it means.
    """

    header: str
    name: str = ""
    unit: str = ""
    order: tuple[Any, ...] = ()
    description: str = ""

    @property
    def shown(self) -> str:
        """What the column is called everywhere: its name, with the unit.

        Examples
        --------
        >>> Label("sqm", "Living area", "m²").shown, Label("sqm").shown
        ('Living area (m²)', 'sqm')
        """
        name = self.name or self.header
        return f"{name} ({self.unit})" if self.unit else name


def read_labels(labels: Labels | None, known: Sequence[str]) -> dict[str, Label]:
    """Return the labels by header, checked against the columns of the data.

    Examples
    --------
    >>> read_labels({"sqm": {"name": "Living area", "unit": "m²"}}, ["sqm", "rent"])["sqm"].shown
    'Living area (m²)'
    """
    if labels is None:
        return {}
    source, listed = ("labels", labels) if isinstance(labels, Mapping) else _from_file(labels)
    checked = {}
    for header, given in listed.items():
        if header not in known:
            raise _unusable(
                source, f"there is no column {header!r}", header, did_you_mean(str(header), known)
            )
        checked[str(header)] = _label(source, str(header), given)
    shown = [checked[name].shown if name in checked else name for name in known]
    twice = [name for name in shown if shown.count(name) > 1]
    if twice:
        raise _unusable(
            source, f"two columns are called {twice[0]!r}", twice[0], "choose different names."
        )
    return checked


def _from_file(path: str | os.PathLike[str]) -> tuple[str, dict[str, Any]]:
    path = Path(path).expanduser()
    try:
        return path.name, tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        reason = (error.strerror or str(error)).lower()
        raise _unusable(str(path), f"cannot be read: {reason}", str(path)) from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise _unusable(
            path.name,
            f"is not valid TOML: {error}",
            str(path),
            'write a table for each column, such as [sqm] and below it name = "Living area".',
        ) from None


def _label(source: str, header: str, given: Any) -> Label:
    if isinstance(given, str):
        given = {"name": given}
    if not isinstance(given, Mapping):
        raise _unusable(
            source,
            f"column {header!r} has {given!r}",
            given,
            f"it takes a name, or {', '.join(_KEYS)}.",
        )
    for key, value in given.items():
        if key not in _KEYS:
            raise _unusable(
                source, f"column {header!r} has an unknown {key!r}", key, did_you_mean(key, _KEYS)
            )
        is_list = isinstance(value, list | tuple) and len(value) > 1
        if not (is_list if key == "order" else isinstance(value, str) and value.strip()):
            expected = "a list of levels" if key == "order" else "a text"
            message = f"the {key} of column {header!r} must be {expected}, not {value!r}"
            raise _unusable(source, message, value)
    return Label(header, **{**given, "order": tuple(given.get("order", ()))})


def _unusable(source: str, message: str, value: Any, hint: Text | None = None) -> InputError:
    return InputError(f"{source}: {message}", parameter="labels", value=value, hint=hint)


def labelled(table: Table, labels: Iterable[Label]) -> Table:
    """Return the table with its columns called by their labels; headers still find them."""
    by_header = {label.header: label for label in labels}
    if not by_header:
        return table

    def renamed(column: Column) -> Column:
        label = by_header.get(column.name)
        if label is None:
            return column
        return replace(
            column,
            name=label.shown,
            header=label.header,
            unit=label.unit or column.unit,
            description=label.description,
        )

    roles = {
        by_header[name].shown if name in by_header else name: role
        for name, role in table.roles.items()
    }
    return replace(table, columns=tuple(map(renamed, table.columns)), roles=roles)
