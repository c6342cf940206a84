"""The entry point `mcn`: finds the verb, runs it, turns errors into one line and an exit code."""

from __future__ import annotations

import difflib
import importlib
import os
import sys
from typing import Any

import typer
from typer.core import TyperGroup

VERBS = {
    "motifs": "Count the motifs of a graph.",
    "datasets": "List the data sets, and where they are looked for.",
}

EXIT_FAILED, EXIT_USAGE, EXIT_INTERRUPTED = 1, 2, 130

# typer's own exception family; older releases take it from click, newer ones carry their own.
_UsageError: type[Exception] = typer.BadParameter.__mro__[1]
_CliError: type[Exception] = _UsageError.__mro__[1]


class Verbs(TyperGroup):
    """A group whose verbs are known by name and loaded when called, so that `--help` answers at once."""

    def list_commands(self, ctx: Any) -> list[str]:
        """The verbs in the order of a user's work."""
        return list(VERBS)

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        """Import the file of a verb and make its command."""
        if cmd_name not in VERBS:
            return None
        if "--help" in sys.argv[1:2] or len(sys.argv) == 1:  # the overview needs only the one-line texts
            return _outline(cmd_name)
        return _command(cmd_name, importlib.import_module(f"mcn.cli.{cmd_name}").run)

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """Say which verb was probably meant."""
        if args and args[0] not in VERBS and not args[0].startswith("-"):
            near = difflib.get_close_matches(args[0], VERBS, n=1)
            hint = f"; did you mean '{near[0]}'?" if near else f"; verbs: {', '.join(VERBS)}"
            raise _UsageError(f"no verb '{args[0]}'{hint}")
        return super().resolve_command(ctx, args)


def _outline(verb: str) -> Any:
    def nothing() -> None: ...

    nothing.__doc__ = VERBS[verb]
    return _command(verb, nothing)


def _command(verb: str, function: Any) -> Any:
    app = typer.Typer(add_completion=False, rich_markup_mode=None)
    app.command(name=verb)(function)
    command = typer.main.get_command(app)
    command.name = verb
    return command


def _version(value: bool) -> None:
    if value:
        from mcn import __version__

        print(f"mcn {__version__}")
        raise typer.Exit


def _root(
    version: bool = typer.Option(False, "--version", help="Show the version.", callback=_version, is_eager=True),
) -> None:
    """Motif convolutional networks: count motifs, train, compare, look."""


def _application() -> Any:
    app = typer.Typer(cls=Verbs, add_completion=False, rich_markup_mode=None, no_args_is_help=True)
    app.callback()(_root)
    return typer.main.get_command(app)


def main(arguments: list[str] | None = None) -> int:
    """Run the command line; the exit code: 0 done, 1 the work failed, 2 wrong use or bad input."""
    if arguments is not None:
        sys.argv = ["mcn", *arguments]
    try:
        code = _application().main(args=sys.argv[1:], prog_name="mcn", standalone_mode=False)
        sys.stdout.flush()
        return int(code or 0)
    except _CliError as error:
        message = error.format_message()  # type: ignore[attr-defined]
        if not message:  # typer's way to say: help was shown
            return EXIT_USAGE
        return _say(message, EXIT_USAGE)
    except (typer.Abort, KeyboardInterrupt) as error:
        return _say(str(error) or "interrupted", EXIT_INTERRUPTED)
    except BrokenPipeError:  # the reader of our output went away: `mcn … | head`
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return EXIT_FAILED
    except (ValueError, OSError) as error:
        return _say(_describe(error), EXIT_USAGE)
    except Exception as error:  # noqa: BLE001 - the last resort: a bug of ours, still not a traceback
        if os.environ.get("MCN_TRACEBACK"):
            raise
        text = f"{type(error).__name__}: {error}"
        return _say(f"{text} (an internal error; set MCN_TRACEBACK=1 to see where)", EXIT_FAILED)


def _describe(error: Exception) -> str:
    if isinstance(error, OSError) and error.strerror:
        return f"{error.filename}: {error.strerror}" if error.filename else error.strerror
    return str(error)


def _say(message: str, code: int) -> int:
    print(f"mcn: {' '.join(message.split())}", file=sys.stderr)
    return code
