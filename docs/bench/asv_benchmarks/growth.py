"""What the time of a call grows with."""

from peers import our_call
from shapes import SUITE, make, of_length

METRICS = ["ndcg@10", "ndcg", "map", "err", "auc"]


class Rows:
    """More queries of 120 rows."""

    params = ([1_000, 10_000, 100_000, 1_000_000, 10_000_000], METRICS)
    param_names = ("rows", "metric")

    def setup(self, rows: int, metric: str) -> None:
        """Make the arrays."""
        self.call = our_call(make("mslr", rows), [metric], 1)

    def time_call(self, rows: int, metric: str) -> None:
        """Seconds."""
        self.call()


class Length(Rows):
    """A million rows in longer and longer lists."""

    params = ([1, 10, 100, 1_000, 10_000, 100_000, 1_000_000], METRICS)
    param_names = ("length", "metric")

    def setup(self, length: int, metric: str) -> None:
        """Make the arrays."""
        self.call = our_call(of_length(length, 1_000_000 // length, 0), [metric], 1)


class Queries(Rows):
    """More queries of 5 rows."""

    params = ([10, 1_000, 100_000, 1_000_000], METRICS)
    param_names = ("queries", "metric")

    def setup(self, queries: int, metric: str) -> None:
        """Make the arrays."""
        self.call = our_call(of_length(5, queries, 0), [metric], 1)


class Cutoff(Rows):
    """Deeper cutoffs of the same lists."""

    params = ([1, 3, 10, 30, 100, 300], ["ndcg", "map", "err"])
    param_names = ("k", "metric")

    def setup(self, k: int, metric: str) -> None:
        """Make the arrays."""
        self.call = our_call(make("mslr", 1_000_000), [f"{metric}@{k}"], 1)


class Numbers:
    """More numbers of the suite in one pass, spread over it."""

    params = [2, 6, 12, 36, 72]
    param_names = ("numbers",)

    def setup(self, numbers: int) -> None:
        """Make the arrays."""
        self.call = our_call(make("mslr", 1_000_000), SUITE[:: len(SUITE) // numbers], 1)

    def time_call(self, numbers: int) -> None:
        """Seconds."""
        self.call()
