"""Progress bars, with tqdm."""

from __future__ import annotations

from typing import Any


def import_tqdm() -> Any:
    """The progress bar of tqdm, or an ImportError that names the extra to install."""
    try:
        from tqdm.auto import tqdm
    except ImportError as error:
        raise ImportError('A progress bar needs tqdm: pip install "sklearn-rank[progress]".') from error
    return tqdm
