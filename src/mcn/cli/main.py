"""The entry point `mcn`: finds the verb, runs it, turns errors into one line and an exit code."""

from __future__ import annotations

import errno
import gc
import importlib
import io
import os
import shlex
import signal
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer
from typer.core import TyperGroup

from graphmotifs._messages import did_you_mean
from mcn._names import words_of_command_line
from mcn.cli._terminal import visible

if TYPE_CHECKING:
    from mcn.train.processes import Team

VERBS = {
    "check": "Look at a graph before training, and say what is odd about it.",
    "train": "Train a network on a graph.",
    "predict": "Predict classes with a trained network.",
    "view": "Look at a run: its graph, choices and predictions in one page.",
    "compare": "Compare methods on a graph.",
    "reproduce": "Reproduce a table or a figure of the paper.",
    "search": "Search for settings on the validation nodes.",
    "motifs": "Count the motifs of a graph.",
    "pack": "Pack a graph into a folder, for graphs past memory.",
    "datasets": "List the data sets, and where they are looked for.",
}

BEGAN = time.monotonic()
_LONGEST = 2000  # characters of a message; what a file says may be in it
EXIT_FAILED, EXIT_USAGE = 1, 2
_COLLECTED_AFTER = 500_000  # new objects that may hold others; 700 is Python's own
_UNWRITTEN = (errno.ENOSPC, errno.EFBIG, errno.EIO)  # of a file, `atomic_write` says its name
_HEARD = [signal.SIGINT]  # the signal that interrupts: the last one that came

# typer's own exception family; older releases take it from click, newer ones carry their own.
_UsageError: type[Exception] = typer.BadParameter.__mro__[1]
_CliError: type[Exception] = _UsageError.__mro__[1]
# What a user can put right by naming another file; any other OSError (a full disk, say) is a failure.
_WRONG_FILE = (FileNotFoundError, FileExistsError, PermissionError, IsADirectoryError, NotADirectoryError)


class Verbs(TyperGroup):
    """A group whose verbs are known by name and loaded when called, so that `--help` answers at once."""

    def list_commands(self, ctx: Any) -> list[str]:
        """The verbs in the order of a user's work."""
        return list(VERBS)

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        """Import the file of a verb and make its command."""
        if cmd_name not in VERBS:
            return None
        app = typer.Typer(add_completion=False, rich_markup_mode=None)
        app.command(name=cmd_name)(importlib.import_module(f"mcn.cli.{cmd_name}").run)
        return typer.main.get_command(app)

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        """List the verbs from their one-line texts, without importing any."""
        with formatter.section("Verbs"):
            formatter.write_dl(list(VERBS.items()))

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """Say which verb was probably meant."""
        if args and args[0] not in VERBS and not args[0].startswith("-"):
            hint = did_you_mean(args[0], VERBS) or f"; verbs: {', '.join(VERBS)}"
            raise _UsageError(f"no verb '{args[0]}'{hint}")
        return super().resolve_command(ctx, args)


def _version(value: bool) -> None:
    if value:
        from mcn import __version__

        print(f"mcn {__version__}")
        raise typer.Exit


def _root(
    version: bool = typer.Option(
        False, "--version", help="Show the version.", callback=_version, is_eager=True
    ),
) -> None:
    """Motif convolutional networks: count the motifs of a graph, train on them, compare."""


def _application() -> Any:
    app = typer.Typer(cls=Verbs, add_completion=False, rich_markup_mode=None)
    app.callback(
        options_metavar="[--version] [--help]",
        subcommand_metavar="VERB [OPTIONS]",
        epilog="`mcn VERB --help` has the options of a verb and an example.",
    )(_root)
    return typer.main.get_command(app)


def main(arguments: list[str] | None = None) -> int:
    """Run the command line; the exit code: 0 done, 1 the work failed, 2 wrong use or bad input."""
    before = _hear_signals()
    if arguments is not None:
        try:
            return _run(arguments)
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)
    # A fifth of a short command went into looking for garbage among modules, which stay, and looking through
    # all there is once more at the end.
    gc.set_threshold(_COLLECTED_AFTER)
    try:
        return _run(sys.argv[1:]) if _prepare_streams() else EXIT_FAILED
    finally:
        if before:
            signal.signal(signal.SIGINT, signal.SIG_IGN)  # it would kill Python while that tidies up
        gc.freeze()
        _end_output()


def _prepare_streams() -> bool:
    """Let output show what its encoding lacks as escapes; say so and return False if it goes nowhere."""
    if sys.stderr is None:
        sys.stderr = Path(os.devnull).open("w")  # noqa: SIM115 (for as long as the process lasts)
    if sys.stdout is None:
        _say("standard output is closed; send it to a file or to /dev/null", EXIT_FAILED)
        return False
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")
    return True


def _end_output() -> None:
    """Drop output that nobody can take (a full disk, a pipe without a reader): Python would try it again."""
    try:
        if sys.stdout is not None:
            sys.stdout.flush()
    except OSError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _run(arguments: list[str]) -> int:
    try:
        with words_of_command_line():
            code = _application().main(args=arguments or ["--help"], prog_name="mcn", standalone_mode=False)
        sys.stdout.flush()
        if code == 128 + signal.SIGINT:  # typer's way to say that it saw a KeyboardInterrupt
            raise KeyboardInterrupt
        return int(code or 0)
    except _CliError as error:
        return _say(_explain(error), EXIT_USAGE)
    except (typer.Abort, KeyboardInterrupt):
        return _say("interrupted", exit_interrupted())
    except BrokenPipeError:  # the reader of our output went away: `mcn … | head`
        _end_output()
        return EXIT_FAILED
    except (ValueError, OSError) as error:
        return _refuse(error)
    except MemoryError as error:
        return _say(f"not enough memory: {error}" if str(error) else "not enough memory", EXIT_FAILED)
    except Exception as error:  # the last resort: a bug of ours, still not a traceback
        if isinstance(error.__cause__, KeyboardInterrupt):  # numba's kernels wrap it in a SystemError
            return _say("interrupted", exit_interrupted())
        if "can't allocate memory" in str(error):  # torch's way to say MemoryError
            return _say("not enough memory", EXIT_FAILED)
        if os.environ.get("MCN_TRACEBACK"):
            raise
        text = f"{type(error).__name__}: {error}"
        return _say(f"{text} (an internal error; set MCN_TRACEBACK=1 to see where)", EXIT_FAILED)


