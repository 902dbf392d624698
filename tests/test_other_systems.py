"""Without what only Unix has (Windows), every module can be imported, and events and published files be read."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import shoal
from support.run_command import anonymize, city, write

SCRIPT = """
import importlib, pkgutil, signal, sys
# What libraries do is their own affair: they come first.
import concurrent.futures, distributed, logging, numba, os, pyarrow.csv, pyarrow.dataset, pyarrow.parquet, pyproj
import rich_click, scipy.sparse.csgraph, shutil, sklearn, socket, subprocess, tempfile

MODULES = {"fcntl", "resource", "pwd", "grp", "termios", "tty", "pty", "posix", "syslog"}
NAMES = {
    os: ["fchmod", "fork", "geteuid", "getuid", "killpg", "mkfifo", "sched_getaffinity", "setsid", "statvfs", "uname"],
    signal: ["SIGHUP", "SIGKILL", "SIGSTOP", "SIGUSR1", "SIGALRM", "setitimer", "pthread_kill", "pthread_sigmask"],
}

class Missing:
    def find_spec(self, name, path=None, target=None):
        if name in MODULES:
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)

for name in MODULES:
    sys.modules.pop(name, None)
sys.meta_path.insert(0, Missing())
for module, names in NAMES.items():
    for name in names:
        delattr(module, name)

import shoal
imported = [
    importlib.import_module(found.name)
    for found in pkgutil.walk_packages(shoal.__path__, "shoal.")
    if not found.name.endswith("__main__")
]
assert len(imported) > 250, len(imported)

from pathlib import Path
from shoal.core.interrupts import defer_interrupts, signals_as_interrupts
from shoal.core.promise import Grid
from shoal.reading import read_events, read_published
from shoal.storage.locks import is_locked, reserved

folder = Path(sys.argv[1])
for name in ("events.csv", "events.parquet"):
    print(read_events(folder / name, grid=Grid(100.0, 60)).store.n_users)
print(len(read_published(folder / "out.csv").names))
with signals_as_interrupts(), defer_interrupts(), reserved(folder / "key.csv"):
    assert not is_locked(folder / "key.csv")
assert shoal.cli.main.main(["--version"]) is None
"""


def test_windows_imports_and_reads(tmp_path: Path) -> None:
    for name in ("events.csv", "events.parquet"):
        write(city(), tmp_path / name)
    assert anonymize(tmp_path / "events.csv", tmp_path / "out.csv").code == 0
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", SCRIPT, str(tmp_path)],
        env={**os.environ, "PYTHONPATH": str(Path(shoal.__file__).parents[1])},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.split() == ["60", "60", "60", shoal.__version__]
