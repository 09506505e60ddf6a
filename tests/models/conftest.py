"""scikit-learn's own checks of estimators, for families of them that share their code."""

import re

from sklearn.utils.estimator_checks import estimator_checks_generator

#: Checks of what differs between the estimators of a family: targets, classes, probabilities.
OF_TARGETS = re.compile("classif|regress|class_weight|proba|decision|weight_equivalence|y_no_nan")


def pytest_configure(config):
    config.addinivalue_line(
        "markers",
        "estimators(*estimators, expected={}): scikit-learn's checks; all of them for the first, "
        "for the others, which share its code, those of targets",
    )


def pytest_generate_tests(metafunc):
    mark = metafunc.definition.get_closest_marker("estimators")
    if mark is not None:
        pairs = list(pairs_of(mark.args, mark.kwargs.get("expected")))
        metafunc.parametrize(("estimator", "check"), pairs, ids=name_of)


def pairs_of(estimators, expected):
    for k, estimator in enumerate(estimators):
        for pair in estimator_checks_generator(
            estimator, expected_failed_checks=expected, mark="xfail"
        ):
            check = getattr(pair, "values", pair)[1]
            if k == 0 or OF_TARGETS.search(check.func.__name__):
                yield pair


def name_of(value):
    return value.func.__name__ if hasattr(value, "func") else type(value).__name__
