"""Which columns interact at all: looked at before pairs are measured one by one."""

import numpy as np

from clearwood.explanation.rows.predictor import Predictor

__all__ = ["interacting_columns"]


#: Columns whose pairs are all measured; of more, those that interact most.
MOST_INTERACTING = 15


def interacting_columns(predictor: Predictor, n_rows: int, seed: int) -> tuple[int, ...]:
    """Choose the columns among which interactions are looked for, rising.

    Up to 15 columns all of them. Of more, those whose change moves the prediction most
    differently in one row than in another: for rows x and b, the change of column k from b to x
    once in row b and once in row x. Without interactions both move the prediction alike, so the
    mean square of the difference is zero, whatever the main effect. It is measured on the
    predictor's first ``n_rows`` rows.

    Examples
    --------
    >>> from clearwood.explanation import Explanation
    >>> X = np.random.default_rng(0).normal(size=(100, 20))
    >>> model = lambda X: X[:, 3] * X[:, 17] + X[:, 0]
    >>> chosen = interacting_columns(Explanation(model, X).predictor(), 100, seed=0)
    >>> len(chosen), {3, 17} <= set(chosen)
    (15, True)
    """
    n_columns = len(predictor.columns)
    if n_columns <= MOST_INTERACTING:
        return tuple(range(n_columns))
    here = np.random.default_rng(seed).permutation(n_rows)
    there = np.roll(here, 1)
    own, other = predictor.predict(here), predictor.predict(there)
    size = np.empty(n_columns)
    for k in range(n_columns):
        # the change of one column, in the one row and in the other
        within = own - predictor.predict(here, {k: there})
        elsewhere = predictor.predict(there, {k: here}) - other
        size[k] = ((within - elsewhere) ** 2).sum()
    best = np.argsort(-size, kind="stable")[:MOST_INTERACTING]
    return tuple(sorted(int(k) for k in best))
