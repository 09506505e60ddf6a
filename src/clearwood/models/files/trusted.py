"""The types and functions that a model file may name.

Loading a model looks these names up and rebuilds instances of them from stored values; any other
name is refused before anything is imported. The lists are written out, not computed, here and in
the entries of learners (`Entry.saved_types`): before you add a name, check how it restores
its state and what its attributes can make it do.

What to look at: whether ``__new__`` or ``__setstate__`` run or import anything named in the
state; whether a prediction calls an attribute (then the attribute must itself be on these lists);
whether a path stored in the state is opened. Left out on purpose: estimators of scikit-learn that
take a Python function without which they are of no use (text vectorisers, distances in Python),
unsupervised learners, searches (a fitted search holds a scorer; its ``best_estimator_`` can be
saved).
"""

from clearwood.models import catalogue

__all__ = [
    "ARRAYS",
    "BIT_GENERATORS",
    "FUNCTIONS",
    "GENERATOR",
    "KEYS",
    "LOSSES",
    "MAPPINGS",
    "MASKED_ARRAYS",
    "PLAIN",
    "RANDOM_STATE",
    "TREE",
    "objects",
]


def _names(by_module: dict[str, str]) -> frozenset[str]:
    return frozenset(
        f"{module}.{name}" for module, names in by_module.items() for name in names.split()
    )


#: Numbers and text as numpy has them; ``void`` and ``object_`` are left out.
_SCALARS = _names(
    {
        "numpy": "bool bool_ bytes_ float16 float32 float64 int8 int16 int32 int64 longlong str_ "
        "uint8 uint16 uint32 uint64 ulonglong datetime64 timedelta64"
    }
)
_NUMBERS_AND_TEXT = _names({"builtins": "bool float int str"})

#: What the keys of a mapping may be; loading calls these with the key.
KEYS = _NUMBERS_AND_TEXT | _names(
    {"numpy": "bool bool_ float32 float64 int8 int16 int32 int64 str_ uint8 uint16 uint32 uint64"}
)

MAPPINGS = frozenset({"builtins.dict", "collections.OrderedDict", "sklearn.utils._bunch.Bunch"})
ARRAYS = _SCALARS | {"numpy.ndarray"}
MASKED_ARRAYS = frozenset({"numpy.ma.MaskedArray", "numpy.ma.core.MaskedArray"})

#: What needs no mention when a file is inspected, and may be named as a type (a parameter `dtype`).
PLAIN = (
    _NUMBERS_AND_TEXT
    | _SCALARS
    | MAPPINGS
    | _names({"builtins": "list set slice tuple", "numpy": "dtype ndarray"})
)

RANDOM_STATE = "numpy.random.mtrand.RandomState"
GENERATOR = "numpy.random._generator.Generator"
BIT_GENERATORS = frozenset({"MT19937", "PCG64", "PCG64DXSM", "Philox", "SFC64"})

TREE = "sklearn.tree._tree.Tree"

#: Compiled loss functions: rebuilt by calling the type with a number.
LOSSES = _names(
    {
        "sklearn._loss._loss": "CyAbsoluteError CyExponentialLoss CyHalfBinomialLoss "
        "CyHalfGammaLoss CyHalfMultinomialLoss CyHalfPoissonLoss CyHalfSquaredError "
        "CyHalfTweedieLoss CyHalfTweedieLossIdentity CyHuberLoss CyPinballLoss",
        "sklearn.linear_model._sgd_fast": "EpsilonInsensitive Hinge Huber ModifiedHuber "
        "SquaredEpsilonInsensitive SquaredHinge",
    }
)

#: Functions of arrays only, for transformers that apply one.
FUNCTIONS = _names(
    {
        "numpy": "abs absolute cbrt exp exp2 expm1 log log10 log1p log2 negative reciprocal rint "
        "sign sqrt square",
        "scipy.special": "expit logit",
        "scipy.special._ufuncs": "expit logit",
        # histogram boosting checks its columns with this one, partially applied
        "sklearn.utils.validation": "check_array",
        # scipy's splines keep the function that turns their input into an array
        "scipy._lib.array_api_compat.numpy._aliases": "asarray",
        "scipy._external.array_api_compat.numpy._aliases": "asarray",
    }
)

