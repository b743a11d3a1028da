"""Metrics of runs and judgements that hold ids of documents."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping
from typing import Any

from numpy.typing import NDArray

from sklearn_rank._evaluation.evaluate import evaluate_rows
from sklearn_rank._evaluation.result import Evaluation
from sklearn_rank._metric.conventions import BY_DOCUMENT_ID
from sklearn_rank._metric.names import DEFAULT_METRICS, parse_metrics
from sklearn_rank._metric.spec import MetricsLike, MetricSpec
from sklearn_rank._misuse.check import collected_findings, report
from sklearn_rank._misuse.entry_points import RUN
from sklearn_rank._misuse.runs import CONTRADICTED, RISING, TURNED
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
from sklearn_rank.io._mappings import JudgementsLike, RunLike, by_index


@named_arguments
@described_as(join, column_arguments)
def evaluate_run(
    judgements: JudgementsLike,
    run: RunLike,
    *,
    metrics: MetricsLike = DEFAULT_METRICS,
    sample_weight: Mapping[Any, float] | None = None,
    by: Mapping[Any, Any] | None = None,
    clusters: Mapping[Any, Any] | None = None,
    missing_from_run: str | None = None,
    missing_from_qrels: str | None = None,
    duplicates: str = "raise",
    exclude: Mapping[Any, Iterable[Any]] | None = None,
    document_of: DocumentOf | None = None,
    aggregate: str = "max",
    unjudged: str | None = "nonrelevant",
    chance: bool = False,
    n_jobs: int | None = None,
    **keywords: Any,
) -> Evaluation:
    """Compute many metrics of a run: documents by query, matched with judgements by their ids.

    Parameters
    ----------
    judgements : mapping, table, Entries or ranx.Qrels
        ``{query: {document: grade}}``, or ``{query: relevant documents}``, a set or a list; a table of PyTerrier,
        ir_measures or BEIR, with columns such as qid, docno and label; what `sklearn_rank.io.read_qrels` returns.
    run : mapping, table, Entries or ranx.Run
        ``{query: {document: score}}``, or ``{query: [documents, best first]}``, also of pairs (document, score) and of
        hits of search libraries; such a table, with score or rank; what `sklearn_rank.io.read_run` returns. An empty
        list is a query without retrieved documents.
    sample_weight : mapping of query to float, default=None
        Weight of each query in the mean. This and the next two may be a Series of pandas with queries as its index.
    by : mapping of query to value, or of name to such mappings, default=None
        Attribute of each query, such as its country, for `Evaluation.segments`. Or a pandas frame with queries as its
        index.
    clusters : mapping of query to value, default=None
        What each query belongs to, such as a user or a session; intervals and tests of the result allow for that.
    missing_from_run : {"zero", "drop", "raise"}, default=None
        Queries of the judgements that the run does not have: keep them, so that metrics count them as zero, leave them
        out, or raise. None: "zero", with a warning that counts them.
    missing_from_qrels : {"zero", "drop", "raise"}, default=None
        Queries of the run without judgements, in the same way. None: "drop", with a warning that counts them.
    unjudged : {"nonrelevant", "drop"} or None, default="nonrelevant"
        Documents of the run that are not judged: not relevant, left out, or refused. Metrics that are made for
        incomplete judgements, such as bpref, read them in their own way, and so does a metric that says it in its name.
    **keywords
        Keywords for all metrics that have them, such as `ties` or `gain`; those in a name win. With
        ``convention="trec_eval"``, and "ir_measures" for pytrec_eval's numbers, the run is read as trec_eval reads it:
        scores in single precision, and equal scores by falling document id. Otherwise ``ties="stable"`` is the order of
        the run.

    Returns
    -------
    Evaluation
        Queries in the order of the judgements, then queries that only the run has, if they are kept. Their ids are in
        ``result.qid``.

    Raises
    ------
    ValueError
        If no query is in both, ids are of one type here and of another there, a list has a document twice, a score or a
        grade is not finite, or a keyword is not what it must be.
    TypeError
        If judgements or run have another form, or a score is no number.

    Warns
    -----
    RankingWarning
        If a query is missing on one side, and it was not said what is done then; if run and judgements seem to be the
        wrong way round; if hardly a document of several queries is in both, or ids are of two types.

    Notes
    -----
    `sklearn_rank.io.join` of the same run and judgements gives the rows, and counts what was matched.

    Examples
    --------
    Query "q1" has its relevant document at rank 2, query "q2" at rank 1:

    >>> from sklearn_rank import evaluate_run
    >>> judgements = {"q1": {"a": 1, "b": 0}, "q2": {"b": 1}}
    >>> run = {"q1": {"b": 0.9, "a": 0.8}, "q2": {"b": 0.7, "a": 0.6}}
    >>> evaluate_run(judgements, run, metrics=["mrr", "p@1"]).mean()
    {'mrr': 0.75, 'p@1': 0.5}

    The same as sets and lists:

    >>> evaluate_run(
    ...     {"q1": {"a"}, "q2": {"b"}}, {"q1": ["b", "a"], "q2": ["b", "a"]}, metrics="mrr"
    ... ).mean()
    {'mrr': 0.75}
    """
    if "negative" in keywords:
        raise unknown_keyword("evaluate_run has no keyword", "negative", (), hint=meant_by("negative"))
    specs = {name: spec.filled(unjudged=unjudged) for name, spec in parse_metrics(metrics, **keywords).items()}
    reading = reading_of(specs)
    refuse_lost_places(duplicates, specs)
    weights, attributes = _mapping_by_query("sample_weight", sample_weight), _mapping_by_query("by", by)
    clusters = _mapping_by_query("clusters", clusters)
    with collected_findings() as seen:
        data = join_for(
            "evaluate_run", judgements, run,
            missing_from_run="zero" if missing_from_run is None else missing_from_run,
            missing_from_qrels="drop" if missing_from_qrels is None else missing_from_qrels, negative="unjudged",
            duplicates=duplicates, exclude=exclude, document_of=document_of, aggregate=aggregate, **reading,
        )  # fmt: skip
    report(RUN, seen)
    # What is wrong with the run as a whole shows in its rows as well.
    found, is_told = [one.check for one in seen], isinstance(run, Entries) and run._told
    kinds = "none" if TURNED in found else "labels ids qid" if is_told or {RISING, CONTRADICTED} & {*found} else ""
    _warn_of_missing(data, missing_from_run, missing_from_qrels)
    return evaluate_rows(
        RUN, data.y_true, data.y_score, specs, qid=data.qid, by=attributes, clusters=clusters, n_jobs=n_jobs,
        sample_weight=None if weights is None else _weight_of_rows(weights, data.qid),
        kinds=kinds, chance=chance, documents=data.documents,
    )  # fmt: skip


AS_TREC_EVAL = {"tie_order": "trec_eval", "float32": True}
AS_IT_IS = {"tie_order": "input", "float32": False}
"""How `join` reads the scores of a run."""


def reading_of(specs: Mapping[str, MetricSpec]) -> dict[str, Any]:
    """Keywords of `join` for how the conventions of metrics read the scores of a run.

    Raises
    ------
    ValueError
        If they ask for different ones.
    """
    of_trec_eval = [spec["convention"] in BY_DOCUMENT_ID for spec in specs.values()]
    if any(of_trec_eval) and not all(of_trec_eval):
        raise ValueError(
            "convention='trec_eval' and 'ir_measures' read scores in single precision and equal scores by document id, "
            "other metrics read the run as it is: pass convention= for all of these metrics, or evaluate them apart. "
            f"Got {', '.join(specs)}."
        )
    return AS_TREC_EVAL if all(of_trec_eval) else AS_IT_IS


def refuse_lost_places(duplicates: str, specs: Mapping[str, MetricSpec]) -> None:
    """Refuse to keep the places of documents that a metric leaves out.

    Raises
    ------
    ValueError
        If a metric leaves out unjudged documents.
    """
    name = next((name for name, spec in specs.items() if spec["unjudged"] == "drop"), None)
    if duplicates == "nonrelevant" and name is not None:
        raise ValueError(
            "duplicates='nonrelevant' keeps places as unjudged documents, and unjudged='drop' leaves these out; "
            f"duplicates='first' is the same. Got both for {echo(name)}."
        )


def _mapping_by_query(name: str, values: Any) -> Mapping[Any, Any] | None:
    """Values by query; rows of the user have no order here, so they cannot be matched by position.

    Raises
    ------
    TypeError
        If it is neither a mapping nor labelled by an index.
    """
    # Series and frames of pandas.
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
    """Weight of each row's query."""
    queries = qid.names.tolist()
    lacking = [query for query in queries if query not in weights]
    if lacking:
        raise ValueError(
            "sample_weight must have every query that is evaluated. "
            f"Got none for {len(lacking)} of {len(queries)}, the first {echo(lacking[0])}."
        )
    return as_floats([weights[query] for query in queries], "sample_weight")[qid.code]


def _warn_of_missing(data: RankingData, missing_from_run: str | None, missing_from_qrels: str | None) -> None:
    of_run = len(data.not_in_run) if missing_from_run is None else 0
    of_qrels = len(data.not_in_qrels) if missing_from_qrels is None else 0
    if of_run or of_qrels:
        unsaid = " and ".join(["missing_from_run="] * bool(of_run) + ["missing_from_qrels="] * bool(of_qrels))
        warn_caller(
            f"Run and judgements do not have the same queries. {data.missing_queries().capitalize()}. "
            f"{unsaid} with 'zero', 'drop' or 'raise' says what is done with them, without this warning."
        )
