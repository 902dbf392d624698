"""The command: parse, call, print; no logic."""

from __future__ import annotations

import json
import os
import sys
import warnings
from pathlib import Path
from typing import Annotated, Any

import typer

from shoal import options
from shoal.errors import InputError, ShoalError, UnfinishedError
from shoal.terminal import TerminalProgress, say, show, show_summary
from shoal.wording import counted

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


@app.command()
@options.reads_events
def anonymize(
    events: options.Events,
    output: Annotated[
        Path,
        typer.Option(
            "-o",
            "--output",
            help="Published file: .parquet, .csv, .csv.gz, .geoparquet, .geojson, .geojson.gz.",
        ),
    ],
    k: Annotated[
        int,
        typer.Option(
            "--k", parser=options.whole_number, metavar="N", help="Hide everybody among at least k records."
        ),
    ],
    tau: options.Tau = None,
    epsilon: options.Epsilon = None,
    whole: options.Whole = False,
    cell: Annotated[str, typer.Option(help="Finest resolution in space.")] = "100m",
    step: Annotated[str, typer.Option(help="Finest resolution in time.")] = "1min",
    space_weight: options.SpaceWeight = 1.0,
    selector: Annotated[
        str,
        typer.Option(
            help="How hiding sets are chosen: matching; mutual, in groups of k who all hide each other; or spectral"
            " as in the paper."
        ),
    ] = "matching",
    reuse: options.Reuse = "once",
    repair: Annotated[
        bool,
        typer.Option(
            "--repair", help="With spectral: suppress more, until everybody is hidden among k records."
        ),
    ] = False,
    key_out: Annotated[
        Path | None, typer.Option(help="Also write which record is whose (secret): .csv or .parquet.")
    ] = None,
    seed: options.Seed = 0,
    shard_size: Annotated[
        int,
        typer.Option(
            parser=options.whole_number,
            metavar="N",
            help="Among how many users of a place and time one is hidden at most, 100 or more: fewer take less"
            " time and cost precision.",
        ),
    ] = 5_000,
    workers: options.Workers = None,
    engine: options.Engine = "threads",
    cluster: options.Cluster = None,
    resume: options.Resume = False,
    strict: Annotated[
        bool, typer.Option("--strict", help="Refuse events with rows that cannot be used.")
    ] = False,
    force: options.Force = False,
    no_verify: Annotated[
        bool, typer.Option("--no-verify", help="Publish without checking the result first.")
    ] = False,
    json_out: Annotated[
        str | None, typer.Option("--json", help="Write the summary as JSON to a file, or - for stdout.")
    ] = None,
    *,
    reading: dict[str, Any],
) -> None:
    """Publish EVENTS so that everybody is hidden among at least k records."""
    from shoal.api import anonymize as run

    with TerminalProgress() as progress:
        published = run(
            events,
            k=k,
            tau=tau,
            epsilon=epsilon,
            whole=whole,
            cell=cell,
            step=step,
            space_weight=space_weight,
            selector=selector,
            reuse=reuse,
            repair=repair,
            **reading,
            strict=strict,
            seed=seed,
            shard_size=shard_size,
            workers=workers,
            engine=engine,
            cluster=cluster,
            output=output,
            key_out=key_out,
            summary_out=None if json_out == "-" else json_out,
            force=force,
            resume=resume,
            verify=not no_verify,
            progress=progress,
        )
    for warning in published.summary["warnings"]:
        say(f"Warning: {warning}")
    if json_out == "-":
        show(json.dumps(published.summary, indent=2))
    else:
        show_summary(published.summary, published.promise, published.events.grid, output)


