"""Exposure: how often each item stands among the first k of the users' lists, and how evenly."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from sklearn_rank._engine.ids import is_missing
from sklearn_rank._utils.arguments import named_arguments
from sklearn_rank._utils.constraints import RANDOM_STATE, SHARE, Constraint, is_count, random_of
from sklearn_rank._utils.containers import as_numpy
from sklearn_rank._utils.echo import echo
from sklearn_rank._utils.read_only import ReadOnlyArrays
from sklearn_rank._utils.table import Table, TableReport
from sklearn_rank._utils.typing import Array, DataFrame, RandomState
from sklearn_rank.io._forms import judged_entries
from sklearn_rank.io._mappings import JudgmentsLike, RunLike, by_index
from sklearn_rank.recommenders._interactions import FittedInteractions, IdIndex, InteractionColumns, read_pairs
from sklearn_rank.recommenders._top_items import TopItems, top_items

HEAD = 0.8
"""Share of the interactions in training that the most popular items, the head, have."""

FROM_TRAINING = ("long_tail", "popularity", "novelty")
"""Values that take the interactions in training."""
VALUES = ("coverage", "gini", "entropy", *FROM_TRAINING)

N_RESAMPLES = Constraint("an int >= 2, or None", lambda v: v is None or (is_count(v) and v >= 2), "")


@dataclass(frozen=True, repr=False)
class Exposure(TableReport, ReadOnlyArrays):
    """How often each item is shown, from `exposure`.

    Attributes
    ----------
    items : ndarray of shape (n_items,)
        Ids of all items, in the order given.
    counts : ndarray of shape (n_items,)
        Expected number of users who have each item among their first k.
    n_users : int
        Number of users.
    coverage : float
        Expected share of the items that at least one user has among the first k.
    gini : float
        Gini coefficient of the counts: 0 if all items are shown as often, near 1 if few are shown. NaN if no item is.
    entropy : float
        Shannon entropy of the counts, in bits: ``log2(n_items)`` if all items are shown as often.
    long_tail : float or None
        Mean share of a list that belongs to the long tail: to items outside of the most popular ones that have 80 % of
        the interactions in training together. This and the next two are None without `train`.
    popularity : float or None
        Mean over lists of the mean popularity of their items, the number of users who have an item in training.
    novelty : float or None
        Mean over lists of the mean of ``-log2(popularity / n_users)`` of their items, in bits. An item that no user has
        in training counts as if one had.
    groups : Table or None
        For each group of items its number of items, its share of the counts and, with `judgments`, its share of the
        relevant items and the ratio of both. None without `groups`.

    Examples
    --------
    Of four items, b is shown to one user and a to two. The counts 0, 0, 1, 2 have the Gini coefficient (-3 * 0 - 1 * 0
    + 1 * 1 + 3 * 2) / (4 * 3):

    >>> from sklearn_rank.recommenders import exposure
    >>> shown = exposure({"u": ["a", "b"], "v": ["a"]}, items=["a", "b", "c", "d"], k=2)
    >>> shown.coverage, round(shown.gini, 4)
    (0.5, 0.5833)
    """

    items: NDArray[Any]
    counts: Array
    n_users: int
    coverage: float
    gini: float
    entropy: float
    long_tail: float | None = None
    popularity: float | None = None
    novelty: float | None = None
    groups: Table | None = None
    _without_part: dict[str, Array] | None = None

    def to_dict(self) -> dict[str, float]:
        """Values by name, for a tracker."""
        values = {name: getattr(self, name) for name in VALUES}
        return {name: value for name, value in values.items() if value is not None}

    def confidence_interval(self, confidence_level: float = 0.95) -> dict[str, tuple[float, float]]:
        """Confidence interval of each value, for another sample of as many users.

        Users are divided into `n_resamples` parts at random, and each part is left out in turn: the interval is
        Student's t with the standard error of the jackknife. The bootstrap is wrong here: it draws users twice, so each
        of its samples covers fewer items than the data.

        Parameters
        ----------
        confidence_level : float, default=0.95
            Between 0 and 1, exclusive.

        Raises
        ------
        ValueError
            If `exposure` was called without `n_resamples`, or the level is not between 0 and 1.
        """
        from scipy import stats

        SHARE("confidence_level", confidence_level, "confidence_interval")
        if self._without_part is None:
            raise ValueError("confidence_interval() needs exposure(..., n_resamples=100). Got n_resamples=None.")
        intervals = {}
        for name, value in self.to_dict().items():
            values = self._without_part[name]
            n = len(values)
            error = np.sqrt((n - 1) / n * ((values - values.mean()) ** 2).sum())
            reach = float(stats.t.ppf((1 + confidence_level) / 2, n - 1) * error)
            low, high = BOUNDS.get(name, (0.0, np.inf))
            intervals[name] = max(value - reach, low), min(value + reach, high)
        return intervals

    def to_frame(self) -> DataFrame:
        """Items and their counts as a pandas DataFrame; needs the extra "pandas"."""
        return Table(("item", "count"), tuple(zip(self.items.tolist(), self.counts.tolist(), strict=True))).to_frame()

    def _title(self) -> str:
        return f"Exposure of {len(self.items)} items to {self.n_users} users"

    def _tables(self) -> list[Table]:
        rows: list[tuple[Any, ...]] = [*self.to_dict().items()]
        columns: tuple[str, ...] = ("", "value")
        if self._without_part is not None:
            intervals, columns = self.confidence_interval(), (*columns, "low", "high")
            rows = [(name, value, *intervals[name]) for name, value in rows]
        table = Table(columns, tuple(rows))
        return [table] if self.groups is None else [table, self.groups]


BOUNDS = {"coverage": (0.0, 1.0), "gini": (0.0, 1.0), "long_tail": (0.0, 1.0)}
"""Lowest and highest value, if it is not 0 and infinity."""


@named_arguments
def exposure(
    run: RunLike,
    *,
    items: Any,
    k: int,
    train: Any = None,
    groups: Any = None,
    judgments: JudgmentsLike | None = None,
    exclude: Mapping[Any, Iterable[Any]] | None = None,
    duplicates: str = "raise",
    n_resamples: int | None = None,
    random_state: RandomState = None,
) -> Exposure:
    """Count how many users see each item among their first k, and measure how evenly items are shown.

    The values belong to a whole run, so `evaluate_run`, with a value for each user, does not have them. They are
    computed from the probability that item i is among the first k of user u: 1 or 0, or a fraction for items whose
    score is tied across the cutoff.

    Parameters
    ----------
    run : mapping, table, path, Entries, ranx.Run or matrix
        ``{user: {item: score}}``, ``{user: [items, best first]}``, or a table of users, items and scores or ranks,
        see `evaluate_run`; or a matrix of users by items in the order of `items`, dense or sparse.
    items : array-like of shape (n_items,)
        Ids of all items that could be shown, each once; coverage and Gini depend on how many there are.
    k : int
        Ranks that a user sees.
    train : frame or array of users and items, or dict of user to items, default=None
        Interactions in training, for `long_tail`, `popularity` and `novelty`: columns "user_id" and "item_id" of a
        frame, the first two columns of an array. A pair counts once.
    groups : dict of item to group, Series, or array-like of shape (n_items,), default=None
        Group of each item, such as its provider. An array has them in the order of `items`.
    judgments : mapping or Entries, default=None
        What is relevant to each user, see `evaluate_run`: labels of at least 1. Only with `groups`.
    exclude : mapping of user to items, or table, default=None
        Items to remove from the run, such as the items of training.
    duplicates : {"raise", "first"}, default="raise"
        An item that is in a list twice: refuse it, or take its first place.
    n_resamples : int, default=None
        Number of parts of the users for `Exposure.confidence_interval`, such as 100; at most the number of users. None:
        no intervals.
    random_state : int, RandomState or None, default=None
        Seed of the division into parts.

    Returns
    -------
    Exposure
        With `counts`, `coverage`, `gini`, `entropy`, `long_tail`, `popularity`, `novelty`, `groups`,
        ``confidence_interval()``, ``to_dict()``, ``to_frame()``.

    Raises
    ------
    ValueError
        If the run has an item that is not in `items`, an item has no group, or a keyword has an invalid value.
    TypeError
        If the run or the judgments have another form.

    Notes
    -----
    With p the probability, ``counts_i = sum of p over users`` and ``coverage = mean over items of
    1 - product of (1 - p) over users``. With counts sorted upwards, ``gini = sum of (2 i - n - 1) counts_i / (n sum of
    counts)``. The three values of lists are means over users whose list is not empty.

    Gini is defined as in RecBole and LensKit; Elliot's is ``1 - gini * n / (n - 1)``.
    ``docs/recommenders/exposure.md`` compares other libraries.

    References
    ----------
    G. Adomavicius and Y. Kwon, "Improving aggregate recommendation diversity using ranking-based techniques", IEEE
    TKDE 24(5), 2012; novelty: T. Zhou et al., "Solving the apparent diversity-accuracy dilemma of recommender systems",
    PNAS 107(10), 2010; the long tail: H. Abdollahpouri, R. Burke and B. Mobasher, "Managing popularity bias in
    recommender systems with personalized re-ranking", FLAIRS 2019.

    Examples
    --------
    Three users see two items each. Items b and c are tied for the second rank of the last user:

    >>> from sklearn_rank.recommenders import exposure
    >>> run = {"u": ["a", "b"], "v": ["a", "b"], "w": {"a": 2, "b": 1, "c": 1}}
    >>> shown = exposure(run, items=["a", "b", "c", "d"], k=2)
    >>> shown.counts
    array([3. , 2.5, 0.5, 0. ])
    """
    N_RESAMPLES("n_resamples", n_resamples, "exposure")
    RANDOM_STATE("random_state", random_state, "exposure")
    top = top_items(run, items, k, "exposure", duplicates=duplicates, exclude=exclude)
    attributes = {} if train is None else _attributes(train, top.items)
    group = None if groups is None else _group_of_items(groups, top.items)
    if judgments is not None and group is None:
        raise ValueError("judgments= of exposure needs groups=, whose shares it compares. Got groups=None.")
    sums = Sums.of(top, sparse.csr_array(np.ones((1, len(top.users)))))
    values = {name: float(column[0]) for name, column in sums.values(attributes).items()}
    without_part = None
    if n_resamples is not None:
        if len(top.users) < 2:
            raise ValueError("n_resamples of exposure needs two users or more. Got one.")
        parts = Sums.of(top, _parts(len(top.users), n_resamples, random_state))
        without_part = sums.less(parts).values(attributes)
    counts = sums.counts[0]
    table = None if group is None else _table_of_groups(group, counts, judgments, top)
    return Exposure(top.items.copy(), counts, len(top.users), **values, groups=table, _without_part=without_part)


def _parts(n_users: int, n_resamples: int, random_state: RandomState) -> Any:
    """Membership of users in parts of about equal size, shape (n_parts, n_users)."""
    n_parts = min(n_resamples, n_users)
    part = random_of(random_state, "exposure").permutation(np.arange(n_users) % n_parts)
    return sparse.csr_array((np.ones(n_users), (part, np.arange(n_users))), shape=(n_parts, n_users))


@dataclass(frozen=True)
class Sums:
    """Sums over parts of the users, a row for each part.

    `counts` are of probabilities, `shares` of these over the length of the list, `n_certain` of probabilities of 1, and
    `log_unseen` of logarithms of the probability not to be seen, for all others; `n_lists` counts lists.
    """

    counts: Array
    shares: Array
    n_certain: Array
    log_unseen: Array
    n_lists: Array

    @classmethod
    def of(cls, top: TopItems, parts: Any) -> Sums:
        """Sums over the users in each part."""
        chance, per_rank = top.chance, sparse.diags_array(1 / np.maximum(top.length, 1))
        log_unseen = sparse.diags_array(np.log1p(-top.share)) @ top.tied
        matrices = chance, per_rank @ chance, top.certain, log_unseen
        counts, shares, n_certain, log_unseen = ((parts @ matrix).toarray() for matrix in matrices)
        return cls(counts, shares, n_certain, log_unseen, parts @ (top.length > 0).astype(np.float64))

    @classmethod
    def total(cls, blocks: Sequence[Sums]) -> Sums:
        """Sums over all users of several blocks."""
        return cls(**{name: np.sum([getattr(of, name) for of in blocks], axis=0) for name in cls.__dataclass_fields__})

    def less(self, parts: Sums) -> Sums:
        """Sums without each of the parts; probabilities may be below 0 by rounding."""
        without = {name: getattr(self, name) - getattr(parts, name) for name in self.__dataclass_fields__}
        return Sums(**{name: x if name == "log_unseen" else np.maximum(x, 0.0) for name, x in without.items()})

    def values(self, attributes: Mapping[str, Array]) -> dict[str, Array]:
        """All values, each with an entry for each row."""
        n_items, total = self.counts.shape[1], self.counts.sum(axis=1)
        seen = np.where(self.n_certain > 0.5, 1.0, -np.expm1(np.minimum(self.log_unseen, 0.0)))
        ranks = 2.0 * np.arange(1, n_items + 1) - n_items - 1
        with np.errstate(divide="ignore", invalid="ignore"):
            share = self.counts / total[:, None]
            bits = np.where(share > 0, -share * np.log2(share), 0.0).sum(axis=1)
            means = {name: self.shares @ values / self.n_lists for name, values in attributes.items()}
            gini = np.sort(self.counts, axis=1) @ ranks / (n_items * total)
        entropy = np.where(total > 0, bits, np.nan)
        return {"coverage": seen.mean(axis=1), "gini": np.maximum(gini, 0.0), "entropy": entropy, **means}


# --- attributes of items -------------------------------------------------------------------------------------


def _attributes(train: Any, items: NDArray[Any]) -> dict[str, Array]:
    """Membership in the long tail, popularity and novelty of each item."""
    pairs = read_pairs(train, InteractionColumns(None, None, "exposure"), "train")
    if not len(pairs.pair):
        raise ValueError("train of exposure must hold a user and an item. Got no pair.")
    return attributes_of(pairs, items)


def attributes_of(pairs: FittedInteractions, items: NDArray[Any]) -> dict[str, Array]:
    """Membership in the long tail, popularity and novelty of each item, by pairs in training."""
    place = IdIndex(items).places(pairs.items)
    of_training = np.bincount(pairs.pair % len(pairs.items), minlength=len(pairs.items))
    popularity = np.zeros(len(items))
    popularity[place[place >= 0]] = of_training[place >= 0]
    if not popularity.any():
        raise ValueError(
            "train of exposure must hold some of the items, and ids of one type. "
            f"Got {echo(pairs.items[:1].tolist()[0])}, where items are such as {echo(items[:1].tolist()[0])}."
        )
    novelty = -np.log2(np.maximum(popularity, 1.0) / len(pairs.users))
    return dict(zip(FROM_TRAINING, (_in_tail(popularity), popularity, novelty), strict=True))


def _in_tail(popularity: Array) -> Array:
    """Probability of each item to be in the long tail, items of equal popularity standing in any order."""
    level, of_item, size = np.unique(-popularity, return_inverse=True, return_counts=True)
    before = np.append(0.0, np.cumsum(-level * size)[:-1])
    asked = HEAD * popularity.sum() - before
    # As many items as it takes to have no less than the head's share; the last of them goes beyond it.
    n_head = np.clip(np.ceil(asked / np.maximum(-level, 1.0) - 1e-9), 0, size)
    return (1.0 - n_head / size)[of_item]


def _group_of_items(groups: Any, items: NDArray[Any]) -> list[Any]:
    """Group of each item; none is missing."""
    group = _groups_in_order(groups, items)
    missing = [item for item, one in zip(items.tolist(), group, strict=True) if is_missing(one)]
    if missing:
        raise ValueError(
            f"groups of exposure must have no missing value. Got one for {len(missing)} of {len(items)} items, the "
            f"first is {echo(missing[0])}: name a group of its own, such as 'unknown'."
        )
    return group


def _groups_in_order(groups: Any, items: NDArray[Any]) -> list[Any]:
    """Group of each item, as it was given."""
    if hasattr(groups, "index") and hasattr(groups, "to_dict"):
        groups = by_index(groups, "groups of exposure")
    if not isinstance(groups, Mapping):
        if isinstance(groups, str) or not isinstance(groups, Iterable):
            raise TypeError(
                f"groups of exposure must be {{item: group}}, or a list with one for each item. Got {echo(groups)}."
            )
        listed = [*as_numpy(groups).tolist()] if hasattr(groups, "__array__") else [*groups]
        if len(listed) != len(items):
            raise ValueError(f"groups of exposure must have one for each of {len(items)} items. Got {len(listed)}.")
        return listed
    without = [item for item in items.tolist() if item not in groups]
    if without:
        raise ValueError(
            f"groups of exposure must have each item. Got no group for {len(without)} of {len(items)} items, the first "
            f"is {echo(without[0])}."
        )
    return [groups[item] for item in items.tolist()]


def _table_of_groups(group: list[Any], counts: Array, judgments: JudgmentsLike | None, top: TopItems) -> Table:
    """Number of items, share of the counts and of what is relevant, and their ratio, for each group."""
    numbers: dict[Any, int] = {}
    number = np.array([numbers.setdefault(one, len(numbers)) for one in group])
    sizes = np.bincount(number).tolist()
    exposed = _shares(np.bincount(number, counts))
    columns: dict[str, list[Any]] = {"group": [*numbers], "items": sizes, "exposure": exposed.tolist()}
    if judgments is not None:
        entries, items = judged_entries(judgments), top.items
        if (users := {*entries.qid.names.tolist()}).isdisjoint(top.users.tolist()):
            raise ValueError(
                "judgments of exposure must have a user of the run, and ids of one type. Got users such as "
                f"{echo(next(iter(users), None))}, where the run has {echo(top.users[:1].tolist()[0])}."
            )
        place = IdIndex(items).places(np.asarray(entries.doc_id))
        if not (place >= 0).any():
            raise ValueError(
                "judgments of exposure must hold some of the items, and ids of one type. Got "
                f"{echo(np.asarray(entries.doc_id)[:1].tolist())}, where items are such as {echo(items[:1].tolist())}."
            )
        relevant = _shares(np.bincount(number[place[(place >= 0) & (entries.value >= 1)]], minlength=len(numbers)))
        with np.errstate(divide="ignore", invalid="ignore"):
            columns |= {"relevance": relevant.tolist(), "ratio": (exposed / relevant).tolist()}
    return Table(tuple(columns), tuple(zip(*columns.values(), strict=True)))


def _shares(x: NDArray[Any]) -> Array:
    """Shares of the sum; NaN if that is 0."""
    total = float(x.sum())
    return x / total if total else np.full(len(x), np.nan)
