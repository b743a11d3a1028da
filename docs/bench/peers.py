"""The other libraries: what each calls a metric, how it is given the data, what it is asked, and our keywords for it.

A peer prepares once, untimed: it gets its own form of the arrays, rows of a query adjacent where it needs that. What is
timed is the call that it returns. `number` then makes a number of the call's result, untimed again.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import IntEnum
from functools import partial
from importlib import import_module
from importlib.metadata import packages_distributions, version
from typing import Any, NamedTuple
from warnings import catch_warnings, simplefilter

import numpy as np
from shapes import AGREEMENT, DEPTHS, SUITE, Data

from sklearn_rank import evaluate, parse_metric
from sklearn_rank._engine.read import read
from sklearn_rank._utils.blocks import thread_blocks
from sklearn_rank._utils.threads import map_blocks

LONGEST = 10_000  # rows of a query in LightGBM


class Start(IntEnum):
    """What a peer's timed call starts from: the more, the more of the work of ours it does too."""

    OWN_DATA = 0  # labels and queries that it has taken in
    GROUPED = 1  # arrays or a matrix, the rows of a query adjacent
    ROWS = 2  # rows in any order, each with its id


SAME_START = {"single": Start.GROUPED}
"""What the call of a peer must start from to do the same work as ours in a shape of rows in order."""


class Impossible(Exception):
    """Why a peer cannot do a shape or a metric."""


@dataclass
class Contest:
    """Two calls that must give the same number."""

    theirs: Callable[[], Any]
    ours: Callable[[], Any]
    number: Callable[[Any], Any] = np.asarray
    our_number: Callable[[Any], Any] = np.asarray

    def prepared(self) -> Contest:
        """The same contest; ours too has taken in labels and queries before it is timed."""
        if not isinstance(self.ours, OurCall):
            raise Impossible("grouping is what is prepared")
        return replace(self, ours=self.ours.prepare())

    def check(self) -> float:
        """Refuse to go on if the numbers differ; the first of them."""
        found, expected = self.our_number(self.ours()), self.number(self.theirs())
        if not np.allclose(found, expected, rtol=1e-9, atol=1e-12):
            raise AssertionError(f"The peer has {expected!r}, sklearn_rank has {found!r}.")
        return float(np.ravel(found)[0])


class Queries(NamedTuple):
    """Rows of a query adjacent, in the order of the input."""

    label: np.ndarray
    score: np.ndarray
    qid: np.ndarray
    number: np.ndarray
    sizes: np.ndarray
    order: np.ndarray

    @property
    def tied(self) -> bool:
        """Whether equal scores stand in one query."""
        order = np.lexsort((self.score, self.number))
        return bool(((np.diff(self.score[order]) == 0) & (np.diff(self.number[order]) == 0)).any())

    def bounds(self) -> list[tuple[int, int]]:
        """First row of each query and the one after its last."""
        stop = np.cumsum(self.sizes)
        return list(zip((stop - self.sizes).tolist(), stop.tolist(), strict=True))


def by_query(data: Data) -> Queries:
    """Make the rows of a query adjacent, without help from what is measured."""
    number = np.unique(data.qid, return_inverse=True)[1]
    order = np.argsort(number, kind="stable")
    label, score = data.y_true[order].astype(np.float64), data.y_score[order].astype(np.float64)
    return Queries(label, score, data.qid[order], number[order], np.bincount(number), order)


class OurCall(partial):
    """A call of ours; `prepare` makes the call that scores alone are given to."""

    prepare: Callable[[], Callable[[], Any]]


def our_call(data: Data, names: Sequence[str], n_jobs: int, **keywords: Any) -> OurCall:
    """What a user would type: the metric's function for one name, `evaluate` for several."""
    if len(names) > 1:
        call = OurCall(_means, data, names, n_jobs, **keywords)
    else:
        spec = parse_metric(names[0])
        k = {} if spec.k is None else {"k": spec.k}
        call = OurCall(spec.metric.function, data.y_true, data.y_score, qid=data.qid, n_jobs=n_jobs, **keywords, **k)
    call.prepare = partial(_prepared, data, names, n_jobs, **keywords)
    return call


def _prepared(data: Data, names: Sequence[str], n_jobs: int, **keywords: Any) -> Callable[[], Any]:
    import sklearn_rank

    metrics = names[0] if len(names) == 1 else names
    scorer = sklearn_rank.prepare(data.y_true, metrics=metrics, qid=data.qid, n_jobs=n_jobs, **keywords)
    return partial(scorer, data.y_score) if len(names) == 1 else lambda: list(scorer(data.y_score).values())


