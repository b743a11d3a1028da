"""A fit that fails leaves an estimator as it was before, fitted or not."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, TypeVar

Fit = TypeVar("Fit", bound=Callable[..., Any])


def undone_if_failed(fit: Fit) -> Fit:
    """Decorate `fit` so that what it has set is taken back where it raises."""

    @functools.wraps(fit)
    def call(self: Any, *args: Any, **keywords: Any) -> Any:
        before = dict(vars(self))
        try:
            return fit(self, *args, **keywords)
        except BaseException:
            vars(self).clear()
            vars(self).update(before)
            raise

    return call  # type: ignore[return-value]
