"""``shoal sweep``: what many promises cost."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from shoal.cli import options
from shoal.cli.options import options_from
from shoal.cli.terminal import TerminalProgress, say_warnings, show
from shoal.core.evaluation_options import NOT_EVALUATED, SweepOptions
from shoal.core.options import HidingOptions


@options.command(
    options.EVENTS,
    options.output("Folder for the numbers (Parquet, CSV) and figures (SVG, PNG)."),
    options_from(SweepOptions),
    options.GRID,
    options_from(HidingOptions, without=NOT_EVALUATED),
    options.WORKERS,
    options.RESUME,
    options.FORCE,
    options.settings_options("sweep"),
    options.READING,
)
def sweep(
    events: Any,
    output: Path,
    force: bool,
    save_config: Path | None,
    **keywords: Any,
) -> None:
    """Measure precision and suppression under many promises: versus tau, k and epsilon, and over a week."""
    from shoal.cli.text.sweep import sweep_lines
    from shoal.evaluate.sweep import checkpoint_of, remove
    from shoal.evaluate.sweep import sweep as run
    from shoal.reporting.figures.sweep import write_sweep
    from shoal.storage.outputs import check_folder

    given = options.input_files(events, keywords)
    check_folder(output, given, force=force)
    options.check_saving(save_config, given, force=force)
    checkpoint = checkpoint_of(output)
    with TerminalProgress() as progress:
        found = run(
            events,
            checkpoint=checkpoint,
            progress=progress,
            **keywords,
        )
    say_warnings(found.warnings)
    files = write_sweep(found, output)
    remove(checkpoint)
    options.save_settings(save_config, "sweep", keywords)
    show("\n".join(sweep_lines(found)))
    show(f"\n{len(files)} files in {output}")
