"""Folders of files on the command line."""

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import clearwood as cw
from clearwood.cli.verbs.explain import decomposition
from clearwood.files import atomic_write


@pytest.fixture
def folder(tmp_path):
    rng = np.random.default_rng(0)
    rows = tmp_path / "rows"
    rows.mkdir()
    for k, size in enumerate((300, 120, 180)):
        x = rng.normal(size=(size, 3))
        columns = {"a": x[:, 0], "b": x[:, 1], "c": x[:, 2], "y": x[:, 0] * x[:, 1] + x[:, 2]}
        pq.write_table(pa.table(columns), rows / f"{k}.parquet")
    return rows


@pytest.fixture
def model(folder, tmp_path):
    table = cw.scan(folder, target="y").to_table()
    file = tmp_path / "model.cw"
    cw.save(cw.learner("gbm", max_iter=10).fit(table), file)
    return file


def test_predictions_of_a_folder_go_to_a_folder(cli, folder, model, tmp_path):
    out = tmp_path / "predictions"
    result = cli("predict", str(model), str(folder), "--scan", "-o", str(out))
    assert result.code == 0, result.err
    assert "Wrote predictions of 600 rows" in " ".join((result.out + result.err).split())
    table = cw.scan(folder, target="y").to_table()
    expected = cw.load(model).predict(table)
    np.testing.assert_array_equal(pq.read_table(out)["prediction"].to_numpy(), expected)
    again = cli("predict", str(model), str(folder), "--scan", "-o", str(out))
    assert again.code == 2
    assert "--force" in again.err


@pytest.mark.parametrize("ledger", [[], ["--ledger", "run.ledger"]], ids=["alone", "ledger"])
def test_ctrl_c_says_what_is_written_and_how_to_go_on(
    cli, folder, model, tmp_path, monkeypatch, ledger
):
    command = ["predict", str(model), str(folder), "--scan", *ledger]
    assert cli(*command, "-o", "undisturbed").code == 0
    begun = []

    def second_stops(path, **options):
        begun.append(path)
        if len(begun) == 2:
            raise KeyboardInterrupt
        return atomic_write(path, **options)

    monkeypatch.setattr("clearwood.parallel.writing.atomic_write", second_stops)
    stopped = cli(*command, "-o", "stopped")
    assert stopped.code == 130
    assert stopped.err.endswith("stopped; already written: stopped\n")
    files = [path.name for path in (tmp_path / "stopped").iterdir()]
    assert files == [begun[0].name]
    if not ledger:
        assert "with --ledger FILE, finished parts are kept" in stopped.err
        return
    assert "finished parts are in run.ledger; the same command continues" in stopped.err
    assert cli(*command, "-o", "stopped").code == 0
    assert len(begun) == 4
    for file in (tmp_path / "undisturbed").iterdir():
        assert (tmp_path / "stopped" / file.name).read_bytes() == file.read_bytes()


def test_predictions_of_a_folder_need_a_folder(cli, folder, model):
    result = cli("predict", str(model), str(folder), "--scan")
    assert result.code == 2
    assert "-o predictions/" in result.err


def test_shapley_values_of_a_folder_are_written_with_a_ledger(cli, folder, model, tmp_path):
    out, ledger = tmp_path / "values", tmp_path / "run.ledger"
    command = ["explain", "shapley", str(model), str(folder), "--scan", "--to", str(out)]
    result = cli(*command, "--ledger", str(ledger), "--json")
    assert result.code == 0, result.err
    assert result.json["rows"] == 600
    again = cli(*command, "--ledger", str(ledger), "--json")
    assert again.json["work"]["resumed"] == 3


def test_values_over_a_drawn_background_are_written_with_standard_errors(
    cli, folder, model, tmp_path
):
    command = [
        "explain",
        "shapley",
        str(model),
        str(folder),
        "--scan",
        "--to",
        str(tmp_path / "values"),
    ]
    result = cli(*command, "--n-background", "60", "--seed", "3", "--json")
    assert result.code == 0, result.err
    background = result.json["about"]["background"]
    assert (background["drawn_from"], background["seed"]) == (600, 3)
    names = pq.read_schema(tmp_path / "values" / result.json["files"][0]).names
    assert "a standard error" in names
    shown = cli(*command, "--n-background", "60", "--seed", "3", "--force")
    assert "60 rows drawn from 600 (seed 3)" in " ".join(shown.out.split())


