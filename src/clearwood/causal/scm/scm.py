"""Structural causal models: columns that follow from their causes and noise of their own."""

import json
import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from heapq import heappop, heappush
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from clearwood._shared.arrays import Floats
from clearwood._shared.errors import InputError, Option, bad_value, did_you_mean, words
from clearwood._shared.numbers import count
from clearwood.causal.scm.counterfactual import Counterfactual
from clearwood.causal.scm.inversion import Inversion
from clearwood.causal.scm.mechanisms import (
    Equation,
    Function,
    Mechanism,
    codes_of,
    function_parents,
)
from clearwood.causal.scm.parse import KnownColumns, ParsedText, equations_of_text, quoted
from clearwood.files import atomic_write
from clearwood.table import Column, Kind, Table, as_columns, as_table

if TYPE_CHECKING:
    from clearwood.causal.graph.graph import Graph

__all__ = ["SCM"]

_FORMAT = "clearwood structural causal model"
_VERSION = 1
_MOST_ROWS = 1_000_000_000
_TERMS_TOGETHER = 100
Values = dict[str, NDArray[Any]]


class SCM:
    """A structural causal model: an equation for each column, with noise of its own.

    An equation is text such as ``"160 + 20 * (gender == 'male') + normal(0, 10)"``. It may name
    other columns, use numbers, ``+ - * / **``, comparisons, ``a if test else b``, tables of levels
    such as ``{"city": 0.4, "town": 0}[region]``, functions (``exp``, ``log``, ``sqrt``, ``round``,
    ``floor``, ``maximum``, ``clip``, ...) and noise: ``normal(mean, sd)``, ``uniform(low, high)``,
    ``exponential(mean)``, ``gamma(shape, scale)``, ``beta(a, b)``, ``logistic(mean, scale)``,
    ``laplace(mean, scale)``, ``poisson(mean)``, ``binomial(n, p)``, ``bernoulli(p)``. A category
    is ``choice("female", "male")`` or, with weights, ``choice({"city": 0.35, "town": 0.65})``.
    Names that are no plain words go in backticks. Text is checked against this list and never run
    as code, so a model read from a file can do nothing else.

    Parameters
    ----------
    equations
        By column: text, or a function whose parameters are columns, ``rng`` and ``n``. Or one text
        of a line for each column, ``name = expression``.
    levels
        The levels of categories that functions return.
    hidden
        Columns that are drawn and left out of tables.

    Examples
    --------
    >>> model = SCM({"x": "normal(0, 1)", "y": "2 * x + normal(0, 0.5)"})
    >>> model.parents("y"), model.sample(3).names
    (('x',), ('x', 'y'))
    >>> round(float(model.do(1000, x=3)["y"].values.mean()), 1)
    6.0
    >>> SCM({"x": "open('secret')"})
    Traceback (most recent call last):
    ...
    clearwood.InputError: equation of 'x', "open('secret')": the function 'open' is not allowed. \
Hint: known: ...
    """

    def __init__(
        self,
        equations: Mapping[str, str | Callable[..., Any]] | str,
        *,
        levels: Mapping[str, Sequence[str]] | None = None,
        hidden: Iterable[str] = (),
    ) -> None:
        if not isinstance(equations, str | Mapping):
            raise bad_value("equations", equations, "they are texts by column, or one text")
        given = equations_of_text(equations) if isinstance(equations, str) else dict(equations)
        names = tuple(given)
        if not names:
            raise InputError("there are no equations", parameter="equations")
        for name in names:
            if type(name) is not str or not name:
                raise bad_value("equations", name, "names of columns are texts")
        declared = {name: tuple(map(str, own)) for name, own in (levels or {}).items()}
        left_out = _known_names("hidden", hidden, names)
        _known_names("levels", declared, names)
        known_columns = KnownColumns(names)
        parsed = {name: _parsed(name, given[name], known_columns) for name in names}
        order = _ordered({name: parents for name, (parents, _) in parsed.items()})
        known: dict[str, tuple[str, ...]] = dict(declared)
        mechanisms: dict[str, Mechanism] = {}
        for name in order:
            _, own = parsed[name]
            if isinstance(own, ParsedText):
                if name in declared:
                    raise bad_value("levels", name, "the equation of a column states its levels")
                mechanisms[name] = Equation.of(own, known)
            else:
                mechanisms[name] = Function.of(name, own, names, known)
            if mechanisms[name].levels:
                known[name] = mechanisms[name].levels
        self._set({name: mechanisms[name] for name in names}, order, left_out)

    def _set(
        self, mechanisms: Mapping[str, Mechanism], order: Sequence[str], hidden: tuple[str, ...]
    ) -> None:
        self._mechanisms = dict(mechanisms)
        self._hidden = hidden
        self._order = tuple(order)

    @classmethod
    def of_mechanisms(cls, mechanisms: Mapping[str, Mechanism]) -> "SCM":
        """Make a model of columns that know how they are drawn."""
        model = cls.__new__(cls)
        order = _ordered({name: own.parents for name, own in mechanisms.items()})
        model._set(mechanisms, order, ())  # noqa: SLF001 - own class
        return model

    @classmethod
    def linear(
        cls,
        graph: Any,
        coefficients: Mapping[Any, float] | float = 1.0,
        sd: Mapping[str, float] | float = 1.0,
        *,
        intercepts: Mapping[str, float] | None = None,
    ) -> "SCM":
        """Make a linear model with normal noise.

        Parameters
        ----------
        graph
            A `Graph`, or anything that makes one. Its hidden nodes are hidden columns.
        coefficients
            By arrow: ``{("x", "y"): 2.0}``; or one number for all arrows.
        sd
            Standard deviations of the noise, by node or one for all; 0 for no noise.
        intercepts
            By node; 0 for the others.

        Returns
        -------
        SCM

        Examples
        --------
        >>> print(SCM.linear("x -> y", {("x", "y"): 2.0}, sd={"x": 1, "y": 0.5}))
        x = normal(0, 1)
        y = 2 * x + normal(0, 0.5)
        """
        from clearwood.causal.graph.graph import Graph

        drawn = graph if isinstance(graph, Graph) else Graph(graph)
        nodes = tuple(drawn.nodes)
        arrows = [(cause, node) for node in nodes for cause in drawn.parents(node)]
        slopes = _by_key("coefficients", coefficients, arrows)
        spread = _by_key("sd", sd, nodes)
        level = _by_key("intercepts", {**dict.fromkeys(nodes, 0.0), **(intercepts or {})}, nodes)
        equations = {}
        for node in nodes:
            if spread[node] < 0:
                raise bad_value("sd", spread[node], f"that of {node!r} must not be negative")
            terms = [f"{_plain(level[node])}"] if level[node] else []
            terms += [
                f"{_plain(slopes[cause, node])} * {quoted(cause)}" for cause in drawn.parents(node)
            ]
            terms += [f"normal(0, {_plain(spread[node])})"] if spread[node] else []
            equations[node] = _sum_of(terms)
        return cls(equations, hidden=drawn.hidden)

    @classmethod
    def fit(
        cls, graph: Any, data: Any, *, learner: Any = "gam", folds: int = 5, seed: int = 0
    ) -> "SCM":
        """Fit a model to data: each column is a learner of its causes in a graph.

        Numbers are the learner's prediction plus noise drawn from its residuals on held-out rows;
        classes are drawn with the learner's probabilities; counts from a Poisson distribution, or
        a negative binomial one where held-out counts vary more. Columns without causes are drawn
        from the observed values, with the weights of the rows. What is fitted is the
        distribution of a column given its causes; that the arrows are causal is assumed, not
        learned.

        Parameters
        ----------
        graph
            A `Graph` without hidden nodes, or anything that makes one.
        data
            A table, or anything that makes one, with a column for each node and without gaps there.
        learner
            The name of a learner, or a learner; or one for each of some columns, by name.
        folds
            How many parts the rows are split into for residuals.
        seed
            Fixes the split.

        Returns
        -------
        SCM

        Examples
        --------
        >>> truth = SCM({"x": "normal(0, 1)", "y": "2 * x + normal(0, 1)"})
        >>> fitted = SCM.fit("x -> y", truth.sample(5000), learner="ols")
        >>> round(float(fitted.do(20_000, x=1.5)["y"].values.mean()), 1)
        3.0
        """
        from clearwood.causal.scm.fitted import fitted_mechanisms

        return cls.of_mechanisms(fitted_mechanisms(graph, data, learner, folds=folds, seed=seed))

    # What it is

    @property
    def columns(self) -> tuple[str, ...]:
        """All columns, in the order in which they were given."""
        return tuple(self._mechanisms)

    @property
    def hidden(self) -> tuple[str, ...]:
        """The columns that tables leave out."""
        return self._hidden

    @property
    def order(self) -> tuple[str, ...]:
        """All columns, causes before effects."""
        return self._order

    @property
    def graph(self) -> "Graph":
        """The causal graph, with an arrow from each column that an equation names."""
        from clearwood.causal.graph.graph import Graph

        arrows = [(c, name) for name, own in self._mechanisms.items() for c in own.parents]
        return Graph(arrows, hidden=self._hidden, nodes=self.columns)

    def parents(self, column: str) -> tuple[str, ...]:
        """Return the direct causes of a column."""
        return self._own(column).parents

    def descendants(self, column: str) -> tuple[str, ...]:
        """Return what a column acts on, directly or through others, in causal order."""
        self._own(column)
        return self._after([column])

    def equation(self, column: str) -> str | None:
        """Return the equation of a column; None for a function or a learner."""
        return self._own(column).text

    def levels(self, column: str) -> tuple[str, ...]:
        """Return the levels of a category, in order; none of a number."""
        return self._own(column).levels

    def kind(self, column: str) -> Kind:
        """Return what a column holds."""
        return self._own(column).kind

    def _own(self, column: str) -> Mechanism:
        if column not in self._mechanisms:
            raise InputError(
                f"there is no column {column!r}",
                parameter="column",
                value=column,
                hint=did_you_mean(str(column), self.columns),
            )
        return self._mechanisms[column]

    def _after(self, columns: Iterable[str]) -> tuple[str, ...]:
        """Return what follows from columns, in causal order, without the columns themselves."""
        first = set(columns)
        reached = set(first)
        for name in self._order:
            if reached.intersection(self._mechanisms[name].parents):
                reached.add(name)
        return tuple(name for name in self._order if name in reached - first)

    def __repr__(self) -> str:
        signs = {name: ":" if own.text is None else " =" for name, own in self._mechanisms.items()}
        return "\n".join(
            f"{quoted(name)}{signs[name]} {own.described}" for name, own in self._mechanisms.items()
        )

    def _repr_html_(self) -> str:
        from html import escape

        return f'<pre class="clearwood-result">{escape(repr(self))}</pre>'

    # Draws

    def sample(self, n: int = 1000, *, seed: int | tuple[int, ...] = 0) -> Table:
        """Draw rows.

        Parameters
        ----------
        n
            How many.
        seed
            Fixes the draw. Each column has random numbers of its own.

        Returns
        -------
        Table
        """
        return self.do(n, seed=seed)

    def do(
        self,
        n: int = 1000,
        *,
        seed: int | tuple[int, ...] = 0,
        values: Mapping[str, Any] | None = None,
        **columns: Any,
    ) -> Table:
        """Draw rows in which some columns are set from outside.

        What causes those columns no longer matters; what they cause follows. Each column has random
        numbers of its own: with the same seed, columns that do not follow from those set are the
        same to the bit as in `sample`.

        Parameters
        ----------
        n
            How many rows.
        seed
            Fixes the draw.
        values
            The columns to set, as a mapping: for names that are no plain words.
        **columns
            The columns to set: one value for all rows, or one for each.

        Returns
        -------
        Table

        Examples
        --------
        >>> model = SCM({"x": "normal(0, 1)", "y": "x + normal(0, 1)", "z": "y - x"})
        >>> before, after = model.sample(5), model.do(5, y=1)
        >>> bool((before["x"].values == after["x"].values).all()), after["y"].values
        (True, array([1., 1., 1., 1., 1.]))
        """
        if type(n) is bool or not np.issubdtype(type(n), np.integer) or n < 1:
            raise bad_value("n", n, "it must be at least 1")
        if n > _MOST_ROWS:
            raise bad_value("n", n, f"at most {_MOST_ROWS:,} rows are drawn at once")
        held = self.coded({**(values or {}), **columns}, int(n))
        return self.table(self.draw(int(n), seed, held))

    def coded(self, given: Mapping[str, Any], n: int) -> Values:
        """Return values as numbers, levels as codes, one for all of ``n`` rows or one for each."""
        held: Values = {}
        for name, value in given.items():
            own = self._own(name)
            numbers = _numbers(name, value, own.levels)
            if numbers.shape not in ((), (n,)):
                raise InputError(
                    f"{name} has {numbers.size} values for {count(n, 'row')}",
                    parameter=name,
                    value=numbers.size,
                )
            held[name] = numbers
        return held

    def draw(
        self,
        n: int,
        seed: int | tuple[int, ...] = 0,
        held: Mapping[str, NDArray[Any]] | None = None,
    ) -> Values:
        """Draw columns as plain arrays, categories as codes; some held at values."""
        seeds = self._seeds(seed)
        held, values = held or {}, {}
        for name in self._order:
            if name in held:
                values[name] = np.broadcast_to(held[name], n)
            else:
                own = np.random.default_rng(seeds[name])
                values[name] = self._mechanisms[name].draw(own, n, values)
        return {name: values[name] for name in self.columns}

    def _seeds(self, seed: int | tuple[int, ...]) -> dict[str, np.random.SeedSequence]:
        """Return a source of random numbers for each column."""
        try:
            own = np.random.SeedSequence(seed).spawn(len(self.columns))
        except (TypeError, ValueError):
            raise bad_value("seed", seed, "it must be a whole number, 0 or more") from None
        return dict(zip(self.columns, own, strict=True))

    def compute(self, column: str, values: Mapping[str, NDArray[Any]]) -> Floats:
        """Compute a column without noise from its causes: arrays, categories as codes.

        Examples
        --------
        >>> SCM({"x": "normal(0, 1)", "y": "x ** 2"}).compute("y", {"x": np.array([1.0, 3.0])})
        array([1., 9.])
        """
        own = self._own(column)
        if own.inversion is not Inversion.DETERMINISTIC:
            raise InputError(
                f"column {column!r} has noise, so it does not follow from its causes alone",
                parameter="column",
                value=column,
            )
        n = max((len(values[cause]) for cause in own.parents), default=1)
        return np.asarray(own.draw(np.random.default_rng(0), n, values), np.float64)

    def table(self, values: Mapping[str, NDArray[Any]]) -> Table:
        """Make a table of drawn columns, without hidden ones."""
        columns = []
        for name in self.columns:
            if name in self._hidden or name not in values:
                continue
            own = self._mechanisms[name]
            dtype = np.int32 if own.levels else np.float64
            label_type = "integer" if own.kind is Kind.YES_NO else "text"
            columns.append(
                Column(name, own.kind, values[name].astype(dtype), own.levels, label_type)
            )
        return Table(tuple(columns), source="structural causal model")

    def counterfactual(
        self,
        rows: Any,
        *,
        seed: int = 0,
        values: Mapping[str, Any] | None = None,
        **columns: Any,
    ) -> Counterfactual:
        """Return what rows would have been, had some columns been set to other values.

        The noise of each column that follows from those set is recovered from the rows and used
        again: exactly where noise is added or enters through a function that can be undone. Of
        counts and categories only the range of the noise is known; it is drawn there, uniformly
        between the probabilities up to before the value and up to it, and the result is labelled
        "assuming monotone noise". Everything else stays as observed.

        Parameters
        ----------
        rows
            Observed rows, complete: a table, a data frame or a dict of columns.
        seed
            Fixes what is drawn.
        values, **columns
            The columns to set: one value for all rows, or one for each.

        Returns
        -------
        Counterfactual

        Raises
        ------
        InputError
            Where the noise of a column that would change cannot be recovered: it has two noise
            terms, a function that cannot be undone, or a hidden cause.

        Examples
        --------
        >>> model = SCM({"x": "normal(0, 1)", "y": "2 * x + normal(0, 0.5)"})
        >>> changed = model.counterfactual({"x": [1.0], "y": [2.5]}, x=2)
        >>> changed.table["y"].values, str(changed.inversions["y"])
        (array([4.5]), 'exact')
        """
        table = _as_rows(rows)
        given = {**(values or {}), **columns}
        held = self.coded(given, table.n_rows)
        changed = [name for name in self._after(held) if name not in held]
        self._check_recoverable(changed)
        needed = {*changed, *(c for name in changed for c in self._mechanisms[name].parents)}
        before = {
            name: _observed(table.column(name), name, self._mechanisms[name].levels)
            for name in self.columns
            if name in needed or name in table.names
        }
        after: Values = {**before, **{k: np.broadcast_to(v, table.n_rows) for k, v in held.items()}}
        seeds = self._seeds(seed)
        for name in changed:
            rng = np.random.default_rng(seeds[name])
            noise = self._mechanisms[name].abduct(rng, before[name].astype(np.float64), before)
            after[name] = noise.replay(after)
        return Counterfactual(
            table=self.table(after),
            given={name: given[name] for name in held},
            inversions={
                name: self._inversion(name, held, changed) for name in self.columns if name in after
            },
            seed=seed,
        )

    def _inversion(self, name: str, held: Iterable[str], changed: Iterable[str]) -> Inversion:
        if name in held:
            return Inversion.SET
        inversion = self._mechanisms[name].inversion if name in changed else Inversion.KEPT
        assert inversion is not None
        return inversion

    def _check_recoverable(self, changed: Iterable[str]) -> None:
        """Refuse columns whose noise cannot be recovered."""
        for name in changed:
            own = self._mechanisms[name]
            if name in self._hidden:
                raise InputError(
                    f"column {name!r} is hidden and would change, so its noise cannot be recovered",
                    parameter="rows",
                    value=name,
                    hint="set columns that do not act on hidden ones.",
                )
            unseen = [cause for cause in own.parents if cause in self._hidden]
            reason = f"its cause {unseen[0]!r} is hidden" if unseen else own.obstacle
            if reason:
                raise InputError(
                    f"the noise of {name!r} cannot be recovered: {reason}",
                    parameter="rows",
                    value=name,
                    hint=words(
                        "draw from ", Option("do"), " instead, which needs no noise of rows."
                    ),
                )

    # Files

    def to_json(self) -> dict[str, Any]:
        """Return the equations as plain JSON values; a model with functions has none.

        Examples
        --------
        >>> SCM({"x": "normal(0, 1)"}).to_json()["equations"]
        {'x': 'normal(0, 1)'}
        """
        texts = {name: own.text for name, own in self._mechanisms.items()}
        for name, text in texts.items():
            if text is None:
                raise InputError(
                    f"column {name!r} is a function or a learner, which has no text to keep",
                    parameter="equations",
                    value=name,
                    hint="write its equation as text.",
                )
        return {
            "format": _FORMAT,
            "version": _VERSION,
            "equations": texts,
            "hidden": list(self._hidden),
        }

    @classmethod
    def from_json(cls, document: Mapping[str, Any] | str) -> "SCM":
        """Make a model of what `to_json` returned, or of its text; nothing in it is run as code.

        Examples
        --------
        >>> SCM.from_json(SCM({"x": "normal(0, 1)"}).to_json())
        x = normal(0, 1)
        """
        if isinstance(document, str):
            try:
                document = json.loads(document)
            except (ValueError, RecursionError):
                raise InputError("the text is not JSON", parameter="document") from None
        if not isinstance(document, Mapping) or document.get("format") != _FORMAT:
            raise InputError(
                "this is not a structural causal model",
                parameter="document",
                hint="give what to_json returned.",
            )
        if document.get("version") != _VERSION:
            raise InputError(
                f"version {document.get('version')!r} is not known", parameter="document"
            )
        equations, hidden = document.get("equations"), document.get("hidden", [])
        if not isinstance(equations, Mapping) or not all(
            isinstance(text, str) for text in equations.values()
        ):
            raise InputError("its equations are not texts by column", parameter="document")
        if not isinstance(hidden, list):
            raise InputError("its hidden columns are not a list", parameter="document")
        return cls(equations, hidden=hidden)

    def save(self, path: str | os.PathLike[str], *, force: bool = False) -> None:
        """Write the equations to a file, as JSON text.

        Parameters
        ----------
        path
            Where to.
        force
            Replace a file that is there.
        """
        text = json.dumps(self.to_json(), indent=2, ensure_ascii=False)
        with atomic_write(path, force=force, text=True) as file:
            file.write(text + "\n")

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> "SCM":
        """Read a model that `save` wrote, or a text of equations, one a line."""
        try:
            text = Path(path).read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError) as error:
            raise InputError(
                f"{os.fspath(path)} cannot be read as text: {type(error).__name__}",
                parameter="path",
                value=os.fspath(path),
            ) from None
        return cls.from_json(text) if text.lstrip().startswith("{") else cls(text)


