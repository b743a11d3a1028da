"""Warnings of this library, for filters: ``warnings.filterwarnings("ignore", category=RankingWarning)``."""

__all__ = ["RankingWarning"]


class RankingWarning(UserWarning):
    """Warning about data or models: the result may not mean what it seems to mean.

    ``docs/conventions/misuse.md`` explains the warnings and how to silence them.

    Examples
    --------
    >>> import warnings
    >>> from sklearn_rank.exceptions import RankingWarning
    >>> warnings.filterwarnings(
    ...     "ignore", message=".* worse than a random order", category=RankingWarning
    ... )
    """