def _hear_signals() -> dict[signal.Signals, Any]:
    """Let SIGTERM end a verb as Ctrl-C does, by an exception, so that no file is left half-written.

    Whoever presses Ctrl-C again does not want to wait for that: the process ends at once.

    Returns the handlers that there were before.
    """
    _HEARD[:] = [signal.SIGINT]
    if threading.current_thread() is not threading.main_thread():  # where Python hears no signals
        return {}

    def end(number: int, _frame: object) -> None:
        signal.signal(signal.SIGTERM, signal.SIG_IGN)  # a second one must not disturb the tidying up
        signal.signal(signal.SIGINT, end_at_once)
        _HEARD[:] = [signal.Signals(number)]
        raise KeyboardInterrupt

    def end_at_once(*_: object) -> None:
        if sys.stderr.isatty():
            os.write(sys.stderr.fileno(), b"\x1b[?25h")  # the cursor, which a progress bar hides
        os._exit(exit_interrupted())

    heard = [signal.SIGTERM, signal.SIGINT]
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:  # in the background of a script
        heard.pop()
    return {number: signal.signal(number, end) for number in heard}


def exit_interrupted() -> int:
    """Return the exit code of a verb that a signal has ended, as shells have it: 130, or 143 for SIGTERM."""
    return 128 + _HEARD[0]


def _explain(error: Any) -> str:
    """The message of a wrong use; a mistyped option gets the nearest one suggested."""
    if type(error).__name__ != "NoSuchOption":
        return str(error.format_message())
    verb = error.ctx.command_path if error.ctx else "mcn"
    hint = did_you_mean(error.option_name, error.possibilities or [])
    return f"no option '{error.option_name}'" + (hint or f"; `{verb} --help` lists the options")


def _refuse(error: Exception) -> int:
    """Say what is wrong with a user's input, or what the machine could not do."""
    text = str(error)
    if isinstance(error, OSError) and error.strerror:
        at = error.filename or ("standard output" if error.errno in _UNWRITTEN else None)
        text = f"{at}: {error.strerror}" if at else error.strerror
    failed = isinstance(error, OSError) and not isinstance(error, _WRONG_FILE)
    several = text.split("\n") if hasattr(error, "lines") else [text]  # see `mcn.data.limits.Problems`
    return max(_say(line, EXIT_FAILED if failed else EXIT_USAGE) for line in several)


def _say(message: str, code: int) -> int:
    if code == EXIT_USAGE and started_together() and os.environ.get("RANK") != "0":
        return code  # the first of several processes says it
    line = visible(" ".join(message.split()))
    print(f"mcn: {line if len(line) <= _LONGEST else line[:_LONGEST] + '…'}", file=sys.stderr)
    return code


def started_together() -> bool:
    """Whether ``torchrun`` started this process beside others."""
    return int(os.environ.get("WORLD_SIZE", "1")) > 1


@contextmanager
def interruptible(advice: str) -> Iterator[None]:
    """On Ctrl-C or SIGTERM, say in one line what is left of the work or how to go on with it, and end."""
    try:
        yield
    except (KeyboardInterrupt, SystemError) as error:
        # numba's kernels wrap an interrupt in a SystemError.
        if not isinstance(error, KeyboardInterrupt) and not isinstance(error.__cause__, KeyboardInterrupt):
            raise
        print(f"mcn: interrupted; {advice}", file=sys.stderr)
        # typer would turn the interrupt into a bare exit code and the line above into two.
        raise SystemExit(exit_interrupted()) from None


@contextmanager
def together(folder: Path, team: Team) -> Iterator[None]:
    """If another process of the run is lost, say in one line how to go on; exit code 1."""
    if team.size == 1:
        yield
        return

    def end(*_: object) -> None:
        # torchrun ends the others when one is lost. The first process speaks; of two, whichever is left.
        if team.leads or team.size == 2:
            line = f"mcn: a process of the run was lost; {go_on(folder)}\n"
            os.write(sys.stderr.fileno(), line.encode())
        os._exit(EXIT_FAILED)  # the processes that are left must not wait for each other

    before = signal.signal(signal.SIGTERM, end)
    try:
        yield
    except RuntimeError as error:
        from mcn.train.processes import is_lost

        if not is_lost(error):
            raise
        end()
    finally:
        signal.signal(signal.SIGTERM, before)


def go_on(folder: Path) -> str:
    """Say which command goes on with the run in `folder`."""
    start = ["mcn"]
    if "LOCAL_WORLD_SIZE" in os.environ:
        start = ["torchrun", "--nproc-per-node", os.environ["LOCAL_WORLD_SIZE"], "-m", "mcn"]
    words = [word for word in sys.argv[1:] if word != "--resume"]
    named = any(word == "--out" or word.startswith("--out=") for word in words)
    words += [] if named else ["--out", str(folder)]
    return f"go on with: {shlex.join([*start, *words, '--resume'])}"
