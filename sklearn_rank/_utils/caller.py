"""Where the code that calls this library stands, for warnings."""

import sys


def levels_to_caller() -> int:
    """Number of frames from the function that asks up to the code that called this library: the `stacklevel`."""
    frame, levels = sys._getframe(1), 1
    while frame.f_back is not None and frame.f_globals.get("__name__", "").startswith("sklearn_rank."):
        frame, levels = frame.f_back, levels + 1
    return levels