_ESTIMATORS = _names(
    {
        "sklearn.calibration": "CalibratedClassifierCV",
        "sklearn.compose._column_transformer": "ColumnTransformer",
        "sklearn.compose._target": "TransformedTargetRegressor",
        "sklearn.cross_decomposition._pls": "CCA PLSCanonical PLSRegression",
        "sklearn.decomposition._factor_analysis": "FactorAnalysis",
        "sklearn.decomposition._fastica": "FastICA",
        "sklearn.decomposition._incremental_pca": "IncrementalPCA",
        "sklearn.decomposition._kernel_pca": "KernelPCA",
        "sklearn.decomposition._nmf": "NMF",
        "sklearn.decomposition._pca": "PCA",
        "sklearn.decomposition._truncated_svd": "TruncatedSVD",
        "sklearn.discriminant_analysis": "LinearDiscriminantAnalysis QuadraticDiscriminantAnalysis",
        "sklearn.dummy": "DummyClassifier DummyRegressor",
        "sklearn.ensemble._bagging": "BaggingClassifier BaggingRegressor",
        "sklearn.ensemble._forest": "ExtraTreesClassifier ExtraTreesRegressor "
        "RandomForestClassifier RandomForestRegressor",
        "sklearn.ensemble._gb": "GradientBoostingClassifier GradientBoostingRegressor",
        "sklearn.ensemble._hist_gradient_boosting.gradient_boosting": (
            "HistGradientBoostingClassifier HistGradientBoostingRegressor"
        ),
        "sklearn.ensemble._stacking": "StackingClassifier StackingRegressor",
        "sklearn.ensemble._voting": "VotingClassifier VotingRegressor",
        "sklearn.ensemble._weight_boosting": "AdaBoostClassifier AdaBoostRegressor",
        "sklearn.feature_selection._from_model": "SelectFromModel",
        "sklearn.feature_selection._rfe": "RFE RFECV",
        "sklearn.feature_selection._sequential": "SequentialFeatureSelector",
        "sklearn.feature_selection._variance_threshold": "VarianceThreshold",
        "sklearn.gaussian_process._gpc": "GaussianProcessClassifier "
        "_BinaryGaussianProcessClassifierLaplace",
        "sklearn.gaussian_process._gpr": "GaussianProcessRegressor",
        "sklearn.impute._base": "MissingIndicator SimpleImputer",
        "sklearn.impute._knn": "KNNImputer",
        "sklearn.isotonic": "IsotonicRegression",
        "sklearn.kernel_approximation": "Nystroem PolynomialCountSketch RBFSampler",
        "sklearn.kernel_ridge": "KernelRidge",
        "sklearn.linear_model._base": "LinearRegression",
        "sklearn.linear_model._bayes": "ARDRegression BayesianRidge",
        "sklearn.linear_model._coordinate_descent": "ElasticNet ElasticNetCV Lasso LassoCV "
        "MultiTaskElasticNet MultiTaskElasticNetCV MultiTaskLasso MultiTaskLassoCV",
        "sklearn.linear_model._glm.glm": "GammaRegressor PoissonRegressor TweedieRegressor",
        "sklearn.linear_model._huber": "HuberRegressor",
        "sklearn.linear_model._least_angle": "Lars LarsCV LassoLars LassoLarsCV LassoLarsIC",
        "sklearn.linear_model._logistic": "LogisticRegression LogisticRegressionCV",
        "sklearn.linear_model._omp": "OrthogonalMatchingPursuit OrthogonalMatchingPursuitCV",
        "sklearn.linear_model._passive_aggressive": "PassiveAggressiveClassifier "
        "PassiveAggressiveRegressor",
        "sklearn.linear_model._perceptron": "Perceptron",
        "sklearn.linear_model._quantile": "QuantileRegressor",
        "sklearn.linear_model._ransac": "RANSACRegressor",
        "sklearn.linear_model._ridge": "Ridge RidgeCV RidgeClassifier RidgeClassifierCV",
        "sklearn.linear_model._stochastic_gradient": "SGDClassifier SGDRegressor",
        "sklearn.linear_model._theil_sen": "TheilSenRegressor",
        "sklearn.model_selection._classification_threshold": "FixedThresholdClassifier",
        "sklearn.multiclass": "OneVsOneClassifier OneVsRestClassifier OutputCodeClassifier",
        "sklearn.multioutput": "ClassifierChain MultiOutputClassifier MultiOutputRegressor "
        "RegressorChain",
        "sklearn.naive_bayes": "BernoulliNB CategoricalNB ComplementNB GaussianNB MultinomialNB",
        "sklearn.neighbors._classification": "KNeighborsClassifier RadiusNeighborsClassifier",
        "sklearn.neighbors._nca": "NeighborhoodComponentsAnalysis",
        "sklearn.neighbors._nearest_centroid": "NearestCentroid",
        "sklearn.neighbors._regression": "KNeighborsRegressor RadiusNeighborsRegressor",
        "sklearn.neural_network._multilayer_perceptron": "MLPClassifier MLPRegressor",
        "sklearn.pipeline": "FeatureUnion Pipeline",
        "sklearn.preprocessing._data": "Binarizer KernelCenterer MaxAbsScaler MinMaxScaler "
        "Normalizer PowerTransformer QuantileTransformer RobustScaler StandardScaler",
        "sklearn.preprocessing._discretization": "KBinsDiscretizer",
        "sklearn.preprocessing._encoders": "OneHotEncoder OrdinalEncoder",
        "sklearn.preprocessing._function_transformer": "FunctionTransformer",
        "sklearn.preprocessing._label": "LabelBinarizer LabelEncoder",
        "sklearn.preprocessing._polynomial": "PolynomialFeatures SplineTransformer",
        "sklearn.preprocessing._target_encoder": "TargetEncoder",
        "sklearn.svm._classes": "LinearSVC LinearSVR NuSVC NuSVR SVC SVR",
        "sklearn.tree._classes": "DecisionTreeClassifier DecisionTreeRegressor ExtraTreeClassifier "
        "ExtraTreeRegressor",
        "interpret.glassbox._ebm._ebm": "ExplainableBoostingClassifier "
        "ExplainableBoostingRegressor",
    }
)