@app.command()
@options.reads_events
def audit(
    events: options.Events,
    published: Annotated[
        Path,
        typer.Argument(help="Published file: .parquet, .geoparquet, .csv, .csv.gz, .geojson, .geojson.gz."),
    ],
    k: Annotated[
        int | None,
        typer.Option(
            "--k",
            parser=options.whole_number,
            metavar="N",
            help="The promise to hold the file to; with --tau and --epsilon, or --whole. The file's own unless given.",
        ),
    ] = None,
    tau: options.Tau = None,
    epsilon: options.Epsilon = None,
    whole: options.Whole = False,
    key: Annotated[
        Path | None, typer.Option(help="Which record is whose (secret), as anonymize wrote it.")
    ] = None,
    cell: Annotated[str | None, typer.Option(help="Cell of a file that does not tell it.")] = None,
    step: Annotated[str | None, typer.Option(help="Time step of a file that does not tell it.")] = None,
    crs: Annotated[
        str | None, typer.Option(help="Coordinate system of a file that does not tell it, e.g. EPSG:3035.")
    ] = None,
    attacks: Annotated[
        int,
        typer.Option(parser=options.whole_number, metavar="N", help="How many attacks to draw of each kind."),
    ] = 2000,
    seed: Annotated[
        int, typer.Option(parser=options.whole_number, metavar="N", help="Other attacks for another seed.")
    ] = 0,
    show_users: Annotated[
        bool, typer.Option("--show-users", help="Name the users of counterexamples; they are secret.")
    ] = False,
    workers: options.Workers = None,
    engine: options.Engine = "threads",
    cluster: options.Cluster = None,
    force: options.Force = False,
    json_out: Annotated[
        str | None, typer.Option("--json", help="Write everything as JSON to a file, or - for stdout.")
    ] = None,
    *,
    reading: dict[str, Any],
) -> None:
    """Attack PUBLISHED, knowing EVENTS, and say what is and is not protected. Exit code 1: the promise is broken."""
    from shoal.api import audit as run
    from shoal.outputs import Outputs, as_json, check_target, write_whole
    from shoal.telling import audit_lines

    report = None if json_out in (None, "-") else Path(json_out or "")
    if report is not None:
        given = [*options.inputs(events, reading), published, Outputs(published).manifest, key]
        check_target(report, [path for path in given if path is not None], force=force)
    with TerminalProgress() as progress:
        found = run(
            events,
            published,
            k=k,
            tau=tau,
            epsilon=epsilon,
            whole=whole,
            key=key,
            cell=cell,
            step=step,
            crs=crs,
            **reading,
            attacks=attacks,
            seed=seed,
            workers=workers,
            engine=engine,
            cluster=cluster,
            progress=progress,
        )
    for warning in found.warnings:
        say(f"Warning: {warning}")
    content = found.to_dict(show_users=show_users)
    if report is not None:
        write_whole(report, as_json(content), mode=0o600 if show_users else 0o666)
    if json_out == "-":
        show(json.dumps(content, indent=2))
    else:
        show("\n".join(audit_lines(found, published, show_users=show_users)))
    if not found.kept:
        raise typer.Exit(1)


@app.command()
@options.reads_events
def report(
    events: options.Events,
    published: Annotated[
        Path,
        typer.Argument(help="Published file: .parquet, .geoparquet, .csv, .csv.gz, .geojson, .geojson.gz."),
    ],
    output: Annotated[Path, typer.Option("--output", "-o", help="The page to write, e.g. report.html.")],
    key: Annotated[
        Path | None, typer.Option(help="Which record is whose (secret), as anonymize wrote it.")
    ] = None,
    public: Annotated[
        bool,
        typer.Option(
            "--public/--internal",
            help="A datasheet to publish with the data; otherwise the page may show raw trajectories.",
        ),
    ] = False,
    k: Annotated[
        int | None,
        typer.Option(
            "--k", parser=options.whole_number, metavar="N", help="The promise, if not the file's own."
        ),
    ] = None,
    tau: options.Tau = None,
    epsilon: options.Epsilon = None,
    whole: options.Whole = False,
    cell: Annotated[str | None, typer.Option(help="Cell of a file that does not tell it.")] = None,
    step: Annotated[str | None, typer.Option(help="Time step of a file that does not tell it.")] = None,
    crs: Annotated[
        str | None, typer.Option(help="Coordinate system of a file that does not tell it, e.g. EPSG:3035.")
    ] = None,
    attacks: Annotated[
        int,
        typer.Option(parser=options.whole_number, metavar="N", help="How many attacks to draw of each kind."),
    ] = 2000,
    seed: Annotated[
        int, typer.Option(parser=options.whole_number, metavar="N", help="Other attacks for another seed.")
    ] = 0,
    workers: options.Workers = None,
    force: options.Force = False,
    *,
    reading: dict[str, Any],
) -> None:
    """Audit PUBLISHED, knowing EVENTS, and write a page about it. Exit code 1: the promise is broken."""
    from shoal.reporting import write_report

    with TerminalProgress() as progress:
        found = write_report(
            events,
            published,
            output,
            key=key,
            public=public,
            k=k,
            tau=tau,
            epsilon=epsilon,
            whole=whole,
            cell=cell,
            step=step,
            crs=crs,
            **reading,
            attacks=attacks,
            seed=seed,
            workers=workers,
            force=force,
            progress=progress,
        )
    for warning in found.warnings:
        say(f"Warning: {warning}")
    show(f"{found.verdict.headline}.")
    if public and not found.kept:
        show("No datasheet was written: a file that breaks its promise must not be published.")
    else:
        show(f"Look at {output}" + ("." if public else ": internal, it shows raw data."))
    if not found.kept:
        raise typer.Exit(1)


