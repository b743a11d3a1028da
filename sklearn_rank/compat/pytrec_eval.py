"""The calls of pytrec_eval, computed by this library: ``from sklearn_rank.compat import pytrec_eval``.

The same dictionaries of floats come out, with trec_eval's rules: documents by score in single precision, equal scores
by falling id, documents without a judgment are not relevant. ``docs/coming_from/pytrec_eval.md`` has the differences.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from numbers import Integral, Real
from typing import Any, TypeVar

import numpy as np

from sklearn_rank._evaluation.evaluate import evaluate
from sklearn_rank._metric.conventions import our_name, why_not_here
from sklearn_rank._metric.names import parse_metric
from sklearn_rank._metric.spec import MetricSpec
from sklearn_rank._metric.trec_measures import FAMILIES, SETS, own_measure
from sklearn_rank._utils.constraints import BOOL
from sklearn_rank._utils.echo import echo, one_line
from sklearn_rank._utils.numbers import as_floats
from sklearn_rank._utils.typing import Array
from sklearn_rank.io import join
from sklearn_rank.io._mappings import entries_of

__all__ = ["RelevanceEvaluator", "compute_aggregated_measure", "supported_measures", "supported_nicknames"]

WORDS = ("runid", "relstring")
"""Measures that are words, which pytrec_eval reports as 0."""
OF_ALL = {"runid", "relstring", "ndcg_rel", "Rndcg", "G"}

supported_nicknames: dict[str, set[str]] = {
    "official": {"runid", *SETS["official"]},
    "set": {"runid", *SETS["set"]},
    "all_trec": {*OF_ALL, *SETS["all_trec"]} - {"ideal_dcg", "dcg"},
}
"""Sets of measures by their nickname."""
supported_measures: set[str] = supported_nicknames["all_trec"].copy()
"""Measures; those with a parameter take it after "." or "_"."""

WITH_DECIMALS = ("iprec_at_recall", "Rprec_mult")
LOWEST = 0.00001
"""Least value that enters a geometric mean."""


class RelevanceEvaluator:
    """Evaluate runs against the same judgments, like pytrec_eval.

    Parameters
    ----------
    query_relevance : dict of str to dict of str to int
        Relevance by query and document.
    measures : iterable of str
        Names of measures, such as "map", "P_10", "ndcg_cut.5,10", and nicknames, such as "official".
    relevance_level : int, default=1
        Lowest relevance of a relevant document.
    judged_docs_only_flag : bool, default=False
        Whether to leave out documents without a judgment.

    Raises
    ------
    ValueError
        If a measure is not in `supported_measures`, or `measures` is a string.
    TypeError
        If judgments are not dictionaries of str to dictionaries of str to int, or the level is below 1.

    Examples
    --------
    >>> from sklearn_rank.compat import pytrec_eval
    >>> evaluator = pytrec_eval.RelevanceEvaluator({"q1": {"d1": 0, "d2": 1}}, {"map", "P_1"})
    >>> values = evaluator.evaluate({"q1": {"d1": 0.9, "d2": 0.8}})
    >>> values["q1"]["map"], values["q1"]["P_1"]
    (0.5, 0.0)
    """

    def __init__(
        self,
        query_relevance: Mapping[str, Mapping[str, int]],
        measures: Iterable[str],
        relevance_level: int = 1,
        judged_docs_only_flag: bool = False,
    ) -> None:
        _check_dictionaries(query_relevance, Integral, "Expected relevance to be integer.")
        if not isinstance(relevance_level, (int, Real)) or relevance_level < 1:
            raise TypeError(f"Argument relevance_level should be positive. Got {echo(relevance_level)}.")
        BOOL("judged_docs_only_flag", judged_docs_only_flag, "RelevanceEvaluator")
        judged = {query: documents for query, documents in query_relevance.items() if documents}
        self._judgments = entries_of(judged, "judgments", duplicates="raise", exclude={})[0]
        self._queries = judged.keys()
        asked = _printed_names(measures)
        self._arguments = judged, [*asked.values()], relevance_level, judged_docs_only_flag
        keywords = {"unjudged": "drop" if judged_docs_only_flag else "nonrelevant"}
        self._metrics = {name: _metric(asked[name], relevance_level, keywords) for name in asked if name not in WORDS}
        self._names = [*asked]

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle the arguments."""
        return type(self), self._arguments

    def evaluate(self, scores: Mapping[str, Mapping[str, float]]) -> dict[str, dict[str, float]]:
        """Evaluate a run.

        Parameters
        ----------
        scores : dict of str to dict of str to float
            Score by query and document.

        Returns
        -------
        dict of str to dict of str to float
            Value of each measure for each query of the run that has judgments.

        Raises
        ------
        TypeError
            If scores are not dictionaries of str to dictionaries of str to a number.
        ValueError
            If a score is NaN or infinite in single precision.
        """
        _check_dictionaries(scores, Real, "Unable to extract query/object scores.")
        run = {query: documents for query, documents in scores.items() if query in self._queries}
        if not run or not self._names:
            return {query: {} for query in run}
        values, queries = self._values(run)
        rows = zip(*(values[name] for name in self._names), strict=True)
        by_query = {query: dict(zip(self._names, row, strict=True)) for query, row in zip(queries, rows, strict=True)}
        return {query: by_query[query] for query in run}

    def _values(self, run: Mapping[str, Mapping[str, float]]) -> tuple[dict[str, list[float]], list[str]]:
        """Values of each measure by query, and the queries."""
        data = join(self._judgments, run, missing_from_run="drop", tie_order="trec_eval", float32=True)
        result = evaluate(data.y_true, data.y_score, qid=data.qid, metrics=self._metrics or "map")
        columns = {name: result.per_query[name] for name in self._metrics}
        # Before a geometric mean trec_eval prints logarithms.
        logs = {name: np.log(np.maximum(x, LOWEST)) for name, x in columns.items() if name.startswith("gm_")}
        values = {name: column.tolist() for name, column in (columns | logs).items()}
        return values | {name: [0.0] * len(result.qid) for name in WORDS}, result.qid.tolist()