def _sum_of(terms: Sequence[str]) -> str:
    """Write a sum; long ones in brackets of some terms each, which keeps the text easy to parse."""
    if len(terms) > _TERMS_TOGETHER:
        parts = [terms[k : k + _TERMS_TOGETHER] for k in range(0, len(terms), _TERMS_TOGETHER)]
        terms = [f"({' + '.join(part)})" if len(part) > 1 else part[0] for part in parts]
    return " + ".join(terms) or "0"


def _parsed(name: str, own: Any, known: KnownColumns) -> tuple[tuple[str, ...], Any]:
    """Return the causes of a column, and its equation as parsed text or as a function."""
    if isinstance(own, str):
        parsed = ParsedText(name, own, known)
        return parsed.parents, parsed
    if isinstance(own, int | float) and not isinstance(own, bool):
        parsed = ParsedText(name, _plain(float(own)), known)
        return parsed.parents, parsed
    if callable(own):
        return function_parents(name, own, tuple(known.places))[0], own
    raise InputError(
        f"the equation of {name!r} is of type {type(own).__name__}; it must be text or a function",
        parameter="equations",
        value=name,
    )


def _ordered(parents: Mapping[str, Sequence[str]]) -> tuple[str, ...]:
    """Return columns with causes before effects, in the given order else; name a cycle."""
    place = {name: k for k, name in enumerate(parents)}
    waits = {name: len(set(causes)) for name, causes in parents.items()}
    effects: dict[str, list[str]] = {name: [] for name in parents}
    for name, causes in parents.items():
        for cause in set(causes):
            effects[cause].append(name)
    # the first that is ready comes first, which keeps the given order wherever causes allow it
    ready = [place[name] for name, waiting in waits.items() if not waiting]
    names = tuple(parents)
    order: list[str] = []
    while ready:
        name = names[heappop(ready)]
        order.append(name)
        for effect in effects[name]:
            waits[effect] -= 1
            if not waits[effect]:
                heappush(ready, place[effect])
    if len(order) < len(names):
        placed = set(order)
        cycle = _cycle({name: parents[name] for name in names if name not in placed})
        raise InputError(
            f"the equations form a cycle: {' -> '.join(cycle)}",
            parameter="equations",
            value=cycle,
            hint="no column may follow from itself, directly or through others.",
        )
    return tuple(order)


