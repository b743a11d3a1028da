"""Metrics of runs and judgments with document ids."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping
from typing import Any

from numpy.typing import NDArray

from sklearn_rank._data.doors import RUN
from sklearn_rank._data.look import collected_findings, kinds_left, report
from sklearn_rank._evaluation.evaluate import evaluate_rows
from sklearn_rank._evaluation.result import Evaluation
from sklearn_rank._metric.conventions import BY_DOCUMENT_ID, ID_ORDER
from sklearn_rank._metric.names import DEFAULT_METRICS, parse_metrics
from sklearn_rank._metric.spec import MetricsLike, MetricSpec
from sklearn_rank._tables.column_arguments import column_arguments
from sklearn_rank._utils.arguments import meant_by, named_arguments, unknown_keyword
from sklearn_rank._utils.docstring import described_as
from sklearn_rank._utils.echo import echo
from sklearn_rank._utils.numbers import as_floats
from sklearn_rank._utils.warning import warn_caller
from sklearn_rank.io import RankingData, join
from sklearn_rank.io._documents import DocumentOf
from sklearn_rank.io._entries import Entries, QueryIds
from sklearn_rank.io._join import join_for
from sklearn_rank.io._mappings import JudgmentsLike, RunLike, by_index


@named_arguments
@described_as(join, column_arguments)
def evaluate_run(
    judgments: JudgmentsLike, run: RunLike, *, metrics: MetricsLike = DEFAULT_METRICS,
    sample_weight: Mapping[Any, float] | None = None, by: Mapping[Any, Any] | None = None,
    clusters: Mapping[Any, Any] | None = None, missing_from_run: str | None = None,
    missing_from_qrels: str | None = None, duplicates: str = "raise",
    exclude: Mapping[Any, Iterable[Any]] | None = None, document_of: DocumentOf | None = None, aggregate: str = "max",
    unjudged: str | None = "nonrelevant", chance: bool = False, n_jobs: int | None = None, **keywords: Any,
) -> Evaluation:  # fmt: skip
    """Compute metrics of a run, matching its documents with judgments by their ids.

    Parameters
    ----------
    judgments : mapping, table, path, Entries or ranx.Qrels
        ``{query: {document: grade}}``, or ``{query: relevant documents}``, a set or a list; a table as in PyTerrier,
        ir_measures or BEIR, with columns such as qid, docno and label; a file, a folder, a pattern or a list of paths,
        or a result of `sklearn_rank.io.read_qrels`, which reads them.
    run : mapping, table, path, Entries or ranx.Run
        ``{query: {document: score}}``, or ``{query: [documents, best first]}``, where an entry may also be a pair
        (document, score) or a hit of a search library; a similar table, with score or rank; files; or a result of
        `sklearn_rank.io.read_run`. An empty list means that the query has no retrieved documents.
    sample_weight : mapping of query to float, default=None
        Weight of each query in the mean. `sample_weight`, `by` and `clusters` may also be a pandas Series with queries
        as its index.
    by : mapping of query to value, or of name to such mappings, default=None
        Attributes of each query, such as its country, for `Evaluation.segments`. It may also be a pandas frame with
        queries as its index.
    clusters : mapping of query to value, default=None
        Cluster of each query, such as a user or a session; intervals and tests of the result account for clusters.
    missing_from_run : {"zero", "drop", "raise"}, default=None
        How to treat queries of the judgments that the run lacks: keep them, so that metrics count them as zero; leave
        them out; or raise an error. None: "zero", with a warning that counts them.
    missing_from_qrels : {"zero", "drop", "raise"}, default=None
        How to treat queries of the run without judgments, with the same options. None: "drop", with a warning that
        counts them.
    unjudged : {"nonrelevant", "drop"} or None, default="nonrelevant"
        How to treat unjudged documents of the run: count them as not relevant, leave them out of every metric, as in
        trec_eval's option -J, or (None) raise an error. Unless they are left out, metrics for incomplete judgments,
        such as bpref, read them in their own way. A metric whose name sets this keyword takes precedence.
    **keywords
        Keywords of metrics, such as `ties` or `gain`. Each applies to all metrics that accept it; a keyword in a
        metric's name takes precedence. With ``convention="trec_eval"``, or "ir_measures" for the numbers of
        pytrec_eval, the run is read like trec_eval reads it: scores in single precision, and equal scores by decreasing
        document id. Otherwise ``ties="stable"`` is the order of the run.

    Returns
    -------
    Evaluation
        Queries in the order of the judgments, then queries only in the run, if they are kept. ``result.qid`` holds the
        ids.

    Raises
    ------
    ValueError
        If run and judgments have no query in common or have ids of different types, a list has a document twice, a
        score or a grade is not finite, or a keyword has a bad value.
    TypeError
        If judgments or run have another form, or a score is not a number.

    Warns
    -----
    RankingWarning
        If a query is missing on one side and the keyword for it is None; if run and judgments seem to be swapped; if
        run and judgments have almost no documents in common for several queries; or if ids have two types.

    Notes
    -----
    `sklearn_rank.io.join` of the same run and judgments returns the rows and counts the matches.

    Examples
    --------
    Query "q1" has its relevant document at rank 2, query "q2" at rank 1:

    >>> from sklearn_rank import evaluate_run
    >>> judgments = {"q1": {"a": 1, "b": 0}, "q2": {"b": 1}}
    >>> run = {"q1": {"b": 0.9, "a": 0.8}, "q2": {"b": 0.7, "a": 0.6}}
    >>> evaluate_run(judgments, run, metrics=["mrr", "p@1"]).mean()
    {'mrr': 0.75, 'p@1': 0.5}

    The same with sets and lists:

    >>> evaluate_run(
    ...     {"q1": {"a"}, "q2": {"b"}}, {"q1": ["b", "a"], "q2": ["b", "a"]}, metrics="mrr"
    ... ).mean()
    {'mrr': 0.75}
    """
    if "negative" in keywords:
        raise unknown_keyword("evaluate_run has no keyword", "negative", (), hint=meant_by("negative"))
    specs = {name: spec._filled(unjudged=unjudged) for name, spec in parse_metrics(metrics, **keywords).items()}
    reading = reading_of(specs)
    refuse_lost_places(duplicates, specs)
    weights, attributes = _mapping_by_query("sample_weight", sample_weight), _mapping_by_query("by", by)
    clusters = _mapping_by_query("clusters", clusters)
    with collected_findings() as seen:
        data = join_for(
            "evaluate_run", judgments, run,
            missing_from_run="zero" if missing_from_run is None else missing_from_run,
            missing_from_qrels="drop" if missing_from_qrels is None else missing_from_qrels, negative="unjudged",
            duplicates=duplicates, exclude=exclude, document_of=document_of, aggregate=aggregate, **reading,
        )  # fmt: skip
    report(RUN, seen)
    kinds = kinds_left(seen, isinstance(run, Entries) and run._told)
    _warn_of_missing(data, missing_from_run, missing_from_qrels)
    notes = (*data.notes(), *(ID_ORDER,) * (reading is AS_TREC_EVAL))
    return evaluate_rows(
        RUN, data.y_true, data.y_score, specs, qid=data.qid, by=attributes, clusters=clusters, n_jobs=n_jobs,
        sample_weight=None if weights is None else _weight_of_rows(weights, data.qid),
        kinds=kinds, chance=chance, documents=data.documents, notes=notes,
    )  # fmt: skip


AS_TREC_EVAL = {"tie_order": "trec_eval", "float32": True}
AS_IT_IS = {"tie_order": "input", "float32": False}
"""Keywords of `join` for reading the scores of a run, by convention."""


def reading_of(specs: Mapping[str, MetricSpec]) -> dict[str, Any]:
    """Return the keywords of `join` that the conventions of the metrics require for the scores of a run."""
    of_trec_eval = [spec["convention"] in BY_DOCUMENT_ID for spec in specs.values()]
    if any(of_trec_eval) and not all(of_trec_eval):
        raise ValueError(
            "convention='trec_eval' and 'ir_measures' read scores in single precision and break ties by document id; "
            "other metrics read the run unchanged: pass convention= for all metrics, or evaluate them separately. "
            f"Got {', '.join(specs)}."
        )
    return AS_TREC_EVAL if all(of_trec_eval) else AS_IT_IS


def refuse_lost_places(duplicates: str, specs: Mapping[str, MetricSpec]) -> None:
    name = next((name for name, spec in specs.items() if spec["unjudged"] == "drop"), None)
    if duplicates == "nonrelevant" and name is not None:
        raise ValueError(
            "duplicates='nonrelevant' turns duplicates into unjudged documents, which unjudged='drop' leaves out; "
            f"use duplicates='first', which has the same effect. Got both for {echo(name)}."
        )


def _mapping_by_query(name: str, values: Any) -> Mapping[Any, Any] | None:
    """Return values by query; the rows of the user have no order here, so positions cannot match."""
    # pandas Series and frames.
    if hasattr(values, "to_dict") and hasattr(values, "index"):
        values = by_index(values, name)
    wrong = [values]
    if values is None or isinstance(values, Mapping):
        wrong = [value for value in (values or {}).values() if not isinstance(value, (Hashable, Mapping))]
    if not wrong:
        return values
    raise TypeError(
        f"{name} of evaluate_run must be {{query: value}}: queries are matched by their ids. "
        f"Got {type(wrong[0]).__name__} instead."
    )


def _weight_of_rows(weights: Mapping[Any, float], qid: QueryIds) -> NDArray[Any]:
    queries = qid.names.tolist()
    lacking = [query for query in queries if query not in weights]
    if lacking:
        raise ValueError(
            "sample_weight must have a weight for every evaluated query. "
            f"Got none for {len(lacking)} of {len(queries)}, the first {echo(lacking[0])}."
        )
    return as_floats([weights[query] for query in queries], "sample_weight")[qid.code]


def _warn_of_missing(data: RankingData, missing_from_run: str | None, missing_from_qrels: str | None) -> None:
    of_run = len(data.not_in_run) if missing_from_run is None else 0
    of_qrels = len(data.not_in_qrels) if missing_from_qrels is None else 0
    if of_run or of_qrels:
        unsaid = " and ".join(["missing_from_run="] * bool(of_run) + ["missing_from_qrels="] * bool(of_qrels))
        warn_caller(
            f"Run and judgments do not have the same queries. {data.missing_queries().capitalize()}. "
            f"Pass {unsaid} with 'zero', 'drop' or 'raise' to choose and to silence this warning."
        )