def _check_dictionaries(given: Any, number: type, message: str) -> None:
    """Refuse anything but dictionaries of str to dictionaries of str to numbers."""
    if not isinstance(given, Mapping):
        raise TypeError(f"Queries and documents must be in a dictionary. Got {type(given).__name__} instead.")
    kinds = {*map(type, given)}
    for documents in given.values():
        if not isinstance(documents, Mapping):
            raise TypeError(f"Expected dictionary as value. Got {type(documents).__name__} instead.")
        kinds.update(map(type, documents))
    if wrong := [kind.__name__ for kind in kinds if not issubclass(kind, str)]:
        raise TypeError(f"Expected string as key, for queries and documents. Got {wrong[0]} instead.")
    kinds = {kind for documents in given.values() for kind in {*map(type, documents.values())}}
    if wrong := [kind.__name__ for kind in kinds if not issubclass(kind, number)]:
        raise TypeError(f"{message} Got {wrong[0]} instead.")


def _printed_names(measures: Iterable[str]) -> dict[str, str]:
    """Names as printed, and what each is asked by: "P.5,10" gives P_5 and P_10, "official" all of its measures."""
    if isinstance(measures, (str, bytes)) or not isinstance(measures, Iterable):
        raise ValueError(f"Argument measures should be a set or a list, such as {{'map'}}. Got {echo(measures)}.")
    parameters: dict[str, list[str]] = {}
    for measure in measures:
        for name in supported_nicknames.get(measure, [measure]):
            base, more = _split(name)
            parameters.setdefault(base, []).extend(more)
    return {
        printed: asked
        for base, more in parameters.items()
        for printed, asked in _of_base(base, more or FAMILIES.get(base, ()))
    }


