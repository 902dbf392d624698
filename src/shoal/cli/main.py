"""The command ``shoal``: its commands put together, and every failure made one line."""

from __future__ import annotations

import os
import sys
import warnings
from pathlib import Path
from typing import Annotated, Any

import typer

from shoal.cli.commands.anonymize import anonymize
from shoal.cli.commands.audit import audit
from shoal.cli.commands.compare import compare
from shoal.cli.commands.credibility import credibility
from shoal.cli.commands.demo import demo
from shoal.cli.commands.plan import plan
from shoal.cli.commands.report import report
from shoal.cli.commands.sweep import sweep
from shoal.cli.commands.synth import synth
from shoal.cli.terminal import say, show
from shoal.errors import InputError, ShoalError, UnfinishedError

app = typer.Typer(
    name="shoal",
    help="Publish trajectory data without giving people away: k^{tau,epsilon}-anonymity.",
    add_completion=False,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


@app.callback(invoke_without_command=True)
def _welcome(
    context: typer.Context,
    version: Annotated[
        bool, typer.Option("--version", help="Show the version and exit.", is_eager=True)
    ] = False,
) -> None:
    if version:
        import shoal

        show(str(shoal.__version__))
        raise typer.Exit
    if context.invoked_subcommand is None:
        show(context.get_help())


# In the order in which help lists them.
for _command in (anonymize, audit, report, credibility, compare, sweep, plan, synth, demo):
    app.command()(_command)


# typer brings click along in some versions and imports it in others; this is the mother of its complaints in either.
_UsageError: Any = typer.BadParameter.__base__
_INTERRUPTED = 130  # what typer makes of Ctrl-C


def main(arguments: list[str] | None = None) -> None:
    """Run the command; every failure is one line and an exit code (0, 1, 2 or 3)."""
    debugging = bool(os.environ.get("SHOAL_DEBUG"))
    if not debugging:
        warnings.simplefilter("ignore")  # of libraries: several lines, and they may quote data
    try:
        code = app(args=arguments, standalone_mode=False)
        if code == _INTERRUPTED:
            raise KeyboardInterrupt
        if code:
            sys.exit(code)
    except _UsageError as error:
        _fail(_usage(error))
    except ShoalError as error:
        _fail(error)
    except (KeyboardInterrupt, typer.Abort):
        _fail(_interrupted())
    except MemoryError:
        _fail(
            UnfinishedError(
                "Out of memory: nothing was published or written; close other programs or take fewer events."
            )
        )
    except Exception as error:
        if debugging:
            raise
        _fail(_interrupted() if _came_of_ctrl_c(error) else _internal(error))


def _interrupted() -> UnfinishedError:
    return UnfinishedError(
        "Interrupted: nothing was published; shoal anonymize and shoal sweep go on with --resume."
    )


def _came_of_ctrl_c(error: BaseException | None) -> bool:
    """Whether a library failed while it cleared up after an interruption."""
    while error is not None and not isinstance(error, KeyboardInterrupt):
        error = error.__cause__ or error.__context__
    return error is not None


def _usage(error: Any) -> InputError:
    names = [] if error.ctx is None or error.ctx.parent is None else [error.ctx.info_name]
    complaint = error.format_message().rstrip(".")
    return InputError(f"{complaint}: see {' '.join(['shoal', *names, '--help'])}.")


def _internal(error: Exception) -> UnfinishedError:
    """Where it happened; the text of a library's error may quote a row of data, so it is kept back."""
    trace = error.__traceback__
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    place = "" if trace is None else f" in {Path(trace.tb_frame.f_code.co_filename).name}:{trace.tb_lineno}"
    return UnfinishedError(
        f"Internal error ({type(error).__name__}{place}): nothing was published."
        " Set SHOAL_DEBUG=1 to see it whole; it may quote data."
    )


def _fail(error: ShoalError) -> None:
    say(f"shoal: {' '.join(str(error).split())}")
    sys.exit(error.exit_code)


if __name__ == "__main__":
    main()