@app.command()
@options.reads_events
def credibility(
    events: options.Events,
    output: Annotated[
        Path | None, typer.Option("-o", "--output", help="Page to write, with a figure of everything: .html.")
    ] = None,
    real: Annotated[
        Path | None, typer.Option(help="Events of real people to measure and draw beside; read as they come.")
    ] = None,
    cell: Annotated[
        str, typer.Option(help="What counts as one place; finer than antennas are apart.")
    ] = "100m",
    seed: Annotated[
        int,
        typer.Option(parser=options.whole_number, metavar="N", help="Other points for another seed."),
    ] = 0,
    workers: options.Workers = None,
    force: options.Force = False,
    json_out: Annotated[
        str | None, typer.Option("--json", help="Write all figures as JSON to a file, or - for stdout.")
    ] = None,
    *,
    reading: dict[str, Any],
) -> None:
    """Say whether EVENTS look like people with phones. Exit code 1: a statistic lies outside its band."""
    from shoal.api import assess
    from shoal.credibility.telling import credibility_lines
    from shoal.outputs import as_json, check_page, check_target, write_whole

    report = None if json_out in (None, "-") else Path(json_out or "")
    given = [*options.inputs(events, reading), *([] if real is None else [real])]
    if output is not None:
        check_page(output)
        check_target(output, given, force=force)
    if report is not None:
        check_target(report, [*given, *([] if output is None else [output])], force=force)
    with TerminalProgress() as progress:
        found = assess(
            events,
            real=real,
            cell=cell,
            **reading,
            seed=seed,
            workers=workers,
            progress=progress,
        )
    for warning in found.warnings:
        say(f"Warning: {warning}")
    if output is not None:
        from shoal.report.credibility import credibility_page

        write_whole(output, credibility_page(found).encode())
    if report is not None:
        write_whole(report, as_json(found.to_dict()))
    if json_out == "-":
        show(json.dumps(found.to_dict(), indent=2))
    else:
        show("\n".join(credibility_lines(found)))
    if not found.credible:
        raise typer.Exit(1)


@app.command()
@options.reads_events
def compare(
    events: options.Events,
    output: Annotated[
        Path | None, typer.Option("-o", "--output", help="Also write the numbers: .csv or .parquet.")
    ] = None,
    ks: Annotated[str, typer.Option(metavar="LIST", help="Values of k.")] = "2,5,8",
    tuples: Annotated[
        int, typer.Option(parser=options.whole_number, metavar="N", help="How many k-tuples.")
    ] = 100,
    drawn: Annotated[
        str,
        typer.Option(
            metavar="random|near",
            help="Tuples of random users; near: of one with those cheapest to hide among.",
        ),
    ] = "random",
    whole_users: Annotated[
        int,
        typer.Option(
            parser=options.whole_number,
            metavar="N",
            help="Also hide the whole trajectories of so many users (GLOVE and W4M: up to 1,000); 0: do not.",
        ),
    ] = 200,
    cell: Annotated[str, typer.Option(help="Finest resolution in space.")] = "100m",
    step: Annotated[str, typer.Option(help="Finest resolution in time.")] = "1min",
    seed: Annotated[
        int, typer.Option(parser=options.whole_number, metavar="N", help="Other tuples for another seed.")
    ] = 0,
    workers: options.Workers = None,
    force: options.Force = False,
    *,
    reading: dict[str, Any],
) -> None:
    """Compare with static grids, W4M-L and GLOVE, as the paper does: random k-tuples, and whole trajectories."""
    from shoal.evaluate.comparing import compare as run
    from shoal.evaluate.telling import comparison_lines
    from shoal.outputs import check_table, check_target, write_table

    if output is not None:
        check_table(output)
        check_target(output, options.inputs(events, reading), force=force)
    with TerminalProgress() as progress:
        found = run(
            events,
            ks=[options.whole_number(value) for value in options.listed(ks)],
            tuples=tuples,
            drawn=drawn,
            whole_users=whole_users,
            cell=cell,
            step=step,
            **reading,
            seed=seed,
            workers=workers,
            progress=progress,
        )
    for warning in found.warnings:
        say(f"Warning: {warning}")
    if output is not None:
        write_table(output, found.to_arrow())
    show("\n".join(comparison_lines(found)))


