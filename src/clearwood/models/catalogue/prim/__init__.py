"""The patient rule induction method."""

from clearwood.models.entries.builders import NUMBERS, own_builder, types_in
from clearwood.models.entries.entry import Entry, Real, Whole
from clearwood.table import Task

__all__ = ["ENTRIES"]

ENTRIES = (
    Entry(
        name="prim",
        title="PRIM: a few boxes, each a rule, in which the target is high (or low)",
        family="tree",
        tasks=NUMBERS | {Task.BINARY},
        reading="glass box",
        source="clearwood PrimRegressor, PrimPoisson, PrimClassifier",
        described_in="Friedman and Fisher (1999); Hastie, Tibshirani and Friedman (2009), 9.3",
        loss="none over all rows: the mean of the target in a box",
        estimates="mean; probability",
        advice="Take it to find and describe the rows with the highest (or lowest) values, such as "
        "the claims or patients at most risk, by rules with honest means: each mean is from rows "
        "that took no part in finding its box. As a prediction for all rows it is coarse; 'tree' "
        "or 'rules' predict better.",
        reads="Each box is a rule with its share of the rows and an honest mean "
        "(cw.models.equation); its picture is the trajectory of the search.",
        build=own_builder("clearwood.models.catalogue.prim.estimators.Prim"),
        saved_types=types_in(__name__, estimators="PrimClassifier PrimPoisson PrimRegressor"),
        defaults={
            "direction": "high",
            "boxes": 3,
            "alpha": 0.05,
            "min_support": 0.05,
            "pasting": True,
            "held_out": 0.5,
        },
        space={"boxes": Whole(1, 6), "min_support": Real(0.02, 0.3, log=True)},
        categories="native",
        missing="native",
        complexity=3,
        page="prim",
        listing="boxes",
    ),
)