def _cycle(parents: Mapping[str, Sequence[str]]) -> list[str]:
    """Return a cycle of columns of which each has a cause among them, from cause to effect."""
    walk = [next(iter(parents))]
    while True:
        cause = next(cause for cause in parents[walk[-1]] if cause in parents)
        if cause in walk:
            return [cause, *walk[walk.index(cause) :][::-1]]
        walk.append(cause)


def _known_names(option: str, given: Iterable[str], names: Sequence[str]) -> tuple[str, ...]:
    """Return names, after checking that the model has them."""
    if isinstance(given, str):
        given = (given,)
    chosen = tuple(given)
    for name in chosen:
        if name not in names:
            raise InputError(
                words(Option(option), f": there is no column {name!r}"),
                parameter=option,
                value=name,
                hint=did_you_mean(str(name), names),
            )
    return chosen


def _by_key(option: str, given: Any, keys: Sequence[Any]) -> dict[Any, float]:
    """Return one finite number for each key: arrows or nodes."""
    if isinstance(given, Mapping):
        flat = dict(given)
        if option == "coefficients":
            flat = _arrows(flat)
        unknown = [key for key in flat if key not in keys]
        absent = [key for key in keys if key not in flat]
        if unknown or absent:
            key = (unknown or absent)[0]
            shown = " -> ".join(map(str, key)) if isinstance(key, tuple) else repr(key)
            what = "is not in the graph" if unknown else "has no number"
            pairs = "give arrows as pairs, such as ('x', 'y') for x -> y."
            raise InputError(
                words(Option(option), f": {shown} {what}"),
                parameter=option,
                value=key,
                hint=pairs if option == "coefficients" and not isinstance(key, tuple) else None,
            )
    else:
        flat = dict.fromkeys(keys, given)
    for key, value in flat.items():
        try:
            flat[key] = float(value)
        except (TypeError, ValueError):
            raise bad_value(option, value, f"that of {key!r} is not a number") from None
        if not np.isfinite(flat[key]):
            raise bad_value(option, value, f"that of {key!r} is not finite")
    return flat


