"""A search while it runs, shown by scikit-learn's callbacks."""

from __future__ import annotations

import warnings
from collections.abc import Generator
from contextlib import contextmanager
from typing import Any

from sklearn_rank._utils.optional import import_optional
from sklearn_rank.model_selection._handing_on import is_outside


@contextmanager
def progress_of_search(search: Any) -> Generator[None]:
    """Show the fits of a search by scikit-learn's progress bar, unless it has callbacks; warn where it cannot be."""
    if is_outside(search) or not hasattr(search, "set_callbacks"):
        warnings.warn(
            "progress=True shows searches by the callbacks of scikit-learn 1.9 or later, which "
            f"{type(search).__name__} does not call here: use its own verbose.",
            UserWarning,
            stacklevel=5,
        )
        yield
        return
    if getattr(search, "_skl_callbacks", None):
        yield
        return
    import_optional("rich", extra="progress", purpose="The progress bar of a search")
    from sklearn.callback import ProgressBar

    search.set_callbacks(ProgressBar(max_propagation_depth=0))
    try:
        yield
    finally:
        search.set_callbacks()
