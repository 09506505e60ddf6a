"""`clearwood explain inclusion`: how often a model's choice of columns repeats itself."""

from clearwood._shared.choices import Resampled
from clearwood.cli.support.options import Jobs, Reading, Seed
from clearwood.cli.support.verb import verb
from clearwood.cli.verbs.explain.options import Explaining

__all__ = ["inclusion"]


@verb
def inclusion(
    *,
    draws: int = 100,
    resampled: Resampled = "half",
    seed: Seed = 0,
    n_jobs: Jobs = 1,
    explaining: Explaining,
    reading: Reading,
) -> None:
    """How often each column is chosen when the rows are drawn anew.

    For subset, stagewise, lasso, elastic-net, lars, omp, logistic with an l1 penalty, and any model
    fitted with --select. DATA are the rows that the model was fitted to.

    Parameters
    ----------
    draws : N
        How often the rows are drawn.
    resampled
        half: each draw has half of the rows. bootstrap: as many rows as there are, with repeats.
    """
    import clearwood as cw

    model, data = explaining.read(reading, needs_target=True)
    result = cw.benchmarking.inclusion(
        model, data, draws=draws, resampled=resampled, seed=seed, n_jobs=n_jobs
    )
    explaining.show(result, table=False)  # its text is a table
