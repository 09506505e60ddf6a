"""The description of a model file."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from html import escape
from typing import Any

from clearwood._shared.names import listed
from clearwood._shared.results import Result
from clearwood.files import Member
from clearwood.table import ColumnSchema, Schema

__all__ = ["ModelFile"]

_SHOWN = 12


@dataclass(frozen=True, repr=False)
class ModelFile(Result):
    """The content of a model file, read without running anything from it.

    Returned by `clearwood.inspect`.

    Parameters
    ----------
    path
        Where the file is.
    kind
        "learner" for a learner with its encoding, "estimator" for a plain scikit-learn estimator.
    learner, title
        Name in the catalogue and what it is; of an estimator, its class.
    task, seed, settings, monotone, select
        How it was fitted; None and empty where the file has no record of it.
    selected
        The columns that the model uses, where ``select`` chose them.
    schema
        The columns it was fitted on; None for an estimator.
    training
        Rows, seconds, versions, ... of the fit.
    clearwood, libraries
        Versions that wrote the file.
    types
        Every type in the stored model and whether it is trusted.
    members
        Size and checksum of the parts of the file.
    size, sha256
        Of the whole file.
    """

    _omitted = ("schema", "types", "members")

    path: str
    kind: str
    learner: str
    clearwood: str
    libraries: Mapping[str, str]
    types: Mapping[str, bool]
    title: str = ""
    task: str | None = None
    seed: int | None = None
    settings: Mapping[str, Any] = field(default_factory=dict)
    monotone: Mapping[str, str] = field(default_factory=dict)
    select: str | None = None
    selected: tuple[str, ...] = ()
    schema: Schema | None = None
    training: Mapping[str, Any] = field(default_factory=dict)
    members: Mapping[str, Member] = field(default_factory=dict)
    size: int = 0
    sha256: str = ""

    @property
    def outcome(self) -> str | None:
        """What is predicted: the target, with an exposure per unit of it."""
        return None if self.schema is None else self.schema.outcome

    @property
    def target(self) -> str | None:
        """The column it predicts."""
        return None if self.schema is None else self.schema.target

    @property
    def columns(self) -> tuple[ColumnSchema, ...]:
        """The columns a prediction needs."""
        if self.schema is None:
            return ()
        return tuple(self.schema[name] for name in self.schema.features)

    @property
    def trusted(self) -> bool:
        """Whether `clearwood.load` accepts it as it is."""
        return all(self.types.values())

    def to_json(self) -> dict[str, Any]:
        """Return everything as plain JSON values."""
        columns = [{**column.to_json(), "levels": len(column.levels)} for column in self.columns]
        types = [{"name": name, "trusted": ok} for name, ok in self.types.items()]
        members = {name: vars(member) for name, member in self.members.items()}
        held = {"columns": columns, "types": types, "members": members}
        return {**super().to_json(), **held, "target": self.target, "trusted": self.trusted}

    def _facts(self) -> list[tuple[str, str]]:
        """List what both the text and the HTML show, one line each."""
        facts = [("learner", f"{self.learner}: {self.title}" if self.title else self.learner)]
        if self.task is not None:
            facts.append(
                ("predicts", f"{self.outcome or 'a target passed separately'} ({self.task})")
            )
        if self.columns:
            facts.append(
                ("columns", listed(map(_described, self.columns), most=_SHOWN, quotes=False))
            )
        if self.settings:
            chosen = (f"{name}={value!r}" for name, value in self.settings.items())
            facts.append(("settings", ", ".join(chosen)))
        if self.monotone:
            facts.append(("monotone", ", ".join(f"{k} {v}" for k, v in self.monotone.items())))
        if self.select is not None:
            facts.append(
                ("selected", f"{listed(self.selected, most=_SHOWN) or 'none'} ({self.select})")
            )
        if self.seed is not None:
            facts.append(("seed", str(self.seed)))
        training = {k: v for k, v in self.training.items() if not isinstance(v, dict | list)}
        if training:
            facts.append(("training", ", ".join(f"{k} {v}" for k, v in training.items())))
        versions = {"clearwood": self.clearwood, **self.libraries}
        facts.append(("saved with", ", ".join(f"{k} {v}" for k, v in versions.items())))
        refused = [name for name, ok in self.types.items() if not ok]
        if refused:
            verdict = f"NOT trusted: {', '.join(refused)}"
        else:
            verdict = f"all {len(self.types)} types in it are trusted"
        facts.extend(
            [
                ("safety", verdict),
                ("file", f"{self.size:,} bytes, {len(self.members)} members"),
                ("sha256", self.sha256),
            ]
        )
        return facts

    def summary(self) -> str:
        """Return a text with one fact per line."""
        width = max(len(name) for name, _ in self._facts())
        lines = [f"{name:<{width}}  {text}" for name, text in self._facts()]
        return "\n".join([f"Model file {self.path}", *lines])

    def __repr__(self) -> str:
        return self.summary()

    def _repr_html_(self) -> str:
        rows = "".join(
            f'<tr><th scope="row" style="text-align:left">{escape(name)}</th>'
            f'<td style="text-align:left">{escape(text)}</td></tr>'
            for name, text in self._facts()
        )
        caption = f"<caption>Model file {escape(self.path)}</caption>"
        return f"<table>{caption}<tbody>{rows}</tbody></table>"


def _described(column: ColumnSchema) -> str:
    levels = f", {len(column.levels)} levels" if column.levels else ""
    return f"{column.name} ({column.kind.value}{levels})"