#: What the estimators above keep inside.
_PARTS = _names(
    {
        "sklearn._loss.link": "HalfLogitLink IdentityLink Interval LogLink LogitLink "
        "MultinomialLogit",
        "sklearn._loss.loss": "AbsoluteError ExponentialLoss HalfBinomialLoss HalfGammaLoss "
        "HalfMultinomialLoss HalfPoissonLoss HalfSquaredError HalfTweedieLoss "
        "HalfTweedieLossIdentity HuberLoss PinballLoss",
        "sklearn.calibration": "_CalibratedClassifier _SigmoidCalibration _TemperatureScaling",
        "sklearn.ensemble._hist_gradient_boosting.binning": "_BinMapper",
        "sklearn.ensemble._hist_gradient_boosting.predictor": "TreePredictor",
        "sklearn.gaussian_process.kernels": "CompoundKernel ConstantKernel DotProduct "
        "ExpSineSquared Exponentiation Matern Product RBF RationalQuadratic Sum WhiteKernel",
        "sklearn.metrics._dist_metrics": "ChebyshevDistance64 EuclideanDistance64 "
        "HammingDistance64 JaccardDistance64 ManhattanDistance64 MinkowskiDistance64 "
        "SEuclideanDistance64",
        "sklearn.model_selection._split": "GroupKFold KFold LeaveOneOut RepeatedKFold "
        "RepeatedStratifiedKFold ShuffleSplit StratifiedGroupKFold StratifiedKFold "
        "StratifiedShuffleSplit TimeSeriesSplit",
        "sklearn.multiclass": "_ConstantPredictor",
        "sklearn.neighbors._ball_tree": "BallTree",
        "sklearn.neighbors._kd_tree": "KDTree",
        "sklearn.neural_network._stochastic_optimizers": "AdamOptimizer SGDOptimizer",
        "scipy.interpolate._bsplines": "BSpline",
        "clearwood.models.files.native": "Native",
    }
)

#: What several learners share; none of it takes a function or opens a file. What a single learner
#: holds is named by its entry.
_SHARED = _names(
    {
        "clearwood.models.shared.wrappers": "Capped StandardisedTarget WeightedCapped",
        "clearwood.models.shared.conditions": "Among Between Line Rule",
        "clearwood.models.shared.folds": "Folds",
        "clearwood.models.shared.score": "ProductTerm ScoreParts Spread SumOfProducts TreeArrays",
    }
)

#: What is trusted whatever the catalogue holds.
_ALWAYS = _ESTIMATORS | _PARTS | _SHARED


def objects() -> frozenset[str]:
    """Return the classes whose attributes a file may fill: those above, and those of learners."""
    return _ALWAYS | catalogue.saved_types()
