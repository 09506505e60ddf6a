"""What a user states about a table when it is read."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypedDict, Unpack, get_args

from clearwood._shared.checks import check_choice
from clearwood.table.exposure import ZeroExposure
from clearwood.table.identical import IDENTICAL_ROWS
from clearwood.table.kinds.written_numbers import Writing
from clearwood.table.roles.labels import Label, Labels, read_labels
from clearwood.table.roles.roles import (
    KindSetting,
    as_names,
    assign_roles,
    checked_kinds,
    checked_task,
    keeps_identical,
)
from clearwood.table.sources.csv import TextFile
from clearwood.table.types import NUMERIC, Kind, Role, Task

__all__ = ["Assigned", "ReadOptions", "ReadRequest", "TextOptions"]


class TextOptions(TypedDict, total=False):
    """The options of `clearwood.read` about how cells are written."""

    decimal: str | None
    thousands: str | None
    missing: Sequence[str] | Mapping[str, Sequence[str]] | None
    delimiter: str | None
    encoding: str | None


class ReadOptions(TextOptions, total=False):
    """The options that `clearwood.read` and `clearwood.scan` share."""

    target: str | int | None
    weight: str | None
    exposure: str | None
    group: str | None
    time: str | None
    protected: str | Iterable[str]
    ignore: str | Iterable[str]
    kinds: Mapping[str, KindSetting] | None
    task: str | Task | None
    labels: Labels | None
    monotone: Mapping[str, str] | None
    zero_exposure: ZeroExposure


@dataclass(frozen=True)
class Assigned:
    """What was stated, for the columns of one table, by their names in the data.

    Parameters
    ----------
    roles
        The roles of columns that are no ordinary features.
    kinds
        The kinds stated.
    labels
        What columns are called.
    keeps_identical
        Whether rows with identical features are one group.
    as_written
        Columns of text in which no numbers are looked for.
    """

    roles: dict[str, Role]
    kinds: Mapping[str, Kind | Sequence[Any]]
    labels: Mapping[str, Label]
    keeps_identical: bool
    as_written: frozenset[str]


@dataclass(frozen=True, kw_only=True)
class ReadRequest:
    """The options of `clearwood.read`, checked as far as they can be without a table.

    Where columns are ``optional``, those named for a role may be absent.
    """

    target: str | int | None = None
    weight: str | None = None
    exposure: str | None = None
    group: str | None = None
    time: str | None = None
    protected: str | Iterable[str] = ()
    ignore: str | Iterable[str] = ()
    kinds: Mapping[str, Kind | Sequence[Any]] = field(default_factory=dict)
    task: Task | None = None
    writing: Writing = field(default_factory=lambda: Writing(None, None, None))
    delimiter: str | None = None
    encoding: str | None = None
    labels: Labels | None = None
    monotone: Mapping[str, str] | None = None
    optional: bool = False
    zero_exposure: ZeroExposure = "error"

    def __post_init__(self) -> None:
        check_choice("zero_exposure", self.zero_exposure, get_args(ZeroExposure))

    @classmethod
    def of(cls, *, optional: bool = False, **options: Unpack[ReadOptions]) -> "ReadRequest":
        """Check options as a user writes them."""
        writing = Writing(options.get("decimal"), options.get("thousands"), options.get("missing"))
        plain: dict[str, Any] = {
            name: value
            for name, value in options.items()
            if name not in ("decimal", "thousands", "missing")
        }
        plain["kinds"] = checked_kinds(options.get("kinds"))
        plain["task"] = checked_task(options.get("task"))
        return cls(writing=writing, optional=optional, **plain)

    @property
    def text_file(self) -> TextFile:
        """How text files are read."""
        as_written = frozenset(name for name, kind in self.kinds.items() if not _is_numeric(kind))
        return TextFile(self.delimiter, self.encoding, self.writing, as_written)

    def assigned(self, names: Sequence[str]) -> Assigned:
        """Return what is stated about the columns of a table; names are checked."""
        titles = read_labels(self.labels, names)
        headers = {label.shown: label.header for label in titles.values()}

        def known(name: Any) -> Any:
            name = headers.get(name, name) if isinstance(name, str) else name
            is_absent = self.optional and name not in (*names, IDENTICAL_ROWS)
            return None if is_absent else name

        target = known(self.target)
        group = known(self.group)
        kinds = {label.header: list(label.order) for label in titles.values() if label.order} | {
            headers.get(name, name): kind for name, kind in self.kinds.items()
        }
        by_features = keeps_identical(group, names)
        roles = assign_roles(
            names,
            target=target,
            weight=known(self.weight),
            exposure=known(self.exposure),
            group=None if by_features else group,
            time=known(self.time),
            protected=[headers.get(name, name) for name in as_names(self.protected)],
            ignore=[headers.get(name, name) for name in as_names(self.ignore)],
            kinds=kinds,
        )
        # keys are compared and dates are parsed as they are written
        kept = {n for n, role in roles.items() if role in (Role.GROUP, Role.TIME, Role.IGNORED)}
        as_written = self.text_file.as_written | kept
        return Assigned(roles, kinds, titles, by_features, as_written)


def _is_numeric(kind: Kind | Sequence[Any]) -> bool:
    return isinstance(kind, Kind) and kind in NUMERIC
