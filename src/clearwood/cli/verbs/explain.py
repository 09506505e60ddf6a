"""`clearwood explain`: a verb with verbs of its own, one for each function of the library."""

from pathlib import Path
from typing import Any

import typer
from typer.core import TyperGroup

from clearwood.cli.verbs import (
    explain_effect,
    explain_importance,
    explain_rows,
    explain_tables,
)

__all__ = ["app"]

#: What is done where no verb is named.
_DEFAULT = "decomposition"


class _WithDefault(TyperGroup):
    """Takes `explain MODEL DATA` for `explain decomposition MODEL DATA`."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        if args and args[0] not in ctx.help_option_names:
            args[0] = args[0].replace("_", "-") if self._is_verb(ctx, args[0]) else args[0]
            if args[0] not in self.list_commands(ctx) and not self._is_misspelt(ctx, args[0]):
                args = [_DEFAULT, *args]
        return list(super().parse_args(ctx, args))

    def _is_verb(self, ctx: Any, word: str) -> bool:
        return word.replace("_", "-") in self.list_commands(ctx)

    def _is_misspelt(self, ctx: Any, word: str) -> bool:
        from difflib import get_close_matches

        is_file = word.startswith("-") or "." in word or Path(word).exists()
        return not is_file and bool(get_close_matches(word, self.list_commands(ctx)))


app = typer.Typer(
    cls=_WithDefault,
    help="Say what a model does with its columns, and why it predicts what it does.\n\n"
    "clearwood explain MODEL DATA -o FOLDER writes a decomposition as tables; the verbs below "
    "answer one question each, in words, as tables and as pictures.",
    epilog="Each has its own help: clearwood explain effect --help",
    no_args_is_help=True,
    context_settings={"help_option_names": ["-h", "--help"]},
)
app.command(_DEFAULT)(explain_tables.decomposition)
app.command("effect")(explain_effect.effect)
app.command("importance")(explain_importance.importance)
app.command("agreement")(explain_importance.agreement)
app.command("shapley")(explain_rows.shapley)
app.command("lime")(explain_rows.lime)
app.command("what-if")(explain_rows.what_if)
app.command("contributions")(explain_rows.contributions)
