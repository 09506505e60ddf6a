"""What a table looks like without its rows: kept with every model."""

from dataclasses import dataclass
from functools import cached_property
from typing import Any, Self

from clearwood.table.exposure import unit_of_exposure
from clearwood.table.types import Kind, Role, Task

__all__ = ["ColumnSchema", "Schema"]

#: What may be known about a column beside its values.
_ABOUT = ("header", "unit", "description", "decimal", "monotone", "label_type")


@dataclass(frozen=True)
class ColumnSchema:
    """Name, kind, role and levels of one column, and what is known about it beside its values.

    ``missing_codes`` are words and numbers that mean missing, in new rows too. ``label_type`` is
    what the labels of a target are if not text, such as "integer" for the classes 1 and 2: new rows
    then have the same labels, however their file writes them.
    """

    name: str
    kind: Kind
    role: Role = Role.FEATURE
    levels: tuple[str, ...] = ()
    header: str = ""
    unit: str = ""
    description: str = ""
    decimal: str = ""
    monotone: str = ""
    label_type: str = ""
    missing_codes: tuple[str, ...] = ()

    @property
    def about(self) -> dict[str, str]:
        """What a label or the data say about the column; empty for most columns."""
        return {key: value for key in _ABOUT if (value := getattr(self, key))}

    def to_json(self) -> dict[str, Any]:
        """Return the schema as plain JSON values."""
        codes = {"missing_codes": list(self.missing_codes)} if self.missing_codes else {}
        return {
            "name": self.name,
            "kind": self.kind.value,
            "role": self.role.value,
            "levels": list(self.levels),
            **self.about,
            **codes,
        }

    @classmethod
    def from_json(cls, raw: dict[str, Any]) -> Self:
        """Read what `to_json` wrote."""
        about = {key: str(raw.get(key, "")) for key in _ABOUT}
        kind, role, codes = Kind(raw["kind"]), Role(raw["role"]), raw.get("missing_codes", ())
        return cls(
            raw["name"], kind, role, tuple(raw["levels"]), **about, missing_codes=tuple(codes)
        )


@dataclass(frozen=True)
class Schema:
    """The columns of a table, its task if it has a target, and whether identical rows are tied.

    Examples
    --------
    >>> age = ColumnSchema("age", Kind.WHOLE)
    >>> claims = ColumnSchema("claims", Kind.WHOLE, Role.TARGET)
    >>> schema = Schema((age, claims), task=Task.COUNT)
    >>> schema.features, schema.target
    (('age',), 'claims')
    >>> Schema.from_json(schema.to_json()) == schema
    True
    """

    columns: tuple[ColumnSchema, ...]
    task: Task | None = None
    keeps_identical: bool = False

    @property
    def names(self) -> tuple[str, ...]:
        """All names in the order of the table."""
        return tuple(column.name for column in self.columns)

    @cached_property
    def features(self) -> tuple[str, ...]:
        """The columns a model may see, protected ones included."""
        return tuple(c.name for c in self.columns if c.role in (Role.FEATURE, Role.PROTECTED))

    @property
    def target(self) -> str | None:
        """The column to predict."""
        return next((c.name for c in self.columns if c.role is Role.TARGET), None)

    @property
    def monotone(self) -> dict[str, str]:
        """The features with which predictions of the target rise ("up") or fall ("down")."""
        return {c.name: c.monotone for c in self.columns if c.monotone and c.name in self.features}

    @property
    def exposure(self) -> str | None:
        """The column that the target is divided by."""
        return next((c.name for c in self.columns if c.role is Role.EXPOSURE), None)

    @property
    def counted_by(self) -> str:
        """What rows count by: "rows", "weight", "exposure" or "exposure times weight"."""
        roles = {column.role for column in self.columns}
        by = [role.value for role in (Role.EXPOSURE, Role.WEIGHT) if role in roles]
        return " times ".join(by) or "rows"

    @property
    def outcome(self) -> str | None:
        """What a prediction is of: the target, with an exposure as a rate: "claims per year"."""
        if self.exposure is None or self.target is None:
            return self.target
        return f"{self.target} per {self.unit_of_exposure}"

    @property
    def unit_of_exposure(self) -> str | None:
        """One unit of the exposure: "year"; from the unit of its label, or else its name."""
        if self.exposure is None:
            return None
        return unit_of_exposure(self[self.exposure].unit or self.exposure)

    @cached_property
    def _by_name(self) -> dict[str, ColumnSchema]:
        by_header = {column.header: column for column in self.columns if column.header}
        return by_header | {column.name: column for column in self.columns}

    def __getitem__(self, name: str) -> ColumnSchema:
        return self._by_name[name]

    def name_of(self, name: str, header: str = "") -> str:
        """Return what the schema calls a column of other data, itself where it has none such."""
        column = self._by_name.get(name) or self._by_name.get(header)
        return name if column is None else column.name

    def to_json(self) -> dict[str, Any]:
        """Return the schema as plain JSON values."""
        return {
            "columns": [column.to_json() for column in self.columns],
            "task": None if self.task is None else self.task.value,
            "keeps_identical": self.keeps_identical,
        }

    @classmethod
    def from_json(cls, raw: dict[str, Any]) -> Self:
        """Read what `to_json` wrote."""
        task = None if raw["task"] is None else Task(raw["task"])
        columns = tuple(ColumnSchema.from_json(column) for column in raw["columns"])
        # files written before the entry existed lack it
        return cls(columns, task, bool(raw.get("keeps_identical", False)))
