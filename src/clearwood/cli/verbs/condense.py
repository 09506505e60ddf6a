"""`clearwood condense`, `certify` and `export`: one tree for an ensemble, proved and written."""

import sys
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from clearwood._shared.errors import InputError
from clearwood.cli.support.console import commands, emit, facts, quoted, say, written
from clearwood.cli.support.options import Decimal, Delimiter, Encoding, Force, Jobs, Json, ModelFile

if TYPE_CHECKING:
    from clearwood.condensing import Certification, Condensed

__all__ = ["certify", "condense", "export"]

_BUDGET = "When exact is too big"


class Effort(StrEnum):
    """How hard the tree is made small."""

    FAST = "fast"
    GOOD = "good"
    OPTIMAL = "optimal"


class Objective(StrEnum):
    """What is made small."""

    LEAVES = "leaves"
    DEPTH = "depth"
    QUESTIONS = "questions"


class Equal(StrEnum):
    """What must be equal."""

    CLASS = "class"
    VALUE = "value"


class Target(StrEnum):
    """What a tree is written as."""

    SQL = "sql"
    PYTHON = "python"
    C = "c"
    DOT = "dot"
    SVG = "svg"
    ONNX = "onnx"
    TEXT = "text"
    RULES = "rules"


TreeFile = Annotated[
    Path, typer.Argument(metavar="TREE", help="A tree, as `clearwood condense` writes it.")
]


def condense(
    *,
    model: ModelFile,
    output: Annotated[
        Path, typer.Option("--output", "-o", metavar="FILE", help="Where the tree goes, as JSON.")
    ] = Path("tree.json"),
    effort: Annotated[
        Effort,
        typer.Option(
            help="fast composes; good also makes the tree small; optimal proves the smallest."
        ),
    ] = Effort.GOOD,
    objective: Annotated[Objective, typer.Option(help="What is made small.")] = Objective.LEAVES,
    equal: Annotated[
        Equal | None,
        typer.Option(
            help="What must be equal: the predicted class, or the value behind it. Without it, "
            "the class of classifiers.",
            show_default=False,
        ),
    ] = None,
    tolerance: Annotated[
        float | None,
        typer.Option(
            metavar="NUMBER",
            help="How far values may be off; the tree gets smaller.",
            rich_help_panel=_BUDGET,
        ),
    ] = None,
    data: Annotated[
        Path | None,
        typer.Option(
            metavar="DATA",
            help="Rows that matter: work under a budget goes where they are.",
            rich_help_panel=_BUDGET,
        ),
    ] = None,
    leaves: Annotated[
        int | None,
        typer.Option(metavar="N", min=1, help="Stop at so many leaves.", rich_help_panel=_BUDGET),
    ] = None,
    time_limit: Annotated[
        float | None,
        typer.Option(metavar="SECONDS", help="Stop after so long.", rich_help_panel=_BUDGET),
    ] = None,
    memory: Annotated[
        float | None,
        typer.Option(metavar="BYTES", help="Use no more memory.", rich_help_panel=_BUDGET),
    ] = None,
    jobs: Jobs = 1,
    force: Force = False,
    json: Json = False,
    delimiter: Delimiter = None,
    decimal: Decimal = ".",
    encoding: Encoding = None,
) -> None:
    """Make one tree that predicts exactly what an ensemble of trees predicts."""
    import clearwood as cw
    from clearwood._shared.progress import progress
    from clearwood.cli.support.output import check_output

    inputs = [model] if data is None else [model, data]
    check_output(output, force=force, inputs=inputs)
    fitted = cw.load(model)
    rows = None if data is None else _rows(fitted, data, delimiter, decimal, encoding)
    with progress(f"condensing {model.name}"):
        one = cw.condense(
            fitted,
            equal=None if equal is None else equal.value,
            effort=effort.value,
            objective=objective.value,
            tolerance=tolerance,
            data=rows,
            leaves=leaves,
            time_limit=time_limit,
            memory=memory,
            n_jobs=jobs,
        )
    one.save(output, force=force)
    written.append(output)
    if json:
        emit({"model": model, "output": output, "certificate": one.certificate.to_json()})
        return
    say(f"One tree for {one.shell.source}", "", facts(_told(one, output)), "")
    tree, source = quoted(output), quoted(model)
    following = [(f"clearwood certify {tree} {source}", "prove it by other means")]
    if one.fallback is None:
        following.append((f"clearwood export {tree} --to sql", "write it for a database"))
    commands("Next:", following)