@app.command()
@options.reads_events
def sweep(
    events: options.Events,
    output: Annotated[
        Path,
        typer.Option("-o", "--output", help="Folder for the numbers (Parquet, CSV) and figures (SVG, PNG)."),
    ],
    over: Annotated[
        str, typer.Option(metavar="NAMES", help="What varies: tau, k, epsilon; hours: a week, hour by hour.")
    ] = "tau,k,epsilon,hours",
    k: Annotated[
        int, typer.Option(parser=options.whole_number, metavar="N", help="k where it does not vary.")
    ] = 2,
    tau: Annotated[
        str, typer.Option(help="tau where it does not vary; epsilon is the same unless it varies.")
    ] = "30min",
    ks: Annotated[str, typer.Option(metavar="LIST", help="Values of k.")] = "2,3,5,8",
    taus: Annotated[
        str, typer.Option(metavar="LIST", help="Values of tau, each with epsilon = tau.")
    ] = "10min,20min,30min,1h,2h,4h",
    epsilons: Annotated[
        str, typer.Option(metavar="LIST", help="Values of epsilon.")
    ] = "10min,15min,30min,1h,2h",
    selectors: Annotated[
        str | None,
        typer.Option(
            metavar="LIST",
            help="How hiding sets are chosen, side by side: matching, mutual, spectral. The first and the last unless"
            " given (spectral where scikit-learn is installed).",
        ),
    ] = None,
    cell: Annotated[str, typer.Option(help="Finest resolution in space.")] = "100m",
    step: Annotated[str, typer.Option(help="Finest resolution in time.")] = "1min",
    space_weight: options.SpaceWeight = 1.0,
    reuse: options.Reuse = "once",
    seed: options.Seed = 0,
    workers: options.Workers = None,
    resume: options.Resume = False,
    force: options.Force = False,
    *,
    reading: dict[str, Any],
) -> None:
    """Measure precision and suppression under many promises: versus tau, k and epsilon, and over a week."""
    from shoal.evaluate.store import checkpoint_of, remove
    from shoal.evaluate.sweep import sweep as run
    from shoal.evaluate.telling import sweep_lines
    from shoal.outputs import check_folder
    from shoal.report.sweeps import write_sweep

    check_folder(output, options.inputs(events, reading), force=force)
    checkpoint = checkpoint_of(output)
    with TerminalProgress() as progress:
        found = run(
            events,
            over=options.listed(over),
            k=k,
            tau=tau,
            ks=[options.whole_number(value) for value in options.listed(ks)],
            taus=options.listed(taus),
            epsilons=options.listed(epsilons),
            selectors=None if selectors is None else options.listed(selectors),
            cell=cell,
            step=step,
            space_weight=space_weight,
            reuse=reuse,
            **reading,
            seed=seed,
            workers=workers,
            checkpoint=checkpoint,
            resume=resume,
            progress=progress,
        )
    for warning in found.warnings:
        say(f"Warning: {warning}")
    files = write_sweep(found, output)
    remove(checkpoint)
    show("\n".join(sweep_lines(found)))
    show(f"\n{len(files)} files in {output}")


