"""Linear regression: least squares, its penalised and its robust forms."""

from typing import Any

from clearwood.models.entry import Entry, Job
from clearwood.models.families.tasks import NUMBERS
from clearwood.models.spaces import Real, Whole

__all__ = ["ENTRIES"]


def _ols(job: Job) -> Any:  # noqa: ARG001 - every entry is built by the same call
    from sklearn.linear_model import LinearRegression

    return LinearRegression()


def _ridge(job: Job) -> Any:
    from sklearn.linear_model import Ridge

    return Ridge(**job.settings)


def _lasso(job: Job) -> Any:
    from sklearn.linear_model import Lasso

    from clearwood.models.estimators.standardised_target import StandardisedTarget

    return StandardisedTarget(Lasso(max_iter=20_000, **job.settings))


def _elastic_net(job: Job) -> Any:
    from sklearn.linear_model import ElasticNet

    from clearwood.models.estimators.standardised_target import StandardisedTarget

    return StandardisedTarget(ElasticNet(max_iter=20_000, **job.settings))


def _lars(job: Job) -> Any:
    from clearwood.models.estimators.stepwise import StepwiseLars

    return StepwiseLars(**job.settings)


def _omp(job: Job) -> Any:
    from clearwood.models.estimators.stepwise import StepwiseOMP

    return StepwiseOMP(**job.settings)


def _pcr(job: Job) -> Any:
    from sklearn.decomposition import PCA
    from sklearn.linear_model import LinearRegression
    from sklearn.pipeline import Pipeline

    from clearwood.models.estimators.capped import WeightedCapped

    steps = [
        ("pca", PCA(job.settings["n_components"], svd_solver="full")),
        ("ols", LinearRegression()),
    ]
    return WeightedCapped(Pipeline(steps), {"pca__n_components": "both"})


def _pls(job: Job) -> Any:
    from sklearn.cross_decomposition import PLSRegression

    from clearwood.models.estimators.capped import Capped

    return Capped(PLSRegression(scale=False, **job.settings), {"n_components": "rank"})


def _huber(job: Job) -> Any:
    from sklearn.linear_model import HuberRegressor

    from clearwood.models.estimators.standardised_target import StandardisedTarget

    return StandardisedTarget(HuberRegressor(max_iter=2_000, **job.settings))


def _quantile(job: Job) -> Any:
    from sklearn.linear_model import QuantileRegressor

    from clearwood.models.estimators.standardised_target import StandardisedTarget

    return StandardisedTarget(QuantileRegressor(solver="highs", **job.settings))


def _bayes_ridge(job: Job) -> Any:
    from sklearn.linear_model import BayesianRidge

    return BayesianRidge(max_iter=1_000, **job.settings)


