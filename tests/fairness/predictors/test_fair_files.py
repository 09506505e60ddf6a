"""Fair models in files: saved and loaded without pickle."""

import json

import numpy as np
import pytest
from sklearn.linear_model import LinearRegression

import clearwood as cw
from clearwood import files
from clearwood.table import Table


@pytest.fixture(scope="module")
def policies() -> Table:
    return cw.datasets.insurance(600, seed=1, missing=0.05)


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"kind": "unaware"},
        {"kind": "parity"},
        {"by_group": True},
        {"distribution": {"male": 1, "female": 3}, "calibrate": "linear"},
        {"protected": ["gender", "age"]},
    ],
    ids=str,
)
def test_a_loaded_model_predicts_the_same_bits(policies, options, tmp_path):
    fair = cw.fair(cw.learner("gbm", max_iter=5).fit(policies), policies, **options)
    cw.save(fair, tmp_path / "fair.cw")
    again = cw.load(tmp_path / "fair.cw")
    rows = policies.select(fair.schema_.features)
    np.testing.assert_array_equal(fair.predict(rows), again.predict(rows))
    assert again.conditions == fair.conditions
    assert repr(again) == repr(fair)
    # it can be fitted and saved again
    cw.save(again, tmp_path / "again.cw")
    assert (tmp_path / "again.cw").read_bytes() == (tmp_path / "fair.cw").read_bytes()
    assert again.fit(policies).schema_.features == fair.schema_.features


def test_classes_and_foreign_estimators_are_kept(tmp_path):
    wine = cw.datasets.load("wine")
    fair = cw.fair(cw.learner("logistic").fit(wine), wine, protected=["alcohol"])
    cw.save(fair, tmp_path / "wine.cw")
    again = cw.load(tmp_path / "wine.cw")
    np.testing.assert_array_equal(fair.predict_proba(wine), again.predict_proba(wine))
    frame = wine.X.to_frame("pandas")
    model = LinearRegression().fit(frame, wine.target_column.values)
    plain = cw.read({**wine.X.to_dict(), "y": wine.target_column.values * 1.5}, target="y")
    other = cw.fair(model, plain, protected=["alcohol"])
    cw.save(other, tmp_path / "line.cw")
    np.testing.assert_array_equal(cw.load(tmp_path / "line.cw").predict(wine), other.predict(wine))


def test_a_file_is_described_without_running_it(policies, tmp_path):
    fair = cw.fair(cw.learner("glm").fit(policies), policies)
    cw.save(fair, tmp_path / "fair.cw")
    file = cw.inspect(tmp_path / "fair.cw")
    assert (file.kind, file.learner, file.trusted) == ("fair", "glm", True)
    assert file.title.endswith("free of 'gender', by averaging")
    assert "gender" not in [column.name for column in file.columns]


@pytest.mark.parametrize("member", ["fair.json", "models.json", "law/shares.npy"])
def test_a_file_that_lacks_a_part_is_refused(policies, tmp_path, member):
    cw.save(cw.fair(cw.learner("glm").fit(policies), policies), tmp_path / "fair.cw")
    archive = files.read(tmp_path / "fair.cw")
    rest = {name: data for name, data in archive.members.items() if name != member}
    files.write(tmp_path / "less.cw", archive.manifest, rest)
    with pytest.raises(cw.InputError, match="has no member"):
        cw.load(tmp_path / "less.cw")


@pytest.mark.parametrize(
    "change", [{"kind": "free "}, {"schema": {}}, {"task": 3}, {"law": {"columns": [1]}}], ids=str
)
def test_a_file_with_other_entries_is_refused(policies, tmp_path, change):
    cw.save(cw.fair(cw.learner("glm").fit(policies), policies), tmp_path / "fair.cw")
    archive = files.read(tmp_path / "fair.cw")
    altered = files.from_json({**json.loads(archive.raw("fair.json")), **change})
    files.write(tmp_path / "other.cw", archive.manifest, {**archive.members, "fair.json": altered})
    with pytest.raises(cw.InputError):
        cw.load(tmp_path / "other.cw")


def test_an_unfitted_fair_model_is_not_saved(tmp_path):
    with pytest.raises(cw.InputError, match=r"is not fitted yet. Hint: call its fit"):
        cw.save(cw.fairness.FairModel(cw.learner("glm"), protected="gender"), tmp_path / "fair.cw")
