"""Errors keep their fields on the way back from a worker process."""

import pickle

import pytest

from clearwood import InputError, MissingExtraError
from clearwood._shared.errors import Option, bad_value, words
from clearwood.condensing import DoesNotFitError, ProofTooLargeError

ERRORS = [
    InputError("no rows", parameter="data", value=3, hint=words("pass ", Option("data"))),
    MissingExtraError("ONNX export", extra="onnx"),
    bad_value("points", 1, "it must be at least 2"),
    DoesNotFitError(n_nodes=5, share=0.5, estimate=10.0, memory=1000),
    ProofTooLargeError(n_bytes=1e9, memory=1000),
]


@pytest.mark.parametrize("error", ERRORS, ids=lambda error: type(error).__name__)
def test_errors_travel_with_their_fields(error):
    again = pickle.loads(pickle.dumps(error))
    assert type(again) is type(error)
    assert str(again) == str(error)
    assert vars(again) == vars(error)


def test_an_option_without_a_value_has_none_in_another_process_either():
    again = pickle.loads(pickle.dumps(Option("data")))
    assert not again.has_value
    assert again == Option("data")