def _means(data: Data, names: Sequence[str], n_jobs: int, **keywords: Any) -> list[float]:
    result = evaluate(data.y_true, data.y_score, qid=data.qid, metrics=names, n_jobs=n_jobs, **keywords)
    return list(result.mean().values())


@dataclass(frozen=True)
class Peer:
    """A library: its module, what it calls our metrics, how both sides are prepared, and the rows it can be asked."""

    title: str
    module: str
    names: Mapping[str, str]
    prepare: Callable[[Data, list[str], list[str], int], Contest]
    max_rows: int | None = None
    start: Start = Start.OWN_DATA

    def load(self) -> str:
        """Import it, which raises ImportError where it is missing; its name and version."""
        import_module(self.module)
        return f"{self.title} {version(packages_distributions()[self.module][0])}"

    def asked(self, metric: str) -> list[str]:
        """Our names for a metric of the command line: one, or the part of the suite that this peer has."""
        return [name for name in (SUITE if metric == "suite" else [metric]) if name in self.names]

    def contest(self, data: Data, metric: str, n_jobs: int = 1) -> Contest:
        """Prepare both sides; `Impossible` says why that cannot be."""
        names = self.asked(metric)
        return self.prepare(data, names, [self.names[name] for name in names], n_jobs)

    def does_same_work(self, shape: str, prepared: bool = False) -> bool:
        """Whether both timed calls do the same work, up to steps that cost little in a shape.

        Ours groups shuffled rows, the largest part of that call; in a call on ten rows checks are the largest. If it is
        `prepared`, it does neither.
        """
        if prepared:
            return self.start < Start.ROWS
        return self.start >= (Start.ROWS if shape.startswith("shuffled") else SAME_START.get(shape, Start.OWN_DATA))


# --- rankers: the metric alone, on data that they have taken in; scores are of a model without trees -----------


def _lightgbm(data: Data, names: list[str], theirs: list[str], n_jobs: int) -> Contest:
    import lightgbm

    queries = by_query(data)
    if queries.sizes.max() > LONGEST:
        raise Impossible(f"at most {LONGEST:,} rows a query")
    at = sorted({int(name.split("@")[1]) for name in theirs})
    metrics = list(dict.fromkeys(name.split("@")[0] for name in theirs))
    params = {"objective": "lambdarank", "metric": metrics, "eval_at": at, "num_threads": n_jobs, "verbose": -1}
    train = lightgbm.Dataset(
        queries.score[:, None], queries.label, group=queries.sizes, init_score=queries.score, params=params
    )
    booster = lightgbm.Booster(params, train.construct())
    ours = our_call(data, names, n_jobs, convention="lightgbm")
    return Contest(booster.eval_train, ours, partial(_of_lightgbm, theirs))


def _of_lightgbm(theirs: list[str], result: Any) -> list[float]:
    of = {name: value for _, name, value, _ in result}
    return [of[name] for name in theirs]


def _xgboost(data: Data, names: list[str], theirs: list[str], n_jobs: int) -> Contest:
    import xgboost

    if any(not name.startswith("ndcg") for name in names):  # the others take binary labels
        data = data._replace(y_true=(data.y_true >= 1).astype(data.y_true.dtype))
    queries = by_query(data)
    test = xgboost.DMatrix(
        queries.score[:, None], queries.label, group=queries.sizes, base_margin=queries.score, nthread=n_jobs
    )
    booster = xgboost.Booster({"objective": "rank:ndcg", "eval_metric": theirs, "nthread": n_jobs}, [test])
    ours = our_call(data, names, n_jobs, convention="xgboost")
    return Contest(lambda: booster.eval(test), ours, partial(_of_xgboost, theirs))


def _of_xgboost(theirs: list[str], result: Any) -> list[float]:
    of = dict(part.removeprefix("eval-").rsplit(":", 1) for part in result.split("\t")[1:])
    return [float(of[name]) for name in theirs]


def _catboost(data: Data, names: list[str], theirs: list[str], n_jobs: int) -> Contest:
    from catboost.utils import eval_metric

    if any(name.startswith(("err", "pfound")) for name in names):  # labels are probabilities there
        data = data._replace(y_true=data.y_true / 8)
    if "auc" in names:
        data = data._replace(y_true=(data.y_true >= 1).astype(data.y_true.dtype))
    label, score, qid, *_ = by_query(data)
    ours = our_call(data, names, n_jobs, convention="catboost")
    return Contest(
        lambda: [eval_metric(label, score, name, group_id=qid, thread_count=n_jobs)[0] for name in theirs], ours
    )