def _split(name: str) -> tuple[str, list[str]]:
    """A measure and its parameters."""
    if name in supported_measures:
        return name, []
    for base in (*FAMILIES, "set_F"):
        number = r"\d*\.?\d+" if base in WITH_DECIMALS or base == "set_F" else r"[1-9]\d*"
        match = re.fullmatch(rf"{base}[._]({number}(?:,{number})*)", str(name))
        if match and base in supported_measures:
            return base, match[1].split(",")
    reason = why_not_here(str(name)) or "names are trec_eval's, such as map, recip_rank, P_10 and ndcg_cut_10"
    for base in supported_measures:
        if re.match(rf"{base}[._]\d", str(name)):
            takes = "whole numbers from 1 on" if base in FAMILIES else "no parameter; trec_eval ignores it, or fails"
            reason = f"{base} takes {takes}" + f"; {base}_cut takes one" * (f"{base}_cut" in FAMILIES)
    raise ValueError(f"unsupported measure {one_line(str(name))}: {reason}")


def _of_base(base: str, parameters: Iterable[str]) -> Iterator[tuple[str, str]]:
    """Names as printed, and as asked, of a measure with these parameters."""
    if base == "set_F":
        last = [*parameters][-1:]
        yield base, "_".join([base, *last])
    elif base in WITH_DECIMALS:
        yield from ((f"{base}_{float(text):.2f}", f"{base}_{float(text)}") for text in parameters)
    elif base in FAMILIES:
        yield from ((f"{base}_{int(text)}", f"{base}_{int(text)}") for text in parameters)
    else:
        yield base, base


def _metric(name: str, relevance_level: int, keywords: dict[str, str]) -> MetricSpec:
    """Metric of a measure, with trec_eval's choices."""
    if name in EXPERIMENTS:
        function = partial(EXPERIMENTS[name], relevance_level=relevance_level)
        return parse_metric(function, greater_is_better=True, **keywords)
    ours, more = our_name(name.removeprefix("gm_"))
    more |= keywords
    return parse_metric(own_measure(name) or ours, convention="ir_measures", min_relevance=relevance_level, **more)


# Programs written for pytrec_eval call both; files are read by `sklearn_rank.io.read_run` and `read_qrels`.


def parse_run(f_run: Iterable[str]) -> dict[str, dict[str, float]]:
    """Score by query and document, of lines ``query Q0 document rank score tag``."""
    return _parsed(f_run, 6, 4, float)


def parse_qrel(f_qrel: Iterable[str]) -> dict[str, dict[str, int]]:
    """Relevance by query and document, of lines ``query iteration document relevance``."""
    return _parsed(f_qrel, 4, 3, int)


N = TypeVar("N", int, float)


def _parsed(lines: Iterable[str], n_fields: int, field: int, number: Callable[[str], N]) -> dict[str, dict[str, N]]:
    """Numbers of lines by query and document."""
    if isinstance(lines, (str, bytes)) or not isinstance(lines, Iterable):
        raise TypeError(f"Pass lines: an open file, open(path), or text.splitlines(). Got {echo(lines)}.")
    numbers: dict[str, dict[str, N]] = defaultdict(dict)
    for n, line in enumerate(lines, 1):
        if not isinstance(line, str):
            raise TypeError(f"A line must be text: open(path), not open(path, 'rb'). Got {echo(line)} in line {n}.")
        fields = line.split()
        if len(fields) != n_fields:
            raise ValueError(f"A line must have {n_fields} fields. Got {len(fields)} in line {n}: {echo(line)}.")
        query, _, document = fields[:3]
        if document in numbers[query]:
            raise AssertionError(f"Document {echo(document)} is in query {echo(query)} twice, again in line {n}.")
        try:
            numbers[query][document] = number(fields[field])
        except ValueError:
            raise ValueError(f"Field {field + 1} must be a number. Got {echo(fields[field])} in line {n}.") from None
    return numbers


