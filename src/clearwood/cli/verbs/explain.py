"""`clearwood explain`: a verb with verbs of its own, one for each function of the library."""

import typer

from clearwood.cli.support.verb import VerbGroup, verb
from clearwood.cli.verbs import (
    explain_effect,
    explain_importance,
    explain_rows,
    explain_tables,
)

__all__ = ["app"]


class _Explanations(VerbGroup):
    """Takes `explain MODEL DATA` for `explain decomposition MODEL DATA`."""

    default_verb = "decomposition"


app = typer.Typer(
    cls=_Explanations,
    help="Explain what a model does with its features, and its predictions.\n\n"
    "clearwood explain MODEL DATA -o FOLDER writes a decomposition as tables; each verb below "
    "answers one question, in text, tables and pictures.",
    epilog="Each verb has its own help: clearwood explain effect --help",
    no_args_is_help=True,
    context_settings={"help_option_names": ["-h", "--help"]},
)
app.command("decomposition")(verb(explain_tables.decomposition))
app.command("effect")(verb(explain_effect.effect))
app.command("importance")(verb(explain_importance.importance))
app.command("agreement")(verb(explain_importance.agreement))
app.command("shapley")(verb(explain_rows.shapley))
app.command("lime")(verb(explain_rows.lime))
app.command("what-if")(verb(explain_rows.what_if))
app.command("contributions")(verb(explain_rows.contributions))