# --- libraries of metrics --------------------------------------------------------------------------------------


def _scikit_learn(data: Data, names: list[str], theirs: list[str], n_jobs: int) -> Contest:
    """A matrix, one row a query, filled up with documents of no gain below the others."""
    import sklearn.metrics

    if "coverage_error" in names:  # of binary labels
        data = data._replace(y_true=(data.y_true >= 1).astype(data.y_true.dtype))
    queries = by_query(data)
    place = np.arange(queries.sizes.max()) < queries.sizes[:, None]
    gain, score = np.zeros(place.shape), np.full(place.shape, queries.score.min() - 1)
    gain[place], score[place] = queries.label, queries.score
    calls = []
    for name in theirs:
        function, _, k = name.partition("@")
        depth = {"k": int(k) if k else None} if "coverage_error" not in name else {}
        calls.append(partial(getattr(sklearn.metrics, function), gain, score, **depth))
    ours = our_call(data, names, n_jobs, convention="sklearn")
    return Contest(lambda: [call() for call in calls], ours)


def _scipy(data: Data, names: list[str], theirs: list[str], n_jobs: int) -> Contest:
    """A call for each query; 0 where there is no correlation."""
    import scipy.stats

    queries = by_query(data)
    lists = [(queries.label[a:b], queries.score[a:b]) for a, b in queries.bounds() if b > a + 1]

    def mean(name: str) -> float:
        function = getattr(scipy.stats, name)
        with catch_warnings():
            simplefilter("ignore", scipy.stats.ConstantInputWarning)
            values = [function(label, score).statistic for label, score in lists]
        return float(np.nansum(values)) / len(queries.sizes)

    ours = our_call(data, names, n_jobs, replace_undefined_by=0.0)
    return Contest(lambda: [mean(name) for name in theirs], ours)


def _dictionaries(queries: Queries, kind: type) -> tuple[list[dict[str, Any]], list[dict[str, float]]]:
    """Labels and scores of each query by document; ids fall, which is the order of pytrec_eval's ties."""
    n = len(queries.label)
    document = [f"{i:09d}" for i in range(n, 0, -1)]
    label, score = queries.label.astype(kind).tolist(), queries.score.tolist()
    return tuple(
        [dict(zip(document[a:b], values[a:b], strict=True)) for a, b in queries.bounds()] for values in (label, score)
    )


def _pytrec_eval(data: Data, names: list[str], theirs: list[str], n_jobs: int) -> Contest:
    import pytrec_eval

    labels, scores = _dictionaries(by_query(data), int)
    qrels, run = ({f"q{i}": of for i, of in enumerate(each)} for each in (labels, scores))
    evaluator = pytrec_eval.RelevanceEvaluator(qrels, set(theirs))
    ours = our_call(data, names, n_jobs, convention="trec_eval")
    return Contest(
        lambda: evaluator.evaluate(run), ours, lambda of: [np.mean([q[name] for q in of.values()]) for name in theirs]
    )


def _in_order_of(data: Data, queries: Queries, ranked: dict[str, list[str]]) -> Data:
    """Let labels of tied rows change places, so that in the order of the input they stand as a peer ranked them."""
    n = len(queries.label)
    place, label, y_true = np.empty(n), np.empty(n), np.empty_like(data.y_true)
    for documents in ranked.values():
        place[[n - int(document) for document in documents]] = np.arange(len(documents))
    slot, taken = (np.lexsort((last, queries.score, queries.number)) for last in (np.arange(n), place))
    label[slot] = queries.label[taken]
    y_true[queries.order] = label
    return data._replace(y_true=y_true)


def _ranx(data: Data, names: list[str], theirs: list[str], n_jobs: int) -> Contest:
    import ranx

    queries = by_query(data)
    labels, scores = _dictionaries(queries, int)
    keys = [f"q{i:08d}" for i in range(len(labels))]
    qrels, run = (ranx.Qrels(dict(zip(keys, labels, strict=True))), ranx.Run(dict(zip(keys, scores, strict=True))))
    if queries.tied:
        data = _in_order_of(data, queries, {key: list(run.run[key]) for key in keys})
    call = partial(ranx.evaluate, qrels, run, theirs, threads=n_jobs, save_results_in_run=False)
    ours = our_call(data, names, n_jobs, convention="ranx")
    return Contest(call, ours, lambda of: [of[name] for name in theirs] if isinstance(of, dict) else of)


# --- data frames -----------------------------------------------------------------------------------------------


