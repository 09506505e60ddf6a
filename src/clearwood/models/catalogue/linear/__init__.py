"""Linear regression: least squares, its penalised and its robust forms."""

from functools import partial
from typing import Any

from clearwood.models.entries.builders import NUMBERS, builder, types_in
from clearwood.models.entries.entry import Choice, Entry, Job, Real, Whole
from clearwood.models.entries.streams import Moments

__all__ = ["ENTRIES"]


def _subset(job: Job) -> Any:
    from clearwood.models.catalogue.linear.subset import SubsetRegressor

    return SubsetRegressor(groups=job.owners, random_state=job.seed, **job.settings)


def _stagewise(job: Job) -> Any:
    from clearwood.models.catalogue.linear.stepwise import StagewiseRegressor

    return StagewiseRegressor(random_state=job.seed, **job.settings)


def _pcr(job: Job) -> Any:
    from sklearn.decomposition import PCA
    from sklearn.linear_model import LinearRegression
    from sklearn.pipeline import Pipeline

    from clearwood.models.shared.wrappers import WeightedCapped

    steps = [
        ("pca", PCA(job.settings["n_components"], svd_solver="full")),
        ("ols", LinearRegression()),
    ]
    return WeightedCapped(Pipeline(steps), {"pca__n_components": "both"})


def _pls(job: Job) -> Any:
    from sklearn.cross_decomposition import PLSRegression

    from clearwood.models.shared.wrappers import Capped

    return Capped(PLSRegression(scale=False, **job.settings), {"n_components": "rank"})


_linear = partial(
    Entry,
    family="linear",
    tasks=NUMBERS,
    reading="glass box",
    estimates="mean",
    scale=True,
    complexity=2,
)

