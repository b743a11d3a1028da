"""Warnings of this library, for filters: ``warnings.filterwarnings("ignore", category=RankingWarning)``."""

__all__ = ["RankingWarning"]


class RankingWarning(UserWarning):
    """Warning about data or models: a number was computed, but it may not mean what you think.

    ``docs/conventions/misuse.md`` says what the warnings mean and how to silence them.

    Examples
    --------
    >>> import warnings
    >>> from sklearn_rank.exceptions import RankingWarning
    >>> warnings.filterwarnings(
    ...     "ignore", message=".* worse than a random order", category=RankingWarning
    ... )
    """