def _grouped(data: Data, n_jobs: int) -> Callable[[], Any]:
    """Labels and scores by query, which metrics gather block by block."""

    def group() -> list[np.ndarray]:
        queries = read(data.y_true, data.y_score, qid=data.qid, n_jobs=n_jobs)
        grouping = queries.grouping
        if grouping.order is None:
            return [queries.label, queries.score]
        columns, out = (queries.label, queries.score), np.empty((2, len(queries.label)))

        def gather(first: int, last: int) -> None:
            rows = slice(grouping.indptr[first], grouping.indptr[last])
            for column, room in zip(columns, out, strict=True):
                room[rows] = grouping.take(column, first, last)  # what every metric does before it ranks

        map_blocks(gather, thread_blocks(grouping.indptr), n_jobs)
        return [*out]

    return group


def _in_place(label: np.ndarray) -> float:
    """Number that tells whether labels stand in the same order."""
    return float(label @ np.arange(1, len(label) + 1))


def _pandas(data: Data, names: list[str], theirs: list[str], n_jobs: int) -> Contest:
    import pandas as pd

    qid = pd.Series(data.qid)

    def group() -> tuple[np.ndarray, np.ndarray]:
        order = pd.factorize(qid)[0].argsort(kind="stable")
        return data.y_true[order], data.y_score[order]

    return Contest(group, _grouped(data, n_jobs), lambda of: _in_place(of[0]), lambda of: _in_place(of[0]))


def _frame(data: Data) -> Any:
    import polars as pl

    qid = data.qid.tolist() if data.qid.dtype.kind in "UO" else data.qid
    return pl.DataFrame({"qid": qid, "y": data.y_true, "s": data.y_score})


def _polars(data: Data, names: list[str], theirs: list[str], n_jobs: int) -> Contest:
    import polars as pl

    frame = _frame(data)
    if names == ["group"]:
        return Contest(
            lambda: frame.group_by("qid", maintain_order=True).agg("y", "s"),
            _grouped(data, n_jobs),
            lambda of: _in_place(of["y"].explode().to_numpy()),
            lambda of: _in_place(of[0]),
        )
    if names == ["sort"]:
        ranked = pl.col("y").sort_by("s", descending=True, maintain_order=True)
        ours = our_call(data, ["ndcg"], n_jobs, ties="stable")
        return Contest(lambda: frame.group_by("qid").agg(ranked), ours, lambda of: _ndcg_of_lists(of["y"]))
    formulas = [_expression(name).alias(name) for name in names]
    ours = our_call(data, names, n_jobs, ties="stable")
    return Contest(partial(_means_of, frame, formulas), ours, lambda of: of.row(0))


def _means_of(frame: Any, formulas: list[Any]) -> Any:
    """Means of expressions over queries; nan, which is 0 / 0, counts as 0."""
    import polars.selectors as cs

    return frame.lazy().group_by("qid").agg(formulas).select(cs.exclude("qid").fill_nan(0).mean()).collect()


def _polars_ds(data: Data, names: list[str], theirs: list[str], n_jobs: int) -> Contest:
    """nDCG with `ignore_ties`, because its default calls what polars 2 has not: the last of tied rows is first."""
    import polars_ds

    formulas = [
        polars_ds.query_ndcg_score("y", "s", k=int(k) if k else None, ignore_ties=True).alias(name)
        for name, k in ((name, name.partition("@")[2]) for name in theirs)
    ]
    backwards = Data(*(np.ascontiguousarray(column[::-1]) for column in data))
    ours = our_call(backwards, names, n_jobs, gain="linear", ties="stable")
    return Contest(partial(_means_of, _frame(data), formulas), ours, lambda of: of.row(0))


def _expression(name: str) -> Any:
    """nDCG or MAP of one query."""
    import polars as pl

    metric, _, k = name.partition("@")
    ranks = pl.int_range(1, pl.len() + 1)
    by_score = {"by": "s", "descending": True, "maintain_order": True}
    if metric == "map":
        relevant = (pl.col("y").sort_by(**by_score) >= 1).cast(pl.Float64)
        return (relevant * relevant.cum_sum() / ranks).sum() / relevant.sum()
    gain, discount = pl.lit(2.0) ** pl.col("y") - 1, (ranks + 1).log(2)
    ranked, ideal = gain.sort_by(**by_score), gain.sort(descending=True)
    if k:
        ranked, ideal, discount = (of.head(int(k)) for of in (ranked, ideal, discount))
    return (ranked / discount).sum() / (ideal / discount).sum()


