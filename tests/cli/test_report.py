"""`clearwood report`: from a table, or a model and a table, to one page."""

from pathlib import Path

import pytest

import clearwood as cw
from clearwood.files import container


def words(claims, *more):
    return ("report", claims, "--target", "accidents", "-l", "baseline,glm", "--quick", *more)


@pytest.fixture
def model(claims):
    table = cw.read(claims, target="accidents")
    cw.save(cw.learner("glm").fit(table), "model.cw")
    return Path("model.cw")


def test_a_table_becomes_a_page_and_a_model(cli, claims):
    answer = cli(*words(claims, "-o", "page.html", "--model", "best.cw", "--title", "Claims"))
    assert answer.code == 0, answer.err
    assert max(len(line) for line in answer.out.splitlines() if "file://" not in line) <= 80
    assert "glm" in answer.out
    assert Path("page.html").absolute().as_uri() in answer.out
    page = Path("page.html").read_text(encoding="utf-8")
    assert "<title>Claims" in page
    assert "accidents" in page
    assert cw.load("best.cw").name in {"glm", "baseline"}


@pytest.mark.filterwarnings("ignore:.*predictions are too low:clearwood.ClearwoodWarning")
def test_the_same_command_goes_on_from_its_store_and_stands_on_the_page(cli, claims):
    table = cw.read(claims, target="accidents")
    cw.benchmark(table, ["baseline", "glm"], tune=0, interval="hold-out", store="runs.db")
    command = [str(word) for word in words(claims, "--store", "runs.db", "--json")]
    document = cli(*command).json
    assert document["report"] == "report.html"
    assert document["bytes"] == Path("report.html").stat().st_size
    assert {"summary", "data"} <= set(document["sections"])
    assert {one["learner"] for one in document["benchmark"]["learners"]} == {"baseline", "glm"}
    assert "--target accidents" in Path("report.html").read_text(encoding="utf-8")


def test_a_model_that_exists_is_explained_with_its_table(cli, claims, model):
    answer = cli("report", model, claims, "--quick", "--json")
    assert answer.code == 0, answer.err
    assert answer.json["benchmark"] is None
    assert Path("report.html").stat().st_size > 0


def test_a_model_file_is_read_once_and_nothing_is_fitted_or_saved(cli, claims, model, monkeypatch):
    done = []

    def counted(owner, name):
        work = getattr(owner, name)

        def count(*args, **options):
            done.append(name)
            return work(*args, **options)

        monkeypatch.setattr(owner, name, count)

    counted(container, "_read")
    counted(container, "write")
    counted(cw.Learner, "fit")
    assert cli("report", model, claims, "--quick").code == 0
    assert done == ["_read"]


def test_what_cannot_be_used_is_refused_before_any_work(cli, refused, claims, model):
    said = refused("report", claims)
    assert "--target is missing" in said
    assert "DATA is missing" in refused("report", model)
    assert "--learners is for a report on a table" in refused("report", model, claims, "-l", "glm")
    assert "--tune is for a report on a table" in refused("report", model, claims, "--tune", "3")
    assert "acidents" in refused("report", claims, "--target", "acidents")
    assert "did you mean 'glm'" in refused("report", claims, "-t", "accidents", "-l", "glmm")
    Path("report.html").write_text("mine")
    assert "exists already" in refused(*words(claims))
    assert Path("report.html").read_text() == "mine"
    assert "is both an input and the output" in refused(*words(claims, "-o", claims, "--force"))


def test_data_that_lack_a_column_are_refused_by_its_name(refused, claims, model):
    lines = claims.read_text().splitlines()
    names = lines[0].split(",")
    gone = names.index("age")
    short = Path("short.csv")
    short.write_text(
        "\n".join(",".join(c for i, c in enumerate(line.split(",")) if i != gone) for line in lines)
    )
    assert "'age'" in refused("report", model, short, "--quick")


def test_a_stop_leaves_no_half_page(cli, claims, monkeypatch):
    def stop(*args, **options):
        raise KeyboardInterrupt

    monkeypatch.setattr("clearwood.reporting.build.collect", stop)
    answer = cli(*words(claims))
    assert answer.code == 130
    assert "with --store FILE, finished fits are kept" in answer.err
    kept = cli(*words(claims, "--store", "runs.db"))
    assert "finished fits are in runs.db; the same command continues" in kept.err
    assert not Path("report.html").exists()


def test_held_out_rows_are_read_before_the_comparison(refused, claims, monkeypatch):
    def compare(*args, **options):
        raise AssertionError("the comparison began")

    monkeypatch.setattr("clearwood.reporting.build.compare", compare)
    Path("later.csv").write_text("power,region,accidents\n" + "90.0,north,1\n" * 9)
    assert "'age'" in refused(*words(claims, "--test", "later.csv"))


def test_test_rows_are_scored_and_what_contradicts_is_printed(cli, claims, model):
    said = cli("report", model, claims, "--test", claims, "--quick")
    assert "test rows" in said.out
    assert "Caution" not in said.out  # without a benchmark, there is nothing to contradict
    header, *lines = claims.read_text().splitlines()
    place = header.split(",").index("accidents")
    many = [line.split(",") for line in lines]
    for cells in many:
        cells[place] = str(5 + 3 * (int(float(cells[place])) == 0))
    Path("other.csv").write_text("\n".join([header, *(",".join(cells) for cells in many)]))
    answer = cli(*words(claims, "--test", "other.csv", "--sections", "summary,cautions", "--force"))
    assert answer.code == 0, answer.err
    folded = " ".join(answer.out.split())
    assert "Caution: The test rows are predicted worse than rows not used for fitting." in folded
    document = cli(
        *words(claims, "--test", "other.csv", "--sections", "summary", "--json", "--force")
    ).json
    assert document["test_contradicts"] is True
    assert document["test"]["risk"]["low"] > document["performance"]["risk"]["high"]
    assert document["cautions"][0]["severity"] == "high"