def test_a_folder_is_explained_with_shapley_values_of_its_first_rows(
    cli, folder, model, tmp_path, monkeypatch
):
    monkeypatch.setattr(decomposition, "_ROWS_OF_PARTS", 40)
    result = cli(
        "explain", str(model), str(folder), "--scan", "-o", str(tmp_path / "why"), "--json"
    )
    assert result.code == 0, result.err
    assert (result.json["background_rows"], result.json["explained_rows"]) == (600, 40)
    assert "the first 40 of 600 rows" in result.err
    assert "clearwood explain shapley MODEL DATA --to FOLDER" in " ".join(result.err.split())


def test_importance_is_measured_over_all_rows_of_a_folder(cli, folder, model):
    result = cli("explain", "importance", str(model), str(folder), "--scan", "--json")
    assert result.code == 0, result.err
    assert result.json["rows"] == 600


def test_ledgers_and_schedulers_are_for_folders(cli, model, folder, tmp_path):
    file = folder / "0.parquet"
    result = cli("predict", str(model), str(file), "--ledger", str(tmp_path / "x"))
    assert result.code == 2
    assert "--ledger is for a table in parts" in result.err


@pytest.fixture
def impatient():
    """Dask waits a second for a scheduler instead of ten."""
    dask = pytest.importorskip("dask")
    pytest.importorskip("distributed")
    with dask.config.set({"distributed.comm.timeouts.connect": "1s"}):
        yield


def test_drawn_rows_follow_the_seed(cli, folder, model):
    for data in (folder, folder / "0.parquet"):
        command = ["explain", "importance", str(model), str(data), "--draw-rows", "50", "--json"]
        first, same, other = (
            cli(*command, "--seed", seed).json["columns"] for seed in ("1", "1", "2")
        )
        assert first == same != other
    one, two = (cw.read(folder, target="y", draw_rows=50, seed=seed) for seed in (1, 2))
    assert list(one["a"].values) != list(two["a"].values)
    assert one.options == {"target": "y", "draw_rows": 50, "seed": 1}


@pytest.mark.usefixtures("impatient")
def test_a_scheduler_that_is_not_there_is_named(cli, model, folder, tmp_path):
    out = str(tmp_path / "out")
    address = "tcp://127.0.0.1:9"
    result = cli("predict", str(model), str(folder), "--scan", "-o", out, "--scheduler", address)
    assert result.code == 2
    assert "no Dask scheduler at 'tcp://127.0.0.1:9'" in " ".join((result.out + result.err).split())


@pytest.mark.parametrize("learner", ["lightgbm", "ridge"])
def test_a_folder_is_fitted_in_parts(cli, folder, tmp_path, learner):
    out = tmp_path / "fitted.cw"
    command = ["fit", str(folder), "--target", "y", "--learner", learner, "--scan", "-o", str(out)]
    trees = ["--set", "n_estimators=5", "--checkpoint", str(tmp_path / "fit.json")]
    result = cli(*command, *(trees if learner == "lightgbm" else []), "--json")
    assert result.code == 0, result.err
    assert result.json["rows"] == 600
    assert not (tmp_path / "fit.json").exists()
    assert len(cw.load(out).predict(cw.read(folder / "0.parquet", target="y"))) == 300


def test_a_learner_that_needs_all_rows_is_refused_with_those_that_do_not(cli, folder, tmp_path):
    out = str(tmp_path / "fitted.cw")
    result = cli("fit", str(folder), "--target", "y", "--learner", "gam", "--scan", "-o", out)
    assert result.code == 2
    assert "'lightgbm', 'xgboost'" in " ".join(result.err.split())