@app.command()
@options.reads_events
def plan(
    events: options.Events,
    output: Annotated[
        Path | None, typer.Option("-o", "--output", help="Figure to write: .svg or .png.")
    ] = None,
    ks: Annotated[str, typer.Option(metavar="LIST", help="Values of k.")] = "2,3,5",
    taus: Annotated[str, typer.Option(metavar="LIST", help="Values of tau.")] = "30min,1h,2h",
    epsilons: Annotated[str, typer.Option(metavar="LIST", help="Values of epsilon.")] = "30min",
    cell: Annotated[str, typer.Option(help="Finest resolution in space.")] = "100m",
    step: Annotated[str, typer.Option(help="Finest resolution in time.")] = "1min",
    space_weight: options.SpaceWeight = 1.0,
    reuse: options.Reuse = "once",
    seed: options.Seed = 0,
    workers: options.Workers = None,
    force: options.Force = False,
    json_out: Annotated[
        str | None, typer.Option("--json", help="Write all figures as JSON to a file, or - for stdout.")
    ] = None,
    *,
    reading: dict[str, Any],
) -> None:
    """Foretell what releases of EVENTS would cost, for every k, tau and epsilon, from a part of the time."""
    from shoal.evaluate.advising import advice, plan_lines
    from shoal.evaluate.planning import plan as run
    from shoal.outputs import as_json, check_target, write_whole

    report = None if json_out in (None, "-") else Path(json_out or "")
    given = options.inputs(events, reading)
    if output is not None:
        from shoal.report.plans import check_figure

        check_figure(output)
        check_target(output, given, force=force)
    if report is not None:
        check_target(report, [*given, *([] if output is None else [output])], force=force)
    with TerminalProgress() as progress:
        found = run(
            events,
            ks=[options.whole_number(value) for value in options.listed(ks)],
            taus=options.listed(taus),
            epsilons=options.listed(epsilons),
            cell=cell,
            step=step,
            space_weight=space_weight,
            reuse=reuse,
            **reading,
            seed=seed,
            workers=workers,
            progress=progress,
        )
    for warning in found.warnings:
        say(f"Warning: {warning}")
    if output is not None:
        from shoal.report.plans import write_plan

        write_plan(found, output)
    content = {**found.to_dict(), "advice": advice(found.forecasts)}
    if report is not None:
        write_whole(report, as_json(content))
    show(json.dumps(content, indent=2) if json_out == "-" else "\n".join(plan_lines(found)))


@app.command()
def synth(
    preset: Annotated[
        str,
        typer.Argument(
            help="What to make: city (small, always the same), or a region with the surface, antennas, users and"
            " samples of a dataset of the paper: abi, dak, shn (cities), civ, sen (countries)."
        ),
    ],
    output: Annotated[
        Path, typer.Option("-o", "--output", help="Events to write: .parquet, .csv or .csv.gz.")
    ],
    users: Annotated[
        int | None,
        typer.Option(
            parser=options.whole_number, metavar="N", help="How many subscribers; city: 2,000 unless given."
        ),
    ] = None,
    days: Annotated[
        int | None,
        typer.Option(parser=options.whole_number, metavar="N", help="How many days; city: 1 unless given."),
    ] = None,
    seed: Annotated[
        int, typer.Option(parser=options.whole_number, metavar="N", help="Another seed, another region.")
    ] = 0,
    surface: Annotated[
        int | None,
        typer.Option(parser=options.whole_number, metavar="KM2", help="Surface in square kilometres."),
    ] = None,
    antennas: Annotated[
        int | None, typer.Option(parser=options.whole_number, metavar="N", help="How many antennas.")
    ] = None,
    samples_per_hour: Annotated[
        float | None,
        typer.Option(parser=options.number, metavar="R", help="Samples per user and hour, on average."),
    ] = None,
    sites: Annotated[
        Path | None, typer.Option(help="Table of antennas (lat, lon or x, y) to use instead of made-up ones.")
    ] = None,
    force: options.Force = False,
) -> None:
    """Make up subscribers of a region that does not exist."""
    from shoal.cities import write_city

    with TerminalProgress() as progress:
        made = write_city(
            preset,
            output,
            users=users,
            days=days,
            seed=seed,
            surface_km2=surface,
            antennas=antennas,
            samples_per_hour=samples_per_hour,
            sites=sites,
            force=force,
            progress=progress,
        )
    show(f"{counted(made.events, 'event')} of {counted(made.users, 'user')} in {output}")


@app.command()
def demo(
    folder: Annotated[Path, typer.Option(help="Where to put the demo's files.")] = Path("demo"),
) -> None:
    """Make a city, anonymize it, and show what happened on a page."""
    from shoal.demo import run_demo

    with TerminalProgress() as progress:
        result = run_demo(folder, progress)
    show_summary(result.summary, result.promise, result.grid, result.published)
    show(f"\nNow look at {result.page}")


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