def _rows(
    fitted: Any, data: Path, delimiter: str | None, decimal: str, encoding: str | None
) -> Any:
    import clearwood as cw
    from clearwood._shared.progress import progress
    from clearwood.table import as_table

    with progress(f"reading {data.name}"):
        schema = fitted.schema_ if isinstance(fitted, cw.Learner) else None
        options: dict[str, Any] = {"delimiter": delimiter, "decimal": decimal, "encoding": encoding}
        if schema is None:
            return cw.read(data, **options)
        return as_table(data, schema=schema, **options)


def _told(one: "Condensed", output: Path) -> list[tuple[str, str]]:
    from clearwood._shared.numbers import size as in_bytes

    certificate = one.certificate
    kept = f"{one.n_nodes:,} nodes with equal branches kept once"
    told = [
        ("leaves", f"{one.n_leaves:,}, at most {one.depth} questions deep; {kept}"),
        ("equal", certificate.statement),
        ("proof", certificate.proof),
    ]
    if certificate.stopped is not None:
        told.append(("stopped", f"the limit on {certificate.stopped.noun} was reached"))
    size = in_bytes(output.stat().st_size)
    if one.fallback is not None:
        size += ", with the ensemble, which predicts rows that are not proved"
    return [*told, ("file", f"{output} ({size})")]


def certify(
    *,
    tree: TreeFile,
    model: ModelFile,
    time_limit: Annotated[
        float | None, typer.Option(metavar="SECONDS", help="Give up after so long.")
    ] = None,
    memory: Annotated[
        float | None, typer.Option(metavar="BYTES", help="Give up at so much memory.")
    ] = None,
    json: Json = False,
) -> None:
    """Prove that a tree equals a model by means of its own; exit code 1 where it does not."""
    import clearwood as cw
    from clearwood._shared.progress import progress

    with progress(f"checking {tree.name}"):
        found = cw.certify(tree, model, time_limit=time_limit, memory=memory)
    if json:
        emit({"tree": tree, "model": model, **found.to_json()})
    else:
        _say_found(found)
    if not found:
        raise typer.Exit(1)


def _say_found(found: "Certification") -> None:
    say(f"{'Proved' if found else 'Not proved'}: {found.reason}")
    if found.counterexample is not None:
        say(
            "At this row they differ:",
            facts([(n, str(v)) for n, v in found.counterexample.items()]),
        )
        say(f"the tree predicts {found.of_tree}, the ensemble {found.of_ensemble}")
    if not found.same_tree:
        say("The tree is not the one its certificate names: it was changed since.")


def export(
    *,
    tree: TreeFile,
    to: Annotated[Target, typer.Option("--to", help="What to write it as.")],
    output: Annotated[
        Path | None,
        typer.Option(
            "--output",
            "-o",
            metavar="FILE",
            help="Where it goes; without it, to standard output.",
            show_default=False,
        ),
    ] = None,
    table: Annotated[
        str, typer.Option(metavar="NAME", help="For SQL: the table to predict.")
    ] = "data",
    force: Force = False,
    json: Json = False,
) -> None:
    """Write a tree as SQL, Python, C, Graphviz, a picture, ONNX, text or rules."""
    from clearwood.cli.support.output import check_output
    from clearwood.condensing import load
    from clearwood.files import atomic_write

    if output is not None:
        check_output(output, force=force, inputs=[tree])
    if to is Target.ONNX and output is None:
        raise InputError("ONNX is not text", hint="name a file with -o tree.onnx.")
    made = _made(load(tree), to, table)
    if output is not None:
        with atomic_write(output, force=force) as file:
            file.write(made if isinstance(made, bytes) else made.encode("utf-8"))
        written.append(output)
    if json:
        inline = {} if output is not None else {"text": made}
        emit({"tree": tree, "to": to.value, "output": output, **inline})
    elif output is None:
        sys.stdout.write(str(made) + "\n")
    else:
        say(f"Wrote {to.value} to {output}")


def _made(one: "Condensed", to: Target, table: str) -> str | bytes:
    if to is Target.SQL:
        return one.to_sql(table=table)
    if to is Target.ONNX:
        return bytes(one.to_onnx().SerializeToString())
    if to is Target.RULES:
        return "\n".join(str(rule) for rule in one.rules())
    ways = {
        Target.PYTHON: one.to_python,
        Target.C: one.to_c,
        Target.DOT: one.to_dot,
        Target.SVG: one.to_svg,
        Target.TEXT: one.to_text,
    }
    return ways[to]()