def compute_aggregated_measure(measure: str, values: Sequence[float]) -> float:
    """Mean of a measure over queries: the sum of counts, the geometric mean of ``"gm_"`` measures.

    Parameters
    ----------
    measure : str
        Name of the measure.
    values : sequence of float
        Its value for each query.

    Examples
    --------
    >>> from sklearn_rank.compat import pytrec_eval
    >>> pytrec_eval.compute_aggregated_measure("map", [0.5, 1.0])
    0.75
    >>> pytrec_eval.compute_aggregated_measure("num_rel", [2.0, 1.0])
    3.0
    """
    if not isinstance(measure, str):
        raise TypeError(f"measure must be a name, such as 'map'. Got {echo(measure)} instead.")
    numbers = as_floats(values, "values")
    if numbers.ndim != 1 or len(numbers) == 0:
        raise ValueError(f"values must have a value for each query, and at least one. Got shape {numbers.shape}.")
    if measure.startswith("num_"):
        return float(np.sum(numbers))
    mean = np.sum(numbers) / len(numbers) if measure.startswith("gm_") else np.mean(numbers)
    return float(np.exp(mean) if measure.startswith("gm_") else mean)


# --- the three experiments of trec_eval ----------------------------------------------------------------------
#
# Functions of the labels of one query's documents, from m_ndcg_rel.c, m_Rndcg.c and m_G.c of trec_eval 9. `y_true` has
# documents as trec_eval ranks them: by falling score, then those that were judged and not retrieved. Labels are gains.


def _ndcg_rel(y_true: Array, y_score: Array, *, relevance_level: float) -> float:
    """NDCG at the rank of each relevant document, averaged; at the end of the list for those not retrieved."""
    gain, ideal = _gains(y_true, y_score)
    if len(ideal) == 0:
        return 0.0
    dcg, ideal_dcg = np.cumsum(gain / _discount(gain)), np.cumsum(ideal / _discount(ideal))
    hits = np.flatnonzero(gain)
    total = (dcg[hits] / ideal_dcg[np.minimum(hits, len(ideal) - 1)]).sum()
    rest = dcg[-1] / ideal_dcg[-1] if len(dcg) else 0.0
    return float((total + (len(ideal) - len(hits)) * rest) / len(ideal))


def _r_ndcg(y_true: Array, y_score: Array, *, relevance_level: float) -> float:
    """NDCG at the end of each grade in the ideal list, and at the end of the list, averaged: Rndcg."""
    gain, ideal = _gains(y_true, y_score)
    if not (y_true >= relevance_level).any() or len(gain) == 0:
        return 0.0
    dcg, ideal_dcg = np.cumsum(gain / _discount(gain)), np.cumsum(ideal / _discount(ideal))
    ends = np.flatnonzero(np.diff(ideal, append=0))
    values = dcg[np.minimum(ends, len(dcg) - 1)] / ideal_dcg[ends]
    if len(dcg) > len(ideal) + 1:
        values = np.append(values, dcg[-1] / ideal_dcg[-1])
    return float(values.mean())


def _normalized_gain(y_true: Array, y_score: Array, *, relevance_level: float) -> float:
    """Gains, discounted by how much more an ideal list would have gained so far, over all gains: G."""
    gain, ideal = _gains(y_true, y_score)
    if len(ideal) == 0:
        return 0.0
    cost = np.ones(len(gain))
    n = min(len(gain), len(ideal))
    cost[:n] = ideal[:n]
    return float((gain / np.log2(2 + np.cumsum(cost) - np.cumsum(gain))).sum() / ideal.sum())


def _gains(y_true: Array, y_score: Array) -> tuple[Array, Array]:
    """Gain of each retrieved document, and the positive gains of all documents, falling."""
    # NaN, which is not judged, has no gain.
    gain = np.where(y_true > 0, y_true, 0.0)
    return gain[y_score > -np.inf], -np.sort(-gain[gain > 0])


def _discount(gain: Array) -> Array:
    return np.log2(np.arange(len(gain)) + 2)


EXPERIMENTS = {"ndcg_rel": _ndcg_rel, "Rndcg": _r_ndcg, "G": _normalized_gain}
