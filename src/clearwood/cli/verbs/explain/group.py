"""The group of verbs `clearwood explain`."""

import typer

from clearwood.cli.support.verb import VerbGroup
from clearwood.cli.verbs.explain.decomposition import decomposition
from clearwood.cli.verbs.explain.effects import direct, effect
from clearwood.cli.verbs.explain.importance import agreement, importance
from clearwood.cli.verbs.explain.learners import (
    attention,
    boundaries,
    coefficients,
    discriminants,
    gradients,
    inclusion,
    monotone,
    path,
    training,
)
from clearwood.cli.verbs.explain.predictions import contributions, lime, shapley, what_if

__all__ = ["app"]


class _Explanations(VerbGroup):
    """Takes `explain MODEL DATA` for `explain decomposition MODEL DATA`."""

    default_verb = "decomposition"


app = typer.Typer(
    cls=_Explanations,
    help="Explain a model: what it does with its features, and single predictions.\n\n"
    "clearwood explain MODEL DATA -o FOLDER writes a decomposition as tables; each verb below "
    "answers one question, in text, tables and pictures.",
    epilog="Each verb has its own help: clearwood explain effect --help",
    no_args_is_help=True,
    context_settings={"help_option_names": ["-h", "--help"]},
)
for _verb in (
    *(decomposition, effect, direct, importance, agreement),
    *(shapley, lime, what_if, contributions, coefficients, path, inclusion),
    *(boundaries, discriminants, monotone),
    *(training, gradients, attention),
):
    app.command()(_verb)
