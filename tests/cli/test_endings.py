"""A file is written as what its name ends in, or refused before any work begins."""

import pytest


@pytest.mark.parametrize(
    "words",
    [
        ("benchmark", "-t", "accidents", "-o", "bench.xlsx"),
        ("fit", "-t", "accidents", "-o", "model.json"),
        ("report", "-t", "accidents", "-o", "report.pdf"),
        ("report", "-t", "accidents", "--model", "model.csv"),
    ],
)
def test_endings_that_a_verb_cannot_write_are_refused_before_the_table_is_read(refused, words):
    verb, *more = words
    assert "no format that can be written here" in refused(verb, "no-such-table.csv", *more)


def test_predictions_and_trees_are_refused_under_another_format_too(cli, refused, claims):
    model = "model.cw"
    cli("fit", claims, "-t", "accidents", "-l", "tree", "--set", "max_depth=2", "-o", model)
    assert "its name ends in '.png'" in refused("predict", model, claims, "-o", "p.png")
    assert "known: '.json'" in refused("condense", model, "-o", "tree.svg")
    assert cli("condense", model).code == 0
    assert "known: '.onnx'" in refused("export", "tree.json", "--to", "onnx", "-o", "tree.svg")


def test_every_verb_says_how_many_rows_it_leaves_out(cli, claims):
    lines = claims.read_text().splitlines()
    place = lines[0].split(",").index("accidents")
    for k in (1, 2, 3):
        cells = lines[k].split(",")
        cells[place] = ""
        lines[k] = ",".join(cells)
    claims.write_text("\n".join(lines) + "\n")
    said = "note: 3 rows without 'accidents' left out"
    fitted = cli("fit", claims, "-t", "accidents", "-l", "tree", "-o", "short.cw")
    assert said in fitted.err
    measured = ("explain", "importance", "short.cw", claims, "--kind", "permutation")
    assert said in cli(*measured).err
    assert said in cli("evaluate", "short.cw", claims).err
    # what needs no outcome takes all rows
    for question, *more in (("importance",), ("effect", "age"), ("shapley",)):
        answer = cli("explain", question, "short.cw", claims, *more)
        assert (answer.code, answer.err) == (0, "")
