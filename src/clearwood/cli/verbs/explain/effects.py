"""`clearwood explain effect` and `direct`: what changes with a column."""

from pathlib import Path
from typing import Any, Literal

from clearwood._shared.choices import BandChoice, Claim, EffectKind, Gaps, Scale
from clearwood._shared.errors import InputError
from clearwood.cli.support.options import Jobs, Reading, Seed
from clearwood.cli.support.verb import verb
from clearwood.cli.verbs.explain.options import Confidence, Explaining, View, Work

__all__ = ["direct", "effect"]


@verb
def effect(
    column: str,
    other: str | None = None,
    *,
    kind: EffectKind = "pdp",
    centred: bool | None = None,
    derivative: bool = False,
    points: int | None = None,
    grid: list[str] | None = None,
    sample: int | None = None,
    extrapolation: Literal["distance", "isolation", "none"] = "distance",
    n_bootstrap: int = 200,
    band: BandChoice = "auto",
    n_refits: int = 0,
    confidence: Confidence = 0.9,
    view: View,
    work: Work,
    explaining: Explaining,
    reading: Reading,
) -> None:
    """The effect of one feature, or of two jointly, on the prediction.

    With a band, the distribution of the data, and the values where the model extrapolates.

    Parameters
    ----------
    column
        The feature.
    other
        A second feature.
    kind : KIND
        pdp: partial dependence, the average prediction if every row had the value. ice: one curve
        per row. marginal: the average over rows with the value. ale: accumulated local effects.
        supported_pdp: pdp where there are data. component: a part of the decomposition.
    centred
        Whether effects are relative to the mean, and ice curves to their start; by default only
        ale.
    derivative
        For ice: slopes instead of curves.

    Rows and values
    ---------------
    points : N
        The most values of a numeric or date column; by default 40, and 20 each of two.
    grid : VALUE,VALUE
        The values to show. Once for each column.
    sample : N
        The number of rows to average over; by default all.
    extrapolation
        How rows outside the data are detected.

    Band
    ----
    n_bootstrap : N
        Bootstrap samples of the rows; 0 for no band.
    band
        rows: how far the mean could move with other rows, for this model. model: how far the model
        could move with other training data, where the learner has such bands (gam, glass).
        simultaneous: the same for the whole curve. auto: model where there is one, else rows.
    n_refits : N
        Models refitted to bootstrap samples, for a band that includes the uncertainty of training.
    """
    import clearwood as cw

    columns = (column,) if other is None else (column, other)
    model, data = explaining.read(reading, needs_target=n_refits > 0)
    result = cw.effect(
        model,
        data,
        columns,
        kind=kind,
        points=points,
        grid=_grid(grid, len(columns)),
        centred=centred,
        derivative=derivative,
        n_bootstrap=n_bootstrap,
        band=band,
        confidence=confidence,
        n_refits=n_refits,
        sample=sample,
        extrapolation=False if extrapolation == "none" else extrapolation,
        **vars(view),
        **vars(work),
    )
    explaining.show(result)


def _grid(texts: list[str] | None, n_columns: int) -> Any:
    """Read values: those of the only column, or one list for each of two.

    Examples
    --------
    >>> _grid(["20,40"], 1), _grid(["20,40", "a,b"], 2)
    (['20', '40'], (['20', '40'], ['a', 'b']))
    """
    if not texts:
        return None
    if len(texts) > n_columns:
        raise InputError(f"--grid is repeated {len(texts)} times for {n_columns} columns")
    lists = [[value.strip() for value in text.split(",")] for text in texts]
    return lists[0] if n_columns == 1 else (*lists, *[None] * (2 - len(lists)))


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
    """The direct effect of a feature, or of two set together, and its conditions.

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