ENTRIES = (
    Entry(
        name="ols",
        title="Ordinary least squares",
        family="linear",
        tasks=NUMBERS,
        reading="glass box",
        source="scikit-learn LinearRegression",
        section="Hiabu 3.1; Rosso 2; course notes 6",
        loss="squared error",
        estimates="mean",
        build=_ols,
        scale=True,
        reference=True,
        complexity=2,
    ),
    Entry(
        name="ridge",
        title="Ridge regression: least squares with a squared (l2) penalty",
        family="linear",
        tasks=NUMBERS,
        reading="glass box",
        source="scikit-learn Ridge",
        section="Hiabu 3.2; Rosso 2; course notes 19.1",
        loss="squared error + alpha · Σ β²",
        estimates="mean",
        build=_ridge,
        defaults={"alpha": 1.0},
        space={"alpha": Real(1e-3, 1e4, log=True)},
        scale=True,
        complexity=2,
    ),
    Entry(
        name="lasso",
        title="Lasso: least squares with an absolute (l1) penalty, which drops features",
        family="linear",
        tasks=NUMBERS,
        reading="glass box",
        source="scikit-learn Lasso",
        section="Hiabu 3.3; Rosso 2; course notes 19.2",
        loss="squared error / 2n + alpha · Σ |β|, with the target standardised",
        estimates="mean",
        build=_lasso,
        defaults={"alpha": 0.01},
        space={"alpha": Real(1e-4, 1.0, log=True)},
        scale=True,
        complexity=2,
    ),
    Entry(
        name="elastic-net",
        title="Elastic net: least squares with a mixture of the l1 and l2 penalties",
        family="linear",
        tasks=NUMBERS,
        reading="glass box",
        source="scikit-learn ElasticNet",
        section="Hiabu 3.4; Rosso 2",
        loss="squared error / 2n + alpha · Σ (l1_ratio · |β| + (1 − l1_ratio) · β² / 2), "
        "with the target standardised",
        estimates="mean",
        build=_elastic_net,
        defaults={"alpha": 0.01, "l1_ratio": 0.5},
        space={"alpha": Real(1e-4, 1.0, log=True), "l1_ratio": Real(0.05, 1.0)},
        scale=True,
        complexity=2,
    ),
    Entry(
        name="lars",
        title="Least angle regression: features enter one at a time",
        family="linear",
        tasks=NUMBERS,
        reading="glass box",
        source="scikit-learn LassoLars",
        section="Rosso 2",
        loss="squared error, stopped after n_nonzero_coefs steps",
        estimates="mean",
        build=_lars,
        defaults={"n_nonzero_coefs": 20},
        space={"n_nonzero_coefs": Whole(1, 60, log=True)},
        scale=True,
        reference=True,
        complexity=2,
    ),
    Entry(
        name="omp",
        title="Orthogonal matching pursuit: forward selection with a refit after each step",
        family="linear",
        tasks=NUMBERS,
        reading="glass box",
        source="scikit-learn OrthogonalMatchingPursuit",
        section="Rosso 2 and 7 (forward stagewise)",
        loss="squared error, stopped after n_nonzero_coefs steps",
        estimates="mean",
        build=_omp,
        defaults={"n_nonzero_coefs": 10},
        space={"n_nonzero_coefs": Whole(1, 60, log=True)},
        scale=True,
        reference=True,
        complexity=2,
    ),
    Entry(
        name="pcr",
        title="Principal component regression: least squares on the first components",
        family="linear",
        tasks=NUMBERS,
        reading="glass box",
        source="scikit-learn PCA, LinearRegression",
        section="Rosso 2",
        loss="squared error",
        estimates="mean",
        build=_pcr,
        defaults={"n_components": 10},
        space={"n_components": Whole(1, 60, log=True)},
        scale=True,
        complexity=3,
    ),
    Entry(
        name="pls",
        title="Partial least squares: least squares on components correlated with the target",
        family="linear",
        tasks=NUMBERS,
        reading="glass box",
        source="scikit-learn PLSRegression",
        section="Rosso 2",
        loss="squared error",
        estimates="mean",
        build=_pls,
        defaults={"n_components": 4},
        space={"n_components": Whole(1, 20, log=True)},
        scale=True,
        complexity=3,
    ),
    Entry(
        name="huber",
        title="Huber regression: linear regression robust to outliers in the target",
        family="linear",
        tasks=NUMBERS,
        reading="glass box",
        source="scikit-learn HuberRegressor",
        section="Rosso 6, equation (73)",
        loss="Huber: squared error up to epsilon standard deviations, absolute beyond",
        estimates="mean, for symmetric errors; between mean and median otherwise",
        build=_huber,
        defaults={"epsilon": 1.35, "alpha": 1e-4},
        space={"epsilon": Real(1.05, 3.0), "alpha": Real(1e-6, 1.0, log=True)},
        scale=True,
        complexity=2,
    ),
    Entry(
        name="quantile",
        title="Linear quantile regression",
        family="linear",
        tasks=NUMBERS,
        reading="glass box",
        source="scikit-learn QuantileRegressor",
        section="Hiabu 1.1 (absolute loss)",
        loss="pinball at quantile + alpha · Σ |β|, with the target standardised",
        estimates="quantile (the median by default)",
        build=_quantile,
        defaults={"quantile": 0.5, "alpha": 1e-3},
        space={"alpha": Real(1e-5, 0.3, log=True)},
        scale=True,
        complexity=2,
    ),
    Entry(
        name="bayes-ridge",
        title="Bayesian ridge regression: the penalty is chosen by maximum evidence",
        family="linear",
        tasks=NUMBERS,
        reading="glass box",
        source="scikit-learn BayesianRidge",
        section="course notes 19.4 and 38.2",
        loss="negative log evidence of a Gaussian model with Gaussian coefficients",
        estimates="mean of the posterior",
        build=_bayes_ridge,
        defaults={"alpha_1": 1e-6, "alpha_2": 1e-6, "lambda_1": 1e-6, "lambda_2": 1e-6},
        scale=True,
        complexity=2,
    ),
)