def test_a_learner_that_needs_rows_is_fitted_to_rows_that_are_drawn(cli, folder, tmp_path):
    out = tmp_path / "fitted.cw"
    command = ["fit", str(folder), "--target", "y", "--learner", "tree", "-o", str(out)]
    refused = cli(*command, "--scan")
    assert refused.code == 2
    assert "sample of the rows, --draw-rows 200000" in " ".join(refused.err.split())
    assert "into memory, without --scan." in " ".join(refused.err.split())
    assert cli(*command, "--scan", "--draw-rows", "100", "--json").json["rows"] == 100
    drawn = cw.scan(folder, target="y").sample(100)
    new = cw.read(folder, target="y", draw_rows=100)
    assert new.fingerprint() == drawn.fingerprint()
    expected = cw.learner("tree").fit(drawn).predict(drawn)
    np.testing.assert_array_equal(cw.load(out).predict(drawn), expected)
    answer = cli(*command, "--draw-rows", "0")
    assert answer.code == 2
    assert "--draw-rows" in answer.err


def test_a_model_is_evaluated_on_a_folder(cli, folder, model, tmp_path):
    ledger = tmp_path / "run"
    command = ["evaluate", str(model), str(folder), "--scan", "--sample", "200"]
    answer = cli(*command, "--ledger", str(ledger), "--json")
    assert answer.code == 0, answer.err
    assert answer.json["in_parts"]["n_parts"] == 3
    assert (answer.json["rows"], answer.json["in_parts"]["n_sampled"]) == (600, 200)
    table = cw.read(folder, target="y")
    whole = cw.evaluate(model, table).risk().estimate
    assert answer.json["risk"]["estimate"] == pytest.approx(whole, rel=1e-12)
    text = cli(*command, "--ledger", str(ledger)).out
    assert "600 rows in 3 parts" in " ".join(text.split())
    assert "a sample of 200 of 600 rows (seed 0)" in " ".join(text.split())
    refused = cli("evaluate", str(model), str(folder / "0.parquet"), "--ledger", str(ledger))
    assert refused.code == 2
    assert "--ledger is for a table in parts" in refused.err


def test_weights_that_cannot_be_used_are_not_ignored(cli, folder, tmp_path):
    for path in folder.iterdir():
        table = pq.read_table(path)
        pq.write_table(table.append_column("w", pa.array(np.ones(len(table)))), path)
    file = tmp_path / "weighted.cw"
    cw.save(cw.learner("ols").fit(cw.read(folder, target="y", weight="w")), file)
    table = pq.read_table(folder / "2.parquet")
    table = table.set_column(4, "w", pa.array(-np.ones(len(table))))
    pq.write_table(table, folder / "2.parquet")
    answer = cli("explain", "importance", str(file), str(folder), "--scan")
    assert answer.code == 2
    assert "weight 'w' is negative" in " ".join(answer.err.split())


@pytest.mark.usefixtures("impatient")
def test_a_fit_names_the_scheduler_that_is_not_there(cli, folder, tmp_path):
    result = cli(
        *("fit", str(folder), "--target", "y", "--learner", "lightgbm"),
        *("-o", str(tmp_path / "fitted.cw"), "--scheduler", "tcp://127.0.0.1:9"),
    )
    assert result.code == 2
    assert "no Dask scheduler at 'tcp://127.0.0.1:9'" in " ".join(result.err.split())


@pytest.mark.long
# what Dask leaves behind when its connections end
@pytest.mark.filterwarnings("ignore::RuntimeWarning", "ignore::ResourceWarning")
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
def test_a_cluster_fits_predicts_and_explains(cli, folder, model, tmp_path):
    distributed = pytest.importorskip("distributed")
    with distributed.LocalCluster(
        n_workers=2,
        threads_per_worker=1,
        processes=False,
        dashboard_address=":0",
        local_directory=str(tmp_path / "dask"),
    ) as cluster:
        where = ["--scheduler", cluster.scheduler_address, "--json"]
        out = tmp_path / "fitted.cw"
        fit = ["fit", str(folder), "--target", "y", "--learner", "xgboost"]
        result = cli(*fit, "--set", "n_estimators=5", "-o", str(out), *where)
        assert result.code == 0, result.err
        assert result.json["rows"] == 600
        result = cli(
            "predict", str(out), str(folder), "--scan", "-o", str(tmp_path / "predicted"), *where
        )
        assert result.code == 0, result.err
        assert result.json["work"]["place"] == "on a Dask cluster"
        values = str(tmp_path / "values")
        result = cli(
            "explain", "shapley", str(model), str(folder), "--scan", "--to", values, *where
        )
        assert result.code == 0, result.err
        assert result.json["work"]["workers"] == 2
