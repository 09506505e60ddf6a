"""What ``select=`` says."""

import pytest

from clearwood import InputError
from clearwood.models import SELECTIONS, read_selection, with_number


@pytest.mark.parametrize("name", SELECTIONS)
def test_every_method_is_read_by_its_name_and_its_example(name):
    assert read_selection(name).n is None
    assert read_selection(SELECTIONS[name].example).method.name == name


def test_number_and_options_come_in_any_order():
    one, other = read_selection("relief: 5, neighbours=7"), read_selection("relief:neighbours=7,5")
    assert (one.n, one.options) == (other.n, other.options) == (5, {"neighbours": 7})


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("anvoa:3", r"'anvoa' is not a known value.*did you mean 'anova'"),
        ("", "is not a known value"),
        (3, "it is not the name of a method"),
        ("anova:0", "'0' is not a number of columns"),
        ("anova:-2", "'-2' is not a number of columns"),
        ("anova:2.5", "'2.5' is not a number of columns"),
        ("boruta:5", "decides itself how many.*rounds=50"),
        ("knockoffs:0.1", "decides itself how many.*fdr=0.2"),
        ("knockoffs:fdr=1.5", r"'fdr' must be a number between 0 and 1.*knockoffs:fdr=0\.2'"),
        ("knockoffs:fdr=nan", "'fdr' must be"),
        ("stability:thresh=0.9", r"has no option 'thresh'.*errors=1, threshold=0.9"),
        ("stability:threshold=0.4", "'threshold' must be a number between 0.5 and 1"),
        ("relief:neighbours=0", "'neighbours' must be a whole number, 1 or more"),
        ("anova:k=3", r"'anova' has no option 'k'.*has no options"),
    ],
)
def test_requests_that_make_no_sense_are_refused_by_name(text, message):
    with pytest.raises(InputError, match=message) as error:
        read_selection(text)
    assert error.value.parameter == "select"
    assert error.value.hint is not None


def test_another_number_keeps_the_options():
    assert with_number("relief:5,neighbours=20", 8) == "relief:8,neighbours=20"
    assert with_number("anova", 3) == "anova:3"


def test_half_of_the_columns_and_at_most_ten_without_a_number():
    spec = read_selection("anova")
    assert [spec.count(n) for n in (1, 2, 7, 50)] == [1, 1, 3, 10]
