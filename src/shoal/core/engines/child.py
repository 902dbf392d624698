"""What a worker process does: take a task from the pipe, do it, send back what came of it, until the pipe closes."""

from __future__ import annotations

import os
import signal
import sys

from shoal.core.engines.processes import receive, send


def main() -> None:
    """Serve the process that started this one; whatever is printed here goes to its messages, not to its answers."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the parent, which ends its children
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    while True:
        try:
            call, task = receive(sys.stdin.buffer)
        except EOFError:
            return
        try:
            answer = True, call(task)
        except Exception as error:  # for the parent to raise
            answer = False, error
        send(answers, answer)


if __name__ == "__main__":
    main()
