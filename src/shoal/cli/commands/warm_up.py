"""``shoal warm-up``: compilation ahead of the first run."""

from __future__ import annotations

from shoal.cli import options
from shoal.cli.terminal import TerminalProgress, show


@options.command(options.WORKERS)
def warm_up(workers: int | None) -> None:
    """Compile ahead what first runs would compile, so that they begin at once."""
    from shoal.api import warm_up as run

    with TerminalProgress() as progress:
        seconds = run(workers=workers, progress=progress)
    show(f"Compiled in {seconds:.0f} s." if seconds else "Everything was compiled already.")
