"""The command ``shoal``: its commands put together, and every failure made one line."""

from __future__ import annotations

import os
import sys
import warnings
from collections.abc import Iterator
from pathlib import Path

import rich_click as click
from click.exceptions import Exit

from shoal.cli.commands.anonymize import anonymize
from shoal.cli.commands.audit import audit
from shoal.cli.commands.check import check
from shoal.cli.commands.compare import compare
from shoal.cli.commands.credibility import credibility
from shoal.cli.commands.demo import demo
from shoal.cli.commands.plan import plan
from shoal.cli.commands.report import report
from shoal.cli.commands.sweep import sweep
from shoal.cli.commands.synth import synth
from shoal.cli.commands.warm_up import warm_up
from shoal.cli.options import option
from shoal.cli.terminal import say, show
from shoal.core.interrupts import InterruptedAfterwards, LeftBehind, signals_as_interrupts
from shoal.errors import InputError, ShoalError, UnfinishedError, called_by_command

_COMMANDS = (
    check, anonymize, audit, report, credibility, compare, sweep, plan, synth, demo, warm_up,
)  # as help lists them  # fmt: skip
_NOTHING = "Nothing was published."


class _Shoal(click.RichGroup):
    """Lists its commands in the order in which they were given, not by their letters."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002
        return list(self.commands)


@click.pass_context
def _welcome(context: click.Context, version: bool) -> None:
    if version:
        import shoal

        show(str(shoal.__version__))
        context.exit()
    if context.invoked_subcommand is None:
        show(context.get_help())


app = _Shoal(
    name="shoal",
    help="Publish trajectory data without giving people away: k^{tau,epsilon}-anonymity.",
    commands={str(command.name): command for command in _COMMANDS},
    invoke_without_command=True,
    callback=_welcome,
    params=[option("--version", kind=bool, help="Show the version and exit.", is_eager=True)],
    context_settings={
        "help_option_names": ["-h", "--help"],
        "rich_help_config": click.RichHelpConfiguration(show_arguments=True),
    },
)


def main(arguments: list[str] | None = None) -> None:
    """Run the command; every failure is one line and an exit code (0, 1, 2 or 3)."""
    debugging = bool(os.environ.get("SHOAL_DEBUG"))
    if not debugging:
        warnings.simplefilter("ignore")  # of libraries: several lines, and they may quote data
    with signals_as_interrupts(), called_by_command():
        _run_and_explain(sys.argv[1:] if arguments is None else arguments, debugging=debugging)


def _run_and_explain(arguments: list[str], *, debugging: bool) -> None:
    try:
        code = _run(arguments)
        if code:
            sys.exit(code)
    except click.ClickException as error:
        _fail(_usage(error))
    except ShoalError as error:
        _fail(error)
    except (KeyboardInterrupt, click.Abort) as error:
        _fail(_interrupted(error))
    except MemoryError as error:
        _fail(
            UnfinishedError(
                f"Out of memory. {_left(error) or _NOTHING} Close other programs or take fewer events."
            )
        )
    except Exception as error:
        if debugging:
            raise
        interrupted = any(isinstance(each, KeyboardInterrupt) for each in _chain(error))
        _fail(_interrupted(error) if interrupted else _internal(error))


def _run(arguments: list[str]) -> int:
    """The exit code of a command; errors and interruptions pass (click's own main() would print a line of its own)."""
    try:
        with app.make_context("shoal", arguments) as context:
            return app.invoke(context) or 0
    except Exit as done:
        return done.exit_code


def _interrupted(error: BaseException) -> UnfinishedError:
    """Which signal it was, unless it was Ctrl-C, and what is left."""
    requests = [each for each in _chain(error) if isinstance(each, KeyboardInterrupt)]
    names = [str(name) for request in requests for name in request.args]
    told = "Interrupted" + (f" ({names[0]})" if names else "")
    if any(isinstance(request, InterruptedAfterwards) for request in requests):
        return UnfinishedError(f"{told} when all files were in place. {_left(error)}")
    return UnfinishedError(f"{told}. {_left(error) or _NOTHING}")


def _left(error: BaseException) -> str:
    """What a failed run left behind, as far as it says."""
    notes = (note for each in _chain(error) for note in getattr(each, "__notes__", ()))
    return " ".join(note for note in notes if isinstance(note, LeftBehind))


def _chain(error: BaseException | None) -> Iterator[BaseException]:
    """An error and those before it: a library may fail while it clears up after an interruption."""
    while error is not None:
        yield error
        error = error.__cause__ or error.__context__


def _usage(error: click.ClickException) -> InputError:
    context = getattr(error, "ctx", None)
    names = [] if context is None or context.parent is None else [context.info_name]
    complaint, help_command = error.format_message().rstrip("."), " ".join(["shoal", *names, "--help"])
    if complaint.endswith("?"):
        return InputError(f"{complaint} See {help_command}.")
    return InputError(f"{complaint}: see {help_command}.")


def _internal(error: Exception) -> UnfinishedError:
    """Where it happened; the text of a library's error may quote a row of data, so it is kept back."""
    trace = error.__traceback__
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    place = "" if trace is None else f" in {Path(trace.tb_frame.f_code.co_filename).name}:{trace.tb_lineno}"
    return UnfinishedError(
        f"Internal error ({type(error).__name__}{place}). {_left(error) or _NOTHING}"
        " Set SHOAL_DEBUG=1 to see it whole; it may quote data."
    )


def _fail(error: ShoalError) -> None:
    say(f"shoal: {' '.join(error.for_command.split())}")
    sys.exit(error.exit_code)
