"""Folders of files on the command line."""

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import clearwood as cw


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
    table = cw.read(folder, target="y", parts=True).to_table()
    file = tmp_path / "model.cw"
    cw.save(cw.learner("gbm", max_iter=10).fit(table), file)
    return file


def test_predictions_of_a_folder_go_to_a_folder(cli, folder, model, tmp_path):
    out = tmp_path / "predictions"
    result = cli("predict", str(model), str(folder), "-o", str(out))
    assert result.code == 0, result.err
    assert "Wrote predictions of 600 rows" in " ".join((result.out + result.err).split())
    table = cw.read(folder, target="y", parts=True).to_table()
    expected = cw.load(model).predict(table)
    np.testing.assert_array_equal(pq.read_table(out)["prediction"].to_numpy(), expected)
    again = cli("predict", str(model), str(folder), "-o", str(out))
    assert again.code == 2
    assert "--force" in again.err


def test_predictions_of_a_folder_need_a_folder(cli, folder, model):
    result = cli("predict", str(model), str(folder))
    assert result.code == 2
    assert "-o predictions/" in result.err


def test_shapley_values_of_a_folder_are_written_with_a_ledger(cli, folder, model, tmp_path):
    out, ledger = tmp_path / "values", tmp_path / "run.ledger"
    command = ["explain", "shapley", str(model), str(folder), "--to", str(out)]
    result = cli(*command, "--ledger", str(ledger), "--json")
    assert result.code == 0, result.err
    assert result.json["rows"] == 600
    again = cli(*command, "--ledger", str(ledger), "--json")
    assert again.json["work"]["resumed"] == 3


def test_importance_is_measured_over_all_rows_of_a_folder(cli, folder, model):
    result = cli("explain", "importance", str(model), str(folder), "--json")
    assert result.code == 0, result.err
    assert result.json["rows"] == 600


def test_ledgers_and_schedulers_are_for_folders(cli, model, folder, tmp_path):
    file = folder / "0.parquet"
    result = cli("predict", str(model), str(file), "--ledger", str(tmp_path / "x"))
    assert result.code == 2
    assert "--ledger is for a table in parts" in result.err


def test_a_scheduler_that_is_not_there_is_named(cli, model, folder, tmp_path):
    pytest.importorskip("distributed")
    out = str(tmp_path / "out")
    address = "tcp://127.0.0.1:9"
    result = cli("predict", str(model), str(folder), "-o", out, "--scheduler", address)
    assert result.code == 2
    assert "no Dask scheduler at 'tcp://127.0.0.1:9'" in " ".join((result.out + result.err).split())
