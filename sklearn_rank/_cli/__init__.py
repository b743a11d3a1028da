"""The command line: it reads with `io`, computes with `evaluate` and `stats`, and prints tables.

See ``docs/rag/command_line.md``.
"""

from __future__ import annotations

import os
import sys
import warnings
from collections.abc import Sequence
from contextlib import redirect_stderr
from typing import Any

from sklearn_rank._cli.arguments import parse_arguments
from sklearn_rank._cli.output import tell

WRONG, FAILED, INTERRUPTED = 2, 1, 130


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command; return its exit code (usually 0), 2 for invalid input, or 1 for any other failure."""
    # If standard error is closed, print would write to standard output instead.
    if sys.stderr is None:
        sys.stderr = open(os.devnull, "w")
    if sys.stdout is None:
        return _fail("Results go to the standard output, so it must be open. Got it closed.", WRONG)
    if hasattr(sys.stdout, "reconfigure"):
        # The encoding may lack characters of ids.
        sys.stdout.reconfigure(errors="backslashreplace")
    try:
        options = parse_arguments(arguments)
        # Errors leave the block, so they are printed even with --quiet.
        with (
            open(os.devnull, "w") as nothing,
            redirect_stderr(nothing if options.quiet else sys.stderr),
            warnings.catch_warnings(),
        ):
            warnings.simplefilter("default", UserWarning)
            warnings.showwarning = _show_warning
            return options.command(options) or 0
    # The reader has closed the pipe, so prevent Python from flushing at exit.
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return FAILED
    except KeyboardInterrupt:
        return INTERRUPTED
    except FileNotFoundError as error:
        where = f" in {os.getcwd()}" if not os.path.isabs(str(error.filename)) else ""
        return _fail(f"There is no file {error.filename!r}{where}." if error.filename else str(error), WRONG)
    except (ValueError, TypeError, OSError, ImportError) as error:
        return _fail(str(error), WRONG)
    except Exception as error:
        return _fail(f"{type(error).__name__}: {error}", FAILED)


def _fail(message: str, code: int) -> int:
    tell(f"sklearn-rank: error: {' '.join(message.split())}")
    return code


def _show_warning(message: Warning | str, *_: Any, **__: Any) -> None:
    tell(f"sklearn-rank: warning: {' '.join(str(message).split())}")
