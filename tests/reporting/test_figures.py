"""Charts made ready for the page."""

import altair as alt

from clearwood.reporting import Chart
from clearwood.reporting.page.figures import figure


def chart(spec, **options):
    return Chart("name", "Title", "words", spec, **options)


def test_title_and_subtitle_become_text_of_the_page():
    title = alt.TitleParams("In the drawing", subtitle=["500 rows", "scale: accidents"])
    spec = alt.Chart(alt.Data(values=[])).mark_point().properties(title=title).to_dict()
    made = figure(chart(spec))
    assert made.title == "Title"
    assert made.subtitle == ("500 rows", "scale: accidents")
    assert "title" not in made.data["spec"]


def test_a_title_of_words_alone_has_no_subtitle():
    assert figure(chart({"title": "words", "mark": "bar"})).subtitle == ()
    assert figure(chart({"title": {"text": "x", "subtitle": "one"}, "mark": "bar"})).subtitle == (
        "one",
    )


def test_settings_of_altair_give_way_to_the_pages():
    spec = alt.Chart(alt.Data(values=[])).mark_point().to_dict()
    assert "config" in spec
    assert not {"config", "$schema"} & figure(chart(spec)).data["spec"].keys()


def test_records_are_carried_by_column():
    values = [{"x": i, "y": str(i)} for i in range(3)]
    made = figure(chart({"data": {"values": values}, "datasets": {"d": values}}))
    packed = {"by column": {"x": [0, 1, 2], "y": ["0", "1", "2"]}}
    assert made.data["spec"] == {"data": {"values": packed}, "datasets": {"d": packed}}


def test_records_that_differ_in_their_fields_stay_as_they_are():
    values = [{"x": 1}, {"x": 2}, {"y": 3}]
    assert figure(chart({"data": {"values": values}})).data["spec"]["data"]["values"] == values


def test_layers_are_not_taken_for_data():
    layers = [{"mark": "bar", "encoding": {"x": {"field": "a"}}} for _ in range(3)]
    assert figure(chart({"layer": layers})).data["spec"]["layer"] == layers


def test_channels_are_not_taken_for_data():
    tooltip = [{"field": name, "type": "nominal"} for name in "abc"]
    spec = {"encoding": {"tooltip": tooltip}}
    assert figure(chart(spec)).data["spec"] == spec


def test_numbers_keep_seven_digits():
    made = figure(chart({"data": {"values": [{"x": 1 / 3}]}}))
    assert made.data["spec"]["data"]["values"] == {"by column": {"x": [0.3333333]}}


def test_a_chart_can_bring_its_own_table():
    made = figure(chart({"mark": "bar"}, data={"age": (18, 19), "effect": [0.1, 1 / 3]}))
    assert made.data["table"] == {"age": [18, 19], "effect": [0.1, 1 / 3]}
