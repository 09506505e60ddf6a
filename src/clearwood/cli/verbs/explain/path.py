"""`clearwood explain path`: coefficients along a penalty or a number of columns."""

from clearwood.cli.support.options import Reading, Seed
from clearwood.cli.support.verb import verb
from clearwood.cli.verbs.explain.options import Explaining

__all__ = ["path"]


@verb
def path(*, folds: int = 10, seed: Seed = 0, explaining: Explaining, reading: Reading) -> None:
    """How the coefficients of a linear model change with its penalty or number of columns.

    For ridge, lasso, elastic-net, lars, omp, pcr, pls, subset and stagewise. DATA are the rows that
    the model was fitted to.

    Parameters
    ----------
    folds
        Of the cross-validated error; 0 for none.
    """
    import clearwood as cw

    model, data = explaining.read(reading, needs_target=True)
    explaining.show(cw.explanation.path(model, data, folds=folds, seed=seed), table=False)