def _ndcg_of_lists(lists: Any) -> float:
    """Mean nDCG of ranked labels, to see that they were ranked."""
    sizes, gain = lists.list.len().to_numpy().astype(np.int64), np.exp2(lists.explode().to_numpy()) - 1
    start = np.cumsum(sizes) - sizes
    discount = np.log2(np.arange(len(gain)) - np.repeat(start, sizes) + 2)
    ideal = gain[np.lexsort((-gain, np.repeat(np.arange(len(sizes)), sizes)))]
    dcg, best = (np.add.reduceat(of / discount, start) for of in (gain, ideal))
    return float(np.divide(dcg, best, out=np.zeros(len(dcg)), where=best > 0).mean())


def _alone(data: Data, names: list[str], theirs: list[str], n_jobs: int) -> Contest:
    """Ours with the defaults, against itself: for memory, and for what the cost grows with."""
    ours = _grouped(data, n_jobs) if names == ["group"] else our_call(data, theirs, n_jobs)
    return Contest(ours, ours)


# --- the table -------------------------------------------------------------------------------------------------


def each_cutoff(table: Mapping[str, str], cut: str | None, full: str | None) -> dict[str, str]:
    """Our names and theirs, at each cutoff and on the whole list, where a peer has that."""
    whole = {} if full is None else {ours: full.format(theirs) for ours, theirs in table.items()}
    cuts = {} if cut is None else {f"{o}@{k}": cut.format(t, k=k) for o, t in table.items() for k in DEPTHS}
    return whole | cuts


def same(*metrics: str) -> dict[str, str]:
    """Metrics that have our names."""
    return dict(zip(metrics, metrics, strict=True))


RANKER = same("ndcg", "map")
CATBOOST = {"ndcg": "NDCG", "dcg": "DCG", "map": "MAP", "mrr": "MRR", "precision": "PrecisionAt", "recall": "RecallAt"}
CATBOOST_ONLY = {"err@10": "ERR:top=10", "pfound@10": "PFound:top=10;decay=0.85", "auc": "QueryAUC:type=Ranking"}
TREC = {"ndcg": "ndcg_cut", "map": "map_cut", "precision": "P", "recall": "recall", "hit": "success"}
TREC_WHOLE = same("ndcg", "map") | {"mrr": "recip_rank", "precision": "set_P", "recall": "set_recall"}
OURS = [*SUITE, "ndcg@100", "auc", "pfound@10", *AGREEMENT]
RANX = same("dcg", "ndcg", "map", "mrr", "precision", "recall", "f1") | {"hit": "hit_rate"}

PEERS: dict[str, Peer] = {
    "ours": Peer("sklearn_rank", "sklearn_rank", same(*OURS, "group") | {"sort": "ndcg"}, _alone),
    "lightgbm": Peer("LightGBM", "lightgbm", each_cutoff(RANKER, "{}@{k}", f"{{}}@{LONGEST}"), _lightgbm),
    "xgboost": Peer(
        "XGBoost", "xgboost", each_cutoff(RANKER | {"precision": "pre"}, "{}@{k}", "{}@2000000"), _xgboost
    ),
    "catboost": Peer(
        "CatBoost", "catboost", each_cutoff(CATBOOST, "{}:top={k}", "{}:top=-1") | CATBOOST_ONLY, _catboost, 1_000_000,
        Start.GROUPED,
    ),
    "scikit-learn": Peer(
        "scikit-learn", "sklearn",
        each_cutoff({"ndcg": "ndcg_score", "dcg": "dcg_score"}, "{}@{k}", "{}") | {"coverage_error": "coverage_error"},
        _scikit_learn, 1_000_000, Start.GROUPED,
    ),
    "scipy": Peer("SciPy", "scipy", {"kendall": "kendalltau", "spearman": "spearmanr"}, _scipy, 200_000, Start.GROUPED),
    "pytrec_eval": Peer(
        "pytrec_eval", "pytrec_eval", each_cutoff(TREC, "{}_{k}", None) | TREC_WHOLE, _pytrec_eval, 200_000
    ),
    "ranx": Peer("ranx", "ranx", each_cutoff(RANX, "{}@{k}", "{}"), _ranx, 200_000),
    "polars": Peer(
        "polars", "polars", each_cutoff(same("ndcg"), "", "") | same("map", "group", "sort"), _polars, None, Start.ROWS
    ),
    "polars_ds": Peer(
        "polars_ds", "polars_ds", each_cutoff(same("ndcg"), "{}@{k}", "{}"), _polars_ds, None, Start.ROWS
    ),
    "pandas": Peer("pandas", "pandas", {"group": ""}, _pandas, None, Start.ROWS),
}  # fmt: skip