def _arrows(given: Mapping[Any, Any]) -> dict[Any, Any]:
    """Return coefficients by arrow: from arrows, or from effects with a mapping of causes."""
    flat: dict[Any, Any] = {}
    for key, value in given.items():
        if isinstance(value, Mapping):
            flat.update({(cause, key): number for cause, number in value.items()})
        else:
            flat[tuple(key) if isinstance(key, list) else key] = value
    return flat


def _plain(value: float) -> str:
    """Write a number so that it is read back to the bit."""
    return repr(int(value)) if value == int(value) and abs(value) < 1e15 else repr(float(value))


def _as_rows(rows: Any) -> Table:
    """Return observed rows as they are: a dict of single values is one row."""
    if isinstance(rows, str | os.PathLike):
        return as_table(rows)
    if isinstance(rows, Mapping) and all(
        isinstance(value, str) or not hasattr(value, "__len__") for value in rows.values()
    ):
        rows = {name: [value] for name, value in rows.items()}
    return rows if isinstance(rows, Table) else Table(as_columns(rows))


def _numbers(name: str, value: Any, levels: tuple[str, ...]) -> NDArray[Any]:
    """Return values as finite numbers: levels as their position."""
    values = np.asarray(value)
    if levels and levels != ("0", "1"):
        return codes_of(name, values, levels)
    try:
        numbers = values.astype(np.float64)
    except (TypeError, ValueError):
        raise bad_value(name, value, "it must be a number") from None
    if not np.isfinite(numbers).all():
        raise bad_value(name, value, "it must be a finite number")
    if levels and not np.isin(numbers, (0, 1)).all():
        raise bad_value(name, value, "it must be 0 or 1")
    return numbers


def _observed(column: Column, name: str, levels: tuple[str, ...]) -> Floats:
    """Return a complete column as numbers, levels as the model's own codes."""
    if column.n_missing:
        raise InputError(
            f"column {name!r} has {count(column.n_missing, 'missing value')}; noise is recovered "
            "from complete rows",
            parameter="rows",
            value=name,
            hint="leave out the rows with gaps.",
        )
    if column.kind is Kind.DATE:
        raise InputError(f"column {name!r} holds dates, not numbers", parameter="rows", value=name)
    return np.asarray(_numbers(name, column.labels(), levels))
