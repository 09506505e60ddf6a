"""Trees grown on the workers of a Dask cluster: nearly the model of the table, whoever is lost."""

import os
import signal
from pathlib import Path

import joblib
import numpy as np
import pytest
from rows_in_parts import both, frame
from sklearn.base import clone

import clearwood as cw
from clearwood.models import streaming
from clearwood.models.over_parts import on_cluster

distributed = pytest.importorskip("distributed")

pytestmark = [
    pytest.mark.long,
    pytest.mark.skipif(os.name == "nt", reason="signals"),
    # what Dask leaves behind when a worker is killed
    pytest.mark.filterwarnings("ignore::RuntimeWarning", "ignore::ResourceWarning"),
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
]


@pytest.fixture(scope="module")
def client(tmp_path_factory):
    with (
        distributed.LocalCluster(
            n_workers=3,  # one is lost
            threads_per_worker=1,
            dashboard_address=":0",  # any free port, as other tests may have a cluster meanwhile
            local_directory=str(tmp_path_factory.mktemp("dask")),
        ) as cluster,
        distributed.Client(cluster) as connected,
        joblib.parallel_config(backend="dask"),
    ):
        yield connected


class _Loss:
    """Kills a worker that has rows once trees are kept, and no process is far ahead of that."""

    def __init__(self, patch, client, folder):
        self.killed = None
        self.began = []
        self.places = set()
        patch.setattr(streaming, "SLICE", 20)
        patch.setattr(on_cluster, "_WAIT", 1.0)  # the two workers that are left go on alone
        patch.setattr(on_cluster, "_grow", _growing_no_further(40, folder / "a worker is lost"))
        save, run = streaming._Checkpoint.save, on_cluster.RowsOnCluster._run

        def saved(checkpoint, rounds, written):
            save(checkpoint, rounds, written)
            if self.killed is None:
                self.killed = client.run(os.getpid)[min(self.places)]
                os.kill(self.killed, signal.SIGKILL)
                (folder / "a worker is lost").touch()

        def begun(rows, growing, on_event):
            self.began.append(0 if growing.grown is None else growing.grown.rounds)
            self.places = set(rows._where.values())
            run(rows, growing, on_event)

        patch.setattr(streaming._Checkpoint, "save", saved)
        patch.setattr(on_cluster.RowsOnCluster, "_run", begun)


def _growing_no_further(most, go_on):
    """Grow trees, but no more than so many before a file is there."""

    def grow(member, report):  # in the processes, which cannot import this module
        import time

        from clearwood.models.over_parts import on_cluster

        def reported(event):
            report(event)
            while event["round"] == most and not go_on.exists():
                time.sleep(0.05)

        on_cluster._grow(member, reported)

    return grow


def _trees(learner):
    booster = learner.estimator_._Booster
    return booster.num_trees() if learner.name == "lightgbm" else booster.num_boosted_rounds()


# without random columns, so that the fits before and after the loss are those of one fit
@pytest.mark.parametrize(
    ("name", "settings"),
    [
        ("lightgbm", {"n_estimators": 100, "learning_rate": 0.1, "colsample_bynode": 1.0}),
        ("xgboost", {"n_estimators": 100, "learning_rate": 0.1, "colsample_bynode": 1.0}),
    ],
)
def test_a_fit_goes_on_when_a_worker_is_lost_and_is_as_good(
    client, monkeypatch, tmp_path, name, settings
):
    client.wait_for_workers(2)  # the one that was lost before may still be starting again
    loss = _Loss(monkeypatch, client, tmp_path)
    table, parts = both("number", n=4000, pieces=5, weight="weight")
    new = cw.read(frame(4000, seed=1), target="number", ignore=["yes", "class", "count", "weight"])
    learner = cw.learner(name, **settings)
    whole = clone(learner).fit(table)
    path = tmp_path / "fit.json"
    learner.fit(parts, distributed=True, checkpoint=path)
    assert loss.killed is not None
    assert loss.began[0] == 0
    assert loss.began[-1] in {20, 40}
    assert _trees(learner) == settings["n_estimators"]
    risks = [np.mean((one.predict(new) - new.y) ** 2) for one in (whole, learner)]
    assert risks[1] <= 1.005 * risks[0]
    assert not path.exists()
    for worker in client.scheduler_info()["workers"].values():
        assert not list(Path(worker["local_directory"]).glob("clearwood-*"))


def test_bins_that_do_not_fit_go_to_the_cluster(client, monkeypatch):
    _, parts = both("number")

    def placed(rows):
        raise InterruptedError

    monkeypatch.setattr(on_cluster.RowsOnCluster, "place", placed)
    cw.learner("lightgbm", n_estimators=3).fit(parts)
    monkeypatch.setattr(streaming, "free_memory", lambda: 1000)
    with pytest.raises(InterruptedError):
        cw.learner("lightgbm", n_estimators=3).fit(parts)
    cw.learner("lightgbm", n_estimators=3).fit(parts, distributed=False)


def test_a_part_that_cannot_be_read_is_named(client):
    _, parts = both("number")
    del parts.parts[2].rows.frame["a"]
    with pytest.raises(cw.InputError, match=r"'frame 3', failed 4 times.*column 'a'"):
        cw.learner("lightgbm", n_estimators=3).fit(parts, distributed=True)


def test_a_process_that_always_fails_ends_the_fit_with_its_reason(client, monkeypatch):
    monkeypatch.setattr(on_cluster, "_TRIES", 1)
    _, parts = both("number")

    class Broken:
        bin_rows = 0

        def fit(self, *_, **__):
            raise RuntimeError("no room for the bins")

    fit = on_cluster.RowsOnCluster.fit

    def broken(rows, *arguments, **options):
        rows._streams = Broken()
        return fit(rows, *arguments, **options)

    monkeypatch.setattr(on_cluster.RowsOnCluster, "fit", broken)
    with pytest.raises(cw.InputError, match=r"failed 1 time in a row.*no room for the bins"):
        cw.learner("lightgbm", n_estimators=3).fit(parts, distributed=True)
