"""What ``select=`` says: a method, how many columns to choose, and the method's options."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from clearwood._shared.errors import InputError, Option, bad_value, unknown_choice, words
from clearwood._shared.numbers import count

__all__ = ["SELECTIONS", "Method", "Spec", "read_selection", "with_number"]

Family = Literal["filter", "wrapper", "embedded", "controlled"]

#: Methods that rank columns choose half of them where no number is stated, at most so many.
_MOST_BY_DEFAULT = 10


@dataclass(frozen=True)
class MethodOption:
    """An option of a method: its default, and the range that its values lie in.

    Parameters
    ----------
    default
        The value where none is stated.
    low, high
        The least and the greatest value; the least itself is excluded unless it is whole.
    is_whole
        Whether it is a whole number.
    """

    default: float
    low: float
    high: float = math.inf
    is_whole: bool = False

    def read(self, text: str) -> float | None:
        """Return the value that a text states; None if it is not one."""
        try:
            value = float(text)
        except ValueError:
            return None
        if self.is_whole:
            return int(value) if value.is_integer() and self.low <= value <= self.high else None
        return value if self.low < value < self.high else None

    @property
    def expected(self) -> str:
        """What a value must be, in words."""
        if self.is_whole:
            return f"a whole number, {self.low:g} or more"
        if math.isinf(self.high):
            return f"a number above {self.low:g}"
        return f"a number between {self.low:g} and {self.high:g}"


@dataclass(frozen=True, kw_only=True)
class Method:
    """A way to choose columns.

    Parameters
    ----------
    name
        What users type.
    title
        What it does, in one line.
    family
        "filter" looks at the table alone, "wrapper" fits the learner again and again, "embedded"
        reads a simple model, "controlled" limits the columns that are chosen by chance.
    score
        What the score of a column is.
    ranks
        Whether a number of columns can be chosen.
    stops
        Whether it has a rule of its own for how many, which holds where no number is stated.
    settings
        Its options.
    """

    name: str
    title: str
    family: Family
    score: str
    ranks: bool = True
    stops: bool = False
    settings: Mapping[str, MethodOption] = field(default_factory=dict)

    @property
    def example(self) -> str:
        """How it is typed."""
        if self.ranks:
            return f"{self.name}:10"
        return f"{self.name}:{next(f'{k}={s.default:g}' for k, s in self.settings.items())}"


_FOLDS = {"folds": MethodOption(3, 2, is_whole=True)}

#: Every method, by name.
SELECTIONS: Mapping[str, Method] = {
    method.name: method
    for method in (
        Method(
            name="correlation",
            title="correlation with the target (categories: correlation ratio)",
            family="filter",
            score="correlation",
        ),
        Method(
            name="anova",
            title="F test of each column against the target",
            family="filter",
            score="-log10 of the p-value",
        ),
        Method(
            name="chi2",
            title="chi-squared test of each column against the target, both in bins",
            family="filter",
            score="-log10 of the p-value",
        ),
        Method(
            name="mutual-information",
            title="mutual information with the target, estimated from nearest neighbours",
            family="filter",
            score="mutual information",
        ),
        Method(
            name="relief",
            title="ReliefF: differences between near rows with other and with the same target",
            family="filter",
            score="ReliefF weight",
            settings={"neighbours": MethodOption(10, 1, is_whole=True)},
        ),
        Method(
            name="mrmr",
            title="mRMR: informative about the target, and little about the columns chosen before",
            family="filter",
            score="relevance minus redundancy",
        ),
        Method(
            name="forward",
            title="adds the column that improves the learner most, one after the other",
            family="wrapper",
            score="place from the end",
            settings=_FOLDS,
        ),
        Method(
            name="backward",
            title="removes the column that the learner needs least, one after the other",
            family="wrapper",
            score="place from the end",
            settings=_FOLDS,
        ),
        Method(
            name="recursive",
            title="removes the columns whose shuffling harms the learner least, a tenth at a time",
            family="wrapper",
            score="place from the end",
        ),
        Method(
            name="lasso",
            title="columns of a lasso of the target, its penalty chosen by cross-validation",
            family="embedded",
            score="penalty at which it enters, as a share of the largest",
            stops=True,
        ),
        Method(
            name="trees",
            title="columns with more than the mean importance in a forest",
            family="embedded",
            score="share of the impurity removed",
            stops=True,
        ),
        Method(
            name="boruta",
            title="columns that are more important in a forest than shuffled copies of columns",
            family="controlled",
            score="share of the rounds won",
            ranks=False,
            stops=True,
            settings={
                "rounds": MethodOption(50, 10, is_whole=True),
                "level": MethodOption(0.05, 0, 1),
            },
        ),
        Method(
            name="stability",
            title="columns that a lasso of half of the rows chooses again and again",
            family="controlled",
            score="share of half-samples",
            stops=True,
            settings={"errors": MethodOption(1, 0), "threshold": MethodOption(0.9, 0.5, 1)},
        ),
        Method(
            name="knockoffs",
            title="columns that beat their knockoffs, with a bound on the false discovery rate",
            family="controlled",
            score="lead over the knockoff",
            ranks=False,
            stops=True,
            settings={"fdr": MethodOption(0.2, 0, 1)},
        ),
    )
}


@dataclass(frozen=True)
class Spec:
    """A method with a number of columns and options.

    Parameters
    ----------
    method
        The method.
    n
        How many columns; None leaves it to the method.
    options
        The method's options, those that are not stated at their defaults.
    text
        As it was typed.
    """

    method: Method
    n: int | None
    options: Mapping[str, float]
    text: str

    def count(self, n_columns: int) -> int:
        """Return how many columns to take of a ranking."""
        if self.n is not None:
            return min(self.n, n_columns)
        return max(1, min(_MOST_BY_DEFAULT, n_columns // 2))

    def check(self, n_columns: int) -> None:
        """Raise where a table with so many features cannot serve the request."""
        if self.n is not None and self.n > n_columns:
            raise bad_value(
                "select",
                self.text,
                f"it is to choose {self.n} columns, and the table has {n_columns}",
                hint=words("such as ", Option("select", f"{self.method.name}:{n_columns}"), "."),
            )


def read_selection(text: Any) -> Spec:
    """Read ``METHOD``, ``METHOD:N``, ``METHOD:option=value`` or ``METHOD:N,option=value``.

    Examples
    --------
    >>> spec = read_selection("stability:20,threshold=0.8")
    >>> spec.method.name, spec.n, dict(spec.options)
    ('stability', 20, {'errors': 1, 'threshold': 0.8})
    """
    if not isinstance(text, str):
        raise bad_value("select", text, "it is not the name of a method", hint=_listed())
    name, _, rest = (part.strip() for part in text.partition(":"))
    if name not in SELECTIONS:
        raise unknown_choice("select", name or text, SELECTIONS)
    method = SELECTIONS[name]
    n: int | None = None
    options = {key: setting.default for key, setting in method.settings.items()}
    for part in filter(None, (one.strip() for one in rest.split(","))):
        key, equals, value = (one.strip() for one in part.partition("="))
        if not equals:
            n = _number(method, part, text)
            continue
        if key not in options:
            raise InputError(
                words(Option("select", text), f": {name!r} has no option {key!r}"),
                parameter="select",
                value=text,
                hint=_options(method),
            )
        read = method.settings[key].read(value)
        if read is None:
            raise bad_value(
                "select",
                text,
                f"{key!r} must be {method.settings[key].expected}",
                hint=words(
                    "such as ",
                    Option("select", f"{name}:{key}={method.settings[key].default:g}"),
                    ".",
                ),
            )
        options[key] = read
    return Spec(method, n, options, text)


def with_number(text: str, n: int) -> str:
    """Return the same request for another number of columns.

    Examples
    --------
    >>> with_number("relief:5,neighbours=20", 8), with_number("anova", 3)
    ('relief:8,neighbours=20', 'anova:3')
    """
    name, _, rest = text.partition(":")
    options = [part.strip() for part in rest.split(",") if "=" in part]
    return f"{name.strip()}:{','.join([str(n), *options])}"


def _number(method: Method, part: str, text: str) -> int:
    if not method.ranks:
        raise bad_value(
            "select",
            text,
            f"{method.name!r} decides itself how many columns it chooses",
            hint=_options(method),
        )
    if not part.isdecimal() or int(part) < 1:
        raise bad_value(
            "select",
            text,
            f"{part!r} is not a number of columns",
            hint=words("such as ", Option("select", method.example), "; ", _options(method)),
        )
    return int(part)


def _options(method: Method) -> str:
    if not method.settings:
        return f"{method.name!r} has no options."
    known = ", ".join(f"{key}={setting.default:g}" for key, setting in method.settings.items())
    return f"{count(len(method.settings), 'option')}: {known}."


def _listed() -> str:
    return f"methods: {', '.join(SELECTIONS)}."
