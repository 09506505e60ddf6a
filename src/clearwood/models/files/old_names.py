"""Names that classes had in model files of earlier versions, and those that they have now."""

import json
import re

from clearwood.files import to_json

__all__ = ["RENAMED", "with_current_names"]


def _moved(old: str, new: str, classes: str) -> dict[str, str]:
    return {
        f"clearwood.models.{old}.{name}": f"clearwood.models.{new}.{name}"
        for name in classes.split()
    }


#: A class that moves or gets another name is added here with its old one, once and for all.
RENAMED = {
    **_moved("estimators.capped", "shared.wrappers", "Capped WeightedCapped"),
    **_moved(
        "estimators.discriminant", "catalogue.discriminant.estimators", "RegularisedDiscriminant"
    ),
    **_moved("estimators.folds", "shared.folds", "Folds"),
    **_moved("estimators.hyperplane", "catalogue.discriminant.estimators", "SeparatingHyperplane"),
    **_moved(
        "estimators.kernel_ridge", "catalogue.kernel_machines.kernel_ridge", "LandmarkKernelRidge"
    ),
    **_moved("estimators.local", "catalogue.neighbours.local", "LocalRegressor"),
    **_moved("estimators.log_linear", "catalogue.glm.log_linear", "LogLinear"),
    **_moved("estimators.logistic", "catalogue.glm.logistic", "Logistic"),
    **_moved("estimators.membership", "catalogue.neighbours.local", "Membership"),
    **_moved(
        "estimators.natural_spline",
        "catalogue.spline.natural_spline",
        "NaturalSpline SplinePipeline",
    ),
    **_moved("estimators.ordered", "catalogue.glm.ordinal", "OrderedRegression"),
    **_moved(
        "estimators.quiet_ebm",
        "catalogue.boosting.quiet_ebm",
        "QuietEBMClassifier QuietEBMRegressor",
    ),
    **_moved(
        "estimators.rare_classes",
        "catalogue.discriminant.estimators",
        "LinearDiscriminant QuadraticDiscriminant",
    ),
    **_moved(
        "estimators.simplex", "catalogue.stacking.simplex", "SimplexClassifier SimplexRegressor"
    ),
    **_moved("estimators.stagewise", "catalogue.linear.stepwise", "StagewiseRegressor"),
    **_moved("estimators.standardised_target", "shared.wrappers", "StandardisedTarget"),
    **_moved("estimators.stepwise", "catalogue.linear.stepwise", "StepwiseLars StepwiseOMP"),
    **_moved("estimators.subset", "catalogue.linear.subset", "SubsetRegressor"),
    **_moved(
        "glassbox.bayes.estimators",
        "catalogue.bayes.estimators",
        "BayesClassifier BayesPoisson BayesRegressor",
    ),
    **_moved(
        "glassbox.cart.estimators", "catalogue.trees.estimators", "CartClassifier CartRegressor"
    ),
    **_moved("glassbox.cart.tree", "catalogue.trees.tree", "CartTree"),
    **_moved("glassbox.gam.bases", "catalogue.gam.bases", "Beyond LevelBasis SplineBasis"),
    **_moved("glassbox.gam.estimators", "catalogue.gam.estimators", "GamClassifier GamRegressor"),
    **_moved(
        "glassbox.glass.estimators", "catalogue.glass.estimators", "GlassClassifier GlassRegressor"
    ),
    **_moved(
        "glassbox.hme.estimators",
        "catalogue.hme.estimators",
        "HmeClassifier HmePoisson HmeRegressor",
    ),
    **_moved(
        "glassbox.isle.estimators",
        "catalogue.isle.estimators",
        "IsleClassifier IslePoisson IsleRegressor",
    ),
    **_moved("glassbox.mars.bases", "catalogue.mars.terms", "Hinge InLevels IsMissing Stacked"),
    **_moved(
        "glassbox.mars.estimators",
        "catalogue.mars.estimators",
        "MarsClassifier MarsPoisson MarsRegressor",
    ),
    **_moved(
        "glassbox.planted.estimators",
        "catalogue.planted.estimators",
        "PlantedClassifier PlantedPoisson PlantedRegressor",
    ),
    **_moved("glassbox.planted.leaves", "catalogue.planted.estimators", "Steps"),
    **_moved(
        "glassbox.prim.estimators",
        "catalogue.prim.estimators",
        "PrimClassifier PrimPoisson PrimRegressor",
    ),
    **_moved("glassbox.rules.conditions", "shared.conditions", "Among Between Line Rule"),
    **_moved(
        "glassbox.rules.estimators",
        "catalogue.rules.estimators",
        "RulesClassifier RulesPoisson RulesRegressor",
    ),
    **_moved(
        "glassbox.score", "shared.score", "ProductTerm ScoreParts Spread SumOfProducts TreeArrays"
    ),
    **_moved("glassbox.scorecard.bands", "catalogue.scorecard.bands", "Bands"),
    **_moved(
        "glassbox.scorecard.estimators", "catalogue.scorecard.estimators", "ScorecardClassifier"
    ),
    **_moved(
        "networks.estimators",
        "catalogue.network.estimators",
        "CnnClassifier CnnRegressor NetworkClassifier "
        "NetworkRegressor TransformerClassifier TransformerRegressor",
    ),
}

_OLD = re.compile(
    "|".join(sorted({re.escape(name.rpartition(".")[0]) for name in RENAMED})).encode()
)


def with_current_names(schema: bytes) -> bytes:
    """Return the description of a stored estimator with the names that its classes have now.

    Only the names listed above change, and what comes out is audited like any other description.
    """
    if not _OLD.search(schema):
        return schema
    root = to_json(schema, member="the model's description")
    left = [root]
    while left:
        node = left.pop()
        if isinstance(node, list):
            left += node
        elif isinstance(node, dict):
            left += node.values()
            module, _, name = RENAMED.get(
                f"{node.get('__module__')}.{node.get('__class__')}", ""
            ).rpartition(".")
            if name:
                node["__module__"], node["__class__"] = module, name
    return json.dumps(root, separators=(",", ":")).encode("utf-8")
