"""Where the code that calls this library stands, for warnings."""

import sys


def levels_to_caller() -> int:
    """Number of frames up to the code that called this library, directly or by scikit-learn: the `stacklevel`."""
    frame, levels = sys._getframe(1), 1
    while frame.f_back is not None and frame.f_globals.get("__name__", "").startswith(("sklearn_rank.", "sklearn.")):
        frame, levels = frame.f_back, levels + 1
    return levels
