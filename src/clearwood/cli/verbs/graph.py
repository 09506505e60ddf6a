"""`clearwood graph`: from a causal graph to adjustment sets, paths and tests."""

import json as json_format
from pathlib import Path
from typing import TYPE_CHECKING, Any

from clearwood._shared.choices import AdjustmentKind
from clearwood._shared.errors import InputError, Option, words
from clearwood.cli.support.console import print_json, print_text, prose
from clearwood.cli.support.options import Force, Jobs, Json, Reading, Seed, read_table
from clearwood.cli.support.verb import verb
from clearwood.cli.verbs.explain.options import Confidence

if TYPE_CHECKING:
    from clearwood.causal import Graph

__all__ = ["graph"]

#: The most paths that are printed.
SHOWN = 30
ENDINGS = (".svg", ".png", ".html", ".json")


@verb
def graph(
    file: Path,
    *,
    treatment: str | None = None,
    outcome: str | None = None,
    given: str | None = None,
    sets: AdjustmentKind = "minimal",
    include: str | None = None,
    exclude: str | None = None,
    cost: list[str] | None = None,
    data: Path | None = None,
    learner: str = "spline",
    confidence: Confidence = 0.9,
    seed: Seed = 0,
    n_jobs: Jobs = 1,
    files: list[Path] | None = None,
    force: Force = False,
    json: Json = False,
    reading: Reading,
) -> None:
    """Read a causal graph: adjustment sets of an effect, paths, independences and their tests.

    Parameters
    ----------
    file
        The graph as text ("a -> b <- c; g <-> h", or dagitty's dag{...}), or as JSON.
    treatment : A,B,...
        The columns whose effect is wanted; by default those that the text marks as exposure.
    outcome : A,B,...
        What they affect; by default what the text marks as outcome.
    given : A,B,...
        Check this set: is it valid for adjustment, and which paths does it leave open?
    sets
        Which adjustment sets are listed.
    include : A,B,...
        Columns that must be in every set.
    exclude : A,B,...
        Columns that must not be in any set.
    cost : COLUMN=NUMBER
        What a column costs, for a set of least total cost (--sets minimum); 1 for the others.
        Repeatable.
    data : TABLE
        Test the independences that the graph implies on this table.
    learner : NAME
        The learner that predicts columns in the tests.
    files : FILE
        A file for the picture (.svg, .png, .html) or for everything that is printed (.json).
        Repeatable.
    """
    from clearwood.cli.support.files import check_output

    outputs = files or []
    inputs = [one for one in (file, data) if one is not None]
    for path in outputs:
        check_output(path, *ENDINGS, force=force, inputs=inputs, needs_ending=True)
    made = _read(file)
    causes = made.exposure if treatment is None else _names(treatment, made)
    effects = made.outcome if outcome is None else _names(outcome, made)
    between = made.adjusted if given is None else _names(given, made)
    if bool(causes) != bool(effects):
        missing = "outcome" if causes else "treatment"
        raise InputError(
            words(Option(missing), " is not given"),
            parameter=missing,
            hint=words("name both ", Option("treatment"), " and ", Option("outcome"), "."),
        )
    parts: dict[str, Any] = {}
    if causes:
        parts["adjustment"] = made.adjustment_sets(
            causes,
            effects,
            kind=sets,
            include=_names(include, made),
            exclude=_names(exclude, made),
            cost=_costs(cost),
        )
        if between or given is not None:
            parts["validity"] = made.is_valid_adjustment(causes, effects, between)
        parts["paths"] = made.paths(causes, effects, between, limit=SHOWN)
    parts["independences"] = made.independences()
    if data is not None:
        table = read_table(data, **reading.in_memory)
        parts["tests"] = parts["independences"].test(
            table, learner=learner, confidence=confidence, seed=seed, n_jobs=n_jobs
        )
    document = {"graph": made.to_json(), **{name: part.to_json() for name, part in parts.items()}}
    for path in outputs:
        _write(path, made, document, causes, effects, between, force=force)
    if json:
        print_json({**document, "files": [str(path) for path in outputs]})
        return
    _show(made, parts)
    print_text(*(f"Wrote {path}" for path in outputs))


def _read(file: Path) -> "Graph":
    """Read a graph from text or JSON."""
    import clearwood as cw

    if file.suffix.lower() != ".json":
        return cw.Graph(file)
    try:
        document = json_format.loads(file.read_text(encoding="utf-8-sig"))
    except (OSError, ValueError, RecursionError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is not JSON"
        raise InputError(f"the graph file '{file}' cannot be read: {reason}") from None
    if isinstance(document, dict) and {"nodes", "edges"} <= document.keys():
        return cw.Graph.from_json(document)
    return cw.Graph(document)


def _names(text: str | None, made: "Graph") -> tuple[str, ...]:
    """Return the names in a list that commas separate; a name with a comma is one by itself."""
    if text in made.nodes:
        return (text,)
    names = (name.strip() for name in (text or "").split(","))
    return tuple(name for name in names if name)


def _costs(texts: list[str] | None) -> dict[str, float] | None:
    """Read what columns cost.

    Examples
    --------
    >>> _costs(["blood test=20", "age=0"])
    {'blood test': 20.0, 'age': 0.0}
    """
    if not texts:
        return None
    costs = {}
    for typed in texts:
        name, _, number = typed.rpartition("=")
        try:
            costs[name] = float(number)
        except ValueError:
            raise InputError(
                f"--cost {typed!r} is not a column and a number",
                parameter="cost",
                value=typed,
                hint="write it like --cost age=5",
            ) from None
    return costs


def _write(
    path: Path,
    made: "Graph",
    document: dict[str, Any],
    treatment: tuple[str, ...],
    outcome: tuple[str, ...],
    given: tuple[str, ...],
    *,
    force: bool,
) -> None:
    """Write the picture, or everything as JSON."""
    from clearwood.cli.support.files import write_json, write_picture

    if path.suffix.lower() == ".json":
        write_json(path, document, force=force)
        return
    chart = made.plot(treatment=treatment, outcome=outcome, given=given)
    write_picture(path, chart, force=force)


def _show(made: "Graph", parts: dict[str, Any]) -> None:
    """Print the parts as text."""
    hidden = f", {len(made.hidden)} hidden" if made.hidden else ""
    print_text(prose(f"{len(made)} nodes{hidden}, {len(made.edges)} arrows"))
    # tests repeat the independences that they are of
    left_out = {"independences"} if "tests" in parts else set()
    for name, part in parts.items():
        if name not in left_out:
            print_text("", *str(part).splitlines())