ENTRIES = (
    _linear(
        name="ols",
        title="Ordinary least squares",
        source="scikit-learn LinearRegression",
        described_in="Hastie, Tibshirani and Friedman (2009), 3.2",
        loss="squared error",
        build=builder("sklearn.linear_model.LinearRegression"),
        streams=Moments(),
        reference=True,
    ),
    _linear(
        name="ridge",
        title="Ridge regression: least squares with a squared (l2) penalty",
        source="scikit-learn Ridge",
        described_in="Hoerl and Kennard (1970); Hastie, Tibshirani and Friedman (2009), 3.4.1",
        loss="squared error + alpha · Σ β²",
        build=builder("sklearn.linear_model.Ridge"),
        streams=Moments(),
        defaults={"alpha": 1.0},
        space={"alpha": Real(1e-3, 1e4, log=True)},
    ),
    _linear(
        name="lasso",
        title="Lasso: least squares with an absolute (l1) penalty, which drops features",
        source="scikit-learn Lasso",
        described_in="Tibshirani (1996); Hastie, Tibshirani and Friedman (2009), 3.4.2",
        loss="squared error / 2n + alpha · Σ |β|, with the target standardised",
        build=builder("sklearn.linear_model.Lasso", standardised=True, max_iter=20_000),
        streams=Moments(),
        defaults={"alpha": 0.01},
        space={"alpha": Real(1e-4, 1.0, log=True)},
        sparse={},
    ),
    _linear(
        name="elastic-net",
        title="Elastic net: least squares with a mixture of the l1 and l2 penalties",
        source="scikit-learn ElasticNet",
        described_in="Zou and Hastie (2005); Hastie, Tibshirani and Friedman (2009), 18.4",
        loss="squared error / 2n + alpha · Σ (l1_ratio · |β| + (1 − l1_ratio) · β² / 2), "
        "with the target standardised",
        build=builder("sklearn.linear_model.ElasticNet", standardised=True, max_iter=20_000),
        streams=Moments(),
        defaults={"alpha": 0.01, "l1_ratio": 0.5},
        space={"alpha": Real(1e-4, 1.0, log=True), "l1_ratio": Real(0.05, 1.0)},
        sparse={},
    ),
    _linear(
        name="subset",
        title="Subset selection: least squares on the best columns of each number",
        source="clearwood SubsetRegressor (leaps and bounds)",
        described_in="Furnival and Wilson (1974); Hastie, Tibshirani and Friedman (2009), 3.3.1",
        loss="squared error; the number of columns by BIC, AIC, Cp or cross-validation",
        build=_subset,
        saved_types=types_in(__name__, subset="SubsetRegressor"),
        defaults={
            "search": "best",
            "criterion": "bic",
            "size": None,
            "max_size": None,
            "max_nodes": 3_000_000,
        },
        space={"criterion": Choice("bic", "aic"), "search": Choice("best", "forward")},
        reference=True,
        advice="Take it for a linear model of few columns that can be named: up to about 40 "
        "columns the search is exact within seconds, and a category enters with all its levels. "
        "Choose 'lasso' where there are more columns than rows or where many small effects matter. "
        "Standard errors after the choice would be too small, so none are given: "
        "cw.benchmarking.inclusion shows how sure the choice is, and cw.coefficients with "
        "split=0.5 gives valid intervals.",
        reads="Columns that are not chosen have the coefficient 0 (cw.coefficients); the path "
        "shows the best columns of each number, with the criterion (cw.explanation.path).",
        page="subset",
        sparse={},
    ),
    _linear(
        name="stagewise",
        title="Forward stagewise: many small steps, each along the column that fits best",
        source="clearwood StagewiseRegressor",
        described_in="Hastie and others (2007); Hastie, Tibshirani and Friedman (2009), 3.3.3",
        loss="squared error, stopped after steps of size epsilon",
        build=_stagewise,
        saved_types=types_in(__name__, stepwise="StagewiseRegressor"),
        defaults={"epsilon": 0.01, "steps": None, "max_steps": 5_000},
        reference=True,
        advice="Take it to see how coefficients grow as a fit is refined slowly, which is also how "
        "boosting works. Its path is close to that of 'lasso', which is faster.",
        reads="The path shows how each coefficient grows step by step (cw.explanation.path); the "
        "model is the last step, a linear one (cw.coefficients).",
        page="subset",
        sparse={},
    ),
    _linear(
        name="lars",
        title="Least angle regression: features enter one at a time",
        source="scikit-learn LassoLars",
        described_in="Efron, Hastie, Johnstone and Tibshirani (2004)",
        loss="squared error, stopped after n_nonzero_coefs steps",
        build=builder("clearwood.models.catalogue.linear.stepwise.StepwiseLars"),
        saved_types=types_in(__name__, stepwise="StepwiseLars"),
        defaults={"n_nonzero_coefs": 20},
        space={"n_nonzero_coefs": Whole(1, 60, log=True)},
        reference=True,
        sparse={},
    ),
    _linear(
        name="omp",
        title="Orthogonal matching pursuit: forward selection with a refit after each step",
        source="scikit-learn OrthogonalMatchingPursuit",
        described_in="Pati, Rezaiifar and Krishnaprasad (1993)",
        loss="squared error, stopped after n_nonzero_coefs steps",
        build=builder("clearwood.models.catalogue.linear.stepwise.StepwiseOMP"),
        saved_types=types_in(__name__, stepwise="StepwiseOMP"),
        defaults={"n_nonzero_coefs": 10},
        space={"n_nonzero_coefs": Whole(1, 60, log=True)},
        reference=True,
        sparse={},
    ),
    _linear(
        name="pcr",
        title="Principal component regression: least squares on the first components",
        source="scikit-learn PCA, LinearRegression",
        described_in="Hastie, Tibshirani and Friedman (2009), 3.5.1",
        loss="squared error",
        build=_pcr,
        defaults={"n_components": 10},
        space={"n_components": Whole(1, 60, log=True)},
        complexity=3,
    ),
    _linear(
        name="pls",
        title="Partial least squares: least squares on components correlated with the target",
        source="scikit-learn PLSRegression",
        described_in="Wold (1975); Hastie, Tibshirani and Friedman (2009), 3.5.2",
        loss="squared error",
        build=_pls,
        defaults={"n_components": 4},
        space={"n_components": Whole(1, 20, log=True)},
        complexity=3,
    ),
    _linear(
        name="huber",
        title="Huber regression: linear regression robust to outliers in the target",
        source="scikit-learn HuberRegressor",
        described_in="Huber (1964); Hastie, Tibshirani and Friedman (2009), 10.6",
        loss="Huber: squared error up to epsilon standard deviations, absolute beyond",
        estimates="mean, for symmetric errors; between mean and median otherwise",
        build=builder("sklearn.linear_model.HuberRegressor", standardised=True, max_iter=2_000),
        defaults={"epsilon": 1.35, "alpha": 1e-4},
        space={"epsilon": Real(1.05, 3.0), "alpha": Real(1e-6, 1.0, log=True)},
    ),
    _linear(
        name="quantile",
        title="Linear quantile regression",
        source="scikit-learn QuantileRegressor",
        described_in="Koenker and Bassett (1978)",
        loss="pinball at quantile + alpha · Σ |β|, with the target standardised",
        estimates="quantile (the median by default)",
        build=builder("sklearn.linear_model.QuantileRegressor", standardised=True, solver="highs"),
        defaults={"quantile": 0.5, "alpha": 1e-3},
        space={"alpha": Real(1e-5, 0.3, log=True)},
    ),
    _linear(
        name="bayes-ridge",
        title="Bayesian ridge regression: the penalty is chosen by maximum evidence",
        source="scikit-learn BayesianRidge",
        described_in="MacKay (1992); Bishop (2006), 3.5",
        loss="negative log evidence of a Gaussian model with Gaussian coefficients, with the "
        "target standardised",
        estimates="mean of the posterior",
        build=builder("sklearn.linear_model.BayesianRidge", standardised=True, max_iter=1_000),
        defaults={"alpha_1": 1e-6, "alpha_2": 1e-6, "lambda_1": 1e-6, "lambda_2": 1e-6},
    ),
)
