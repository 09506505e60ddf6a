"""`clearwood explain direct`: the direct effect of features, with its conditions."""

from pathlib import Path
from typing import Any

from clearwood._shared.choices import Claim, Gaps, Scale
from clearwood._shared.errors import InputError
from clearwood.cli.support.options import Jobs, Reading, Seed
from clearwood.cli.support.verb import verb
from clearwood.cli.verbs.explain.options import Confidence, Explaining

__all__ = ["direct"]


@verb
def direct(
    column: str | None = None,
    other: str | None = None,
    *,
    graph: Path | None = None,
    at: list[str] | None = None,
    claim: Claim = "model",
    scale: Scale = "response",
    n_refits: int = 0,
    gaps: Gaps = "fill",
    imputations: int = 20,
    confidence: Confidence = 0.9,
    seed: Seed = 0,
    n_jobs: Jobs = 1,
    explaining: Explaining,
    reading: Reading,
) -> None:
    """The direct effect of a feature, or of two set together, and the conditions it rests on.

    Mean predictions if every row had a value, compared with those at a reference, all other
    features as they are. With a causal graph the condition under which this is causal is checked.

    Parameters
    ----------
    column
        The feature; by default the protected ones.
    other
        A second feature, set together with the first.
    graph : FILE
        A causal graph as text, such as "gender -> {height accidents}". Without one the result
        states what is assumed.
    at : VALUE,VALUE
        The values to compare, the reference first. Once for each feature.
    claim
        model: the effect on the prediction. world: the effect on the target, which needs
        --n-refits.
    scale
        The scale of the prediction.
    n_refits : N
        Models refitted to bootstrap samples, for a band that includes the uncertainty of training.
    gaps
        Rows with gaps in features. fill: the model as it is, which does not adjust for what it
        fills. complete: a model refitted to the rows without gaps. impute: models refitted to
        tables whose gaps are filled by random draws (multiple imputation).
    imputations : N
        How many such tables.
    """
    import clearwood as cw

    named = [name for name in (column, other) if name is not None]
    columns = named or None
    model, data = explaining.read(reading, graph, needs_target=n_refits > 0 or gaps != "fill")
    result = cw.direct_effect(
        model,
        data,
        columns,
        graph=None if graph is None else cw.Graph(graph),
        at=_values(at, columns or list(data.protected)),
        claim=claim,
        scale=scale,
        n_refits=n_refits,
        gaps=gaps,
        imputations=imputations,
        confidence=confidence,
        seed=seed,
        n_jobs=n_jobs,
    )
    explaining.show(result, table=False)  # its text is a table


def _values(texts: list[str] | None, columns: list[str]) -> Any:
    """Read values by column.

    Examples
    --------
    >>> _values(["20,40", "a,b"], ["age", "region"])
    {'age': ['20', '40'], 'region': ['a', 'b']}
    """
    if not texts:
        return None
    if len(texts) != len(columns):
        raise InputError(
            f"--at is given {len(texts)} times for {len(columns)} features",
            parameter="at",
            hint="give the values of each feature in turn: --at 20,40 --at city,town",
        )
    return {
        name: [value.strip() for value in text.split(",")]
        for name, text in zip(columns, texts, strict=True)
    }
