"""evaluate_run: the numbers of arrays made by hand, for every form of run and judgments; and errors."""

import inspect
import io
import warnings
from decimal import Decimal

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from sklearn_rank import compare_systems, evaluate, evaluate_run
from sklearn_rank.compat.pytrec_eval import RelevanceEvaluator
from sklearn_rank.exceptions import RankingWarning
from sklearn_rank.io import join, read_qrels, read_run

METRICS = ["ndcg@3", "map", "mrr", "p@2", "r@3", "bpref", "judged@2", "rbp"]
QRELS = {"q2": {"a": 2, "b": 0, "z": 1}, "q1": {"b": 1, "c": 0}}
RUN = {"q1": {"a": 0.5, "b": 0.4, "c": 0.4}, "q2": {"b": 3.0, "a": 2.0, "x": 1.0, "c": 0.5}}
LABEL = [0, 2, np.nan, np.nan, 1, np.nan, 1, 0]
SCORE = [3.0, 2.0, 1.0, 0.5, -np.inf, 0.5, 0.4, 0.4]
QID = ["q2"] * 5 + ["q1"] * 3


def by_hand(metric):
    made_for_unjudged = metric.startswith(("bpref", "judged"))
    return evaluate(LABEL, SCORE, qid=QID, metrics=metric, unjudged=None if made_for_unjudged else "nonrelevant")


def entries(table, value, kind):
    rows = [(q, d, x) for q, documents in table.items() for d, x in documents.items()]
    frame = pd.DataFrame(rows, columns=["qid", "doc_id", value])
    if kind == "table":
        return (read_qrels if value == "grade" else read_run)(frame, value=value)
    form = "{0} 0 {1} {2:.0f}\n" if value == "grade" else "{0} Q0 {1} 1 {2} me\n"
    text = "".join(form.format(*row) for row in rows).encode()
    return (read_qrels if value == "grade" else read_run)(io.BytesIO(text))


def ranx_of(kind, table):
    """Stand-in for ranx's class of this name, because the real class compiles for half a minute."""
    return type(kind, (), {"__module__": "ranx.data_structures", "to_dict": lambda self: table})()


FORMS = {
    "dict": lambda table, value: table,
    "table": lambda table, value: entries(table, value, "table"),
    "trec": lambda table, value: entries(table, value, "trec"),
    "ranx": lambda table, value: ranx_of("Qrels" if value == "grade" else "Run", table),
}


@pytest.mark.parametrize("of_run", FORMS)
@pytest.mark.parametrize("of_judgments", FORMS)
def test_every_form_has_the_bits_of_arrays(of_judgments, of_run):
    result = evaluate_run(FORMS[of_judgments](QRELS, "grade"), FORMS[of_run](RUN, "score"), metrics=METRICS)
    assert sorted(result.qid.tolist()) == ["q1", "q2"]
    for metric in METRICS:
        values = dict(zip(result.qid.tolist(), result.per_query[metric].tolist(), strict=True))
        assert values == dict(zip(["q2", "q1"], by_hand(metric).per_query[metric].tolist(), strict=True)), metric


SETS = {"q1": {"b"}, "q2": {"a", "z"}}
LISTS = {"q1": ["a", "b"], "q2": ["b", "a", "x"]}


@pytest.mark.parametrize(
    "relevant", [set, frozenset, list, tuple, np.array, pd.Series, lambda ids: dict.fromkeys(ids, 1)]
)
@pytest.mark.parametrize("ranked", [list, tuple, np.array, pd.Series, lambda ids: [(d, -i) for i, d in enumerate(ids)]])
def test_sets_and_lists(relevant, ranked):
    judgments = {q: relevant(sorted(ids)) for q, ids in SETS.items()}
    found = evaluate_run(judgments, {q: ranked(ids) for q, ids in LISTS.items()}, metrics=["mrr", "r@2"])
    assert found.per_query["mrr"].tolist() == [0.5, 0.5]
    assert found.per_query["r@2"].tolist() == [1, 0.5]


@pytest.mark.parametrize(
    "ids", [[1, 2, 3], [("d", 1), ("d", 2), ("d", 3)], [1, "2", (1, "1")], [b"a", b"b", b"c"]], ids=repr
)
def test_ids_of_any_hashable_type(ids):
    for query in (7, "8", (7, "x"), 7.5):
        result = evaluate_run({query: {ids[0]: 1, ids[1]: 0}}, {query: ids[::-1]}, metrics="mrr")
        assert result.qid.tolist() == [query]
        assert result.per_query["mrr"].tolist() == [1 / 3]


def test_run_defaults_match_evaluate():
    assert [*evaluate_run(QRELS, RUN).mean()] == [*evaluate(LABEL, SCORE, qid=QID, unjudged="nonrelevant").mean()]
    dropped = evaluate_run(QRELS, RUN, metrics=["map", "map(unjudged=nonrelevant)"], unjudged="drop")
    assert [*map(str, dropped.mean().values())] == [
        str(evaluate(LABEL, SCORE, qid=QID, metrics="map", unjudged=word).mean()["map"])
        for word in ("drop", "nonrelevant")
    ]
    with pytest.raises(ValueError, match="must not contain NaN"):
        evaluate_run(QRELS, RUN, unjudged=None)


def test_queries_missing_on_one_side():
    qrels, run = QRELS | {"q3": {"a": 1}}, RUN | {"q4": {"a": 1.0}}
    with pytest.warns(UserWarning, match=r"not in the run: 1, counted as zero \(q3\); .*: 1, left out \(q4\)"):
        result = evaluate_run(qrels, run, metrics="map")
    assert result.qid.tolist() == ["q2", "q1", "q3"]
    assert result.per_query["map"][2] == 0
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        dropped = evaluate_run(qrels, run, metrics="map", missing_from_run="drop", missing_from_qrels="drop")
    assert dropped.mean() == evaluate_run(QRELS, RUN, metrics="map").mean()
    with pytest.raises(ValueError, match="every query must be in the run"):
        evaluate_run(qrels, run, missing_from_run="raise", missing_from_qrels="drop")


def test_empty_lists_are_answers():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        result = evaluate_run({1: ["x"], 2: [], 3: {}, 4: ["z"]}, {1: ["x"], 2: [], 3: ["x"], 4: []}, metrics="map")
    assert result.per_query["map"].tolist() == [1, 0, 0, 0]
    assert result.n_undefined == {"map": 2}


@pytest.mark.parametrize("side", ["judgments", "run"])
def test_duplicates(side):
    lists = {side: {"q": ["x", "y", "x"]}} | {"run" if side == "judgments" else "judgments": {"q": ["x"]}}
    with pytest.raises(ValueError, match=rf"Got document 'x' 2 times for query 'q' of the {side}\."):
        evaluate_run(**lists)
    with pytest.raises(ValueError, match=r"Got document 'x' 2 times for query 'q' of"):  # not np.str_('q')
        evaluate_run(**{name: {np.str_("q"): [np.str_(d) for d in ids["q"]]} for name, ids in lists.items()})
    first = evaluate_run(**lists, duplicates="first", metrics=["ndcg", "r@2"]).mean()
    assert first["ndcg"] <= 1
    assert first["r@2"] == (0.5 if side == "judgments" else 1)
    run = {"q": ["x", "y", "z", "x"]}
    assert evaluate_run({"q": {"x"}}, run, duplicates="first", metrics="mrr").mean() == {"mrr": 1}  # not rank 3


LISTED = {"q": ["x", "y", "x", "y", "z"], "r": ["z", "a"]}
PAIRS = {q: [(d, 9.0 - i) for i, d in enumerate(listed)] for q, listed in LISTED.items()}


def run_in_form(form, duplicates):
    """The run; files and entries in reverse order, because only scores order them."""
    rows = [(q, *pair) for q, pairs in PAIRS.items() for pair in pairs][::-1]
    if form == "file":
        text = "".join(f"{q} Q0 {d} 1 {s} t\n" for q, d, s in rows)
        return read_run(io.BytesIO(text.encode()), duplicates=duplicates)
    if form == "entries":
        table = pd.DataFrame(rows, columns=["qid", "doc_id", "score"])
        return read_run(table, value="score", duplicates=duplicates)
    return LISTED if form == "list" else PAIRS


@pytest.mark.parametrize("as_entries", [False, True])
@pytest.mark.parametrize("form", ["list", "pairs", "entries", "file"])
def test_duplicates_in_all_forms(form, as_entries):
    """In query q the relevant y and z are at ranks 2 and 5; without the unjudged documents at 2 and 3."""
    judged = {"q": {"y": 1, "z": 1, "x": 0}, "r": {"a": 1}}
    qrels = judged
    if as_entries and form in ("file", "entries"):
        table = pd.DataFrame([(q, d, g) for q, of_q in judged.items() for d, g in of_q.items()])
        qrels = read_qrels(table.set_axis(["qid", "doc_id", "grade"], axis=1), value="grade")
    for duplicates, ap in [("first", (1 / 2 + 2 / 3) / 2), ("nonrelevant", (1 / 2 + 2 / 5) / 2)]:
        run, metrics = run_in_form(form, duplicates), ["map", "p@5", "judged@5"]
        result = evaluate_run(qrels, run, duplicates=duplicates, metrics=metrics)
        assert result.per_query["map"] == pytest.approx([ap, 1 / 2])
        assert result.per_query["p@5"] == pytest.approx([2 / 5, 1 / 5])
        assert result.per_query["judged@5"] == pytest.approx([1 if duplicates == "first" else 3 / 5, 1 / 2])
        report = compare_systems(qrels, {"a": run}, duplicates=duplicates, metrics=metrics)
        assert report.results["a"].mean() == result.mean()
        out = evaluate_run(qrels, run, duplicates=duplicates, metrics="map", exclude={"q": ["y"]})
        assert out.per_query["map"] == pytest.approx([1 / 2 if duplicates == "first" else 1 / 3, 1 / 2])


def test_places_that_are_kept_are_not_left_out():
    for keywords in ({"unjudged": "drop"}, {"metrics": "map(unjudged=drop)"}):
        with pytest.raises(ValueError, match="which unjudged='drop' leaves out"):
            evaluate_run({"q": ["y"]}, LISTED, duplicates="nonrelevant", **keywords)


def test_the_first_score_of_a_document_that_is_twice_counts():
    pairs = [("a", 3), ("b", 2), ("a", 1)]
    hits = [{"doc_id": document, "score": score} for document, score in pairs]
    for listed in (pairs, hits):
        found = evaluate_run({"q": {"a"}}, {"q": listed}, duplicates="first", metrics="mrr")
        assert found.mean() == {"mrr": 1}


def test_duplicate_judgments_are_merged():
    table = pd.DataFrame({"qid": 1, "doc_id": ["a", "b", "a"], "grade": [1, 0, 2]})
    for duplicates in ("first", "nonrelevant"):
        qrels = read_qrels(table, value="grade", duplicates=duplicates)
        assert evaluate_run(qrels, {1: ["b", "a"]}, metrics=["cg", "r@2"]).mean() == {"cg": 2, "r@2": 1}
        listed = evaluate_run({1: ["a", "a"]}, {1: ["b", "a"]}, duplicates=duplicates, metrics="r@2")
        assert listed.mean() == {"r@2": 1}


def test_a_convention_of_document_ids_orders_ties_by_them():
    qrels, run = {"q": {"a": 1}}, {"q": {"a": 1.0, "b": 1.0, "c": 0.5}}
    for convention, rank in [("trec_eval", 2), ("ir_measures", 2), ("ranx", 1)]:
        for metric, keywords in [("mrr", {"convention": convention}), (f"mrr(convention={convention})", {})]:
            result = evaluate_run(qrels, run, metrics=[metric], **keywords)
            assert result.mean()[metric] == 1 / rank
            report = compare_systems(qrels, {"a": run}, metrics=metric, **keywords)
            assert report.results["a"].mean()[metric] == 1 / rank
    as_given = join(qrels, run)
    found = evaluate(as_given.y_true, as_given.y_score, qid=as_given.qid, metrics="mrr", convention="trec_eval")
    assert found.mean() == {"mrr": 1}
    with pytest.raises(ValueError, match=r"pass convention= for all metrics.*Got mrr\(.*, map\."):
        evaluate_run(qrels, run, metrics=["mrr(convention=trec_eval)", "map"])


@pytest.mark.parametrize(
    ("convention", "value"), [("trec_eval", 0.5), ("ir_measures", 0.5), ("ranx", 1.0), (None, 1.0)]
)
def test_a_convention_of_trec_eval_reads_scores_in_single_precision(convention, value):
    """Scores that are equal in single precision are ordered by descending document id, in compare_systems as well."""
    qrels, run = {"q": {"a": 1}}, {"q": {"a": 1.0 + 1e-12, "b": 1.0}}
    keywords = {"metrics": "mrr", "convention": convention}
    assert evaluate_run(qrels, run, **keywords).mean() == {"mrr": value}
    assert compare_systems(qrels, {"one": run}, **keywords).results["one"].mean() == {"mrr": value}
    asked = RelevanceEvaluator(qrels, {"recip_rank"}).evaluate(run)
    assert asked == {"q": {"recip_rank": 0.5}}


def test_few_keywords_and_none_only_for_trec_eval():
    named = [p for p in inspect.signature(evaluate_run).parameters.values() if p.kind is p.KEYWORD_ONLY]
    assert len(named) - 1 <= 12
    for keyword, given in (("tie_order", "trec_eval"), ("float32", True), ("negative", "keep")):
        for door, run in ((evaluate_run, RUN), (compare_systems, {"one": RUN})):
            rule = rf"^{door.__name__} has no keyword '{keyword}'\. .* with convention='trec_eval'; io\.join has"
            with pytest.raises(TypeError, match=rule):
                door(QRELS, run, **{keyword: given})


def test_excluded_documents_are_dropped_on_both_sides():
    result = evaluate_run(QRELS, RUN, metrics=["map", "r@3"], exclude={"q2": ["b", "z"], "other": ["b"]})
    assert result.per_query["map"] == pytest.approx([1, 5 / 12])  # b and c tie in q1
    assert result.per_query["r@3"].tolist() == [1, 1]
    data = join(QRELS, RUN, exclude={"q2": {"b", "z"}})
    assert data.n_excluded == (1, 2, 0)
    assert "excluded: 1 documents of the run, 2 of the judgments" in data.counts()
    same = evaluate_run(
        entries(QRELS, "grade", "trec"), entries(RUN, "score", "trec"), metrics="map", exclude={"q2": "b z".split()}
    )
    assert same.per_query["map"].tolist() == result.per_query["map"].tolist()


def test_weights_attributes_and_clusters_go_by_query():
    weight, country = {"q1": 3, "q2": 1}, {"q1": "de", "q2": "en"}
    plain = evaluate_run(QRELS, RUN, metrics="map")
    for wrap in (dict, pd.Series):
        result = evaluate_run(
            QRELS, RUN, metrics="map", sample_weight=wrap(weight), by={"country": country}, clusters=wrap(country)
        )
        assert result.mean()["map"] == np.average(plain.per_query["map"], weights=[1, 3])
        assert result.clusters.tolist() == ["en", "de"]
        assert result.attributes["country"].tolist() == ["en", "de"]
    alone = evaluate_run(QRELS, RUN, metrics="map", sample_weight={"q1": 3, "q2": 0})
    assert alone.mean()["map"] == pytest.approx(plain.per_query["map"][1])
    for name in ("sample_weight", "by", "clusters"):
        with pytest.raises(TypeError, match=rf"{name} of evaluate_run must be {{query: value}}.*Got list"):
            evaluate_run(QRELS, RUN, **{name: [1] * 8})
    with pytest.raises(ValueError, match="Got none for 1 of 2, the first 'q2'"):
        evaluate_run(QRELS, RUN, sample_weight={"q1": 1})


def test_negative_grades_and_ties_match_join():
    qrels, run = {"q": {"a": 1, "b": -1}}, {"q": {"b": 1.0, "a": 1.0}}
    kept = join(qrels, run, negative="keep")
    with pytest.raises(ValueError, match="must not be below 0"):
        evaluate(kept.y_true, kept.y_score, qid=kept.qid, metrics="ndcg")
    assert evaluate_run(qrels, run, metrics="ndcg").per_query["ndcg"][0] < 1
    ranks = [
        evaluate_run(qrels, {"q": ids}, metrics="mrr", ties="stable", convention=convention).mean()["mrr"]
        for ids in ({"a": 1.0, "b": 1.0}, {"b": 1.0, "a": 1.0})
        for convention in (None, "trec_eval")
    ]
    assert ranks == [1, 0.5, 0.5, 0.5]


WRONG = {
    "ids of queries": (({1: {"a"}}, {"1": ["a"]}), ValueError, "Ids must be of one type.* Got 1 and '1'"),
    "ids of some queries": (({1: {"a"}, "2": {"a"}}, {"1": ["a"], "2": ["a"]}), ValueError, "Got 1 and '1'"),
    "ids of documents": (({1: {5}}, {1: ["6"]}), ValueError, "of one type.*Got ids such as '6' and 5, and none in"),
    "numbers and their texts": (({1: {5, "6"}}, {1: ["5", 7]}), ValueError, "Ids must be of one type.* Got 5 and '5'"),
    "grades in a list": (({1: [("a", 2)]}, {1: ["a"]}), ValueError, r"Got ids such as 'a' and \('a', 2\)"),
    "one string": (({1: "a"}, {1: ["a"]}), TypeError, "needs a dictionary or list of documents. Got 'a' for query 1"),
    "set as a run": (({1: ["a"]}, {1: {"a", "b"}}), TypeError, "A set has no order.*Got a set for query 1"),
    "score as text": (({1: ["a"]}, {1: {"a": "0.5"}}), TypeError, "Got '0.5' for document 'a' of query 1"),
    "nan": (({1: ["a"]}, {1: {"b": 1, "a": np.nan}}), ValueError, "Got nan for document 'a' of query 1"),
    "infinite": (({1: ["a"]}, {1: {"a": np.inf}}), ValueError, "Got inf for document 'a' of query 1"),
    "no grade": (({1: {"a": None}}, {1: ["a"]}), TypeError, "Got None for document 'a' of query 1"),
    "distances": (
        ({1: ["a"]}, {1: [("a", 0.1), ("b", 0.2)]}),
        ValueError,
        "negate distances.*Got rising scores for query 1",
    ),
    "scores in a list": (
        ({1: ["a"]}, {1: [1.0, 0.5]}),
        TypeError,
        "must hold document ids. Got 0.5 for query 1 of the run",
    ),
    "Series of scores": (
        ({1: {0: 1}}, {1: pd.Series([0.5, 1.0], index=[0, 1])}),
        TypeError,
        r"series\.to_dict\(\) makes it of a Series",
    ),
    "Series of whole scores": (
        ({1: {10: 1}}, {1: pd.Series([5, 3], index=[10, 11])}),
        TypeError,
        r"series\.to_dict\(\) makes {document: number}. Got 5 at 10 for query 1 of the run",
    ),
    "Series of grades": (
        ({1: pd.Series([1, 0], index=pd.Index([0, 1], name="doc"))}, {1: [0]}),
        TypeError,
        "Got 1 at 0 for query 1 of the judgments",
    ),
    "Series of booleans": (
        ({1: pd.Series([True, False], index=["a", "b"])}, {1: ["a"]}),
        TypeError,
        "Got True at 'a' for query 1 of the judgments",
    ),
    "Series of rows": (
        ({1: ["a"]}, pd.Series(["a", "b"], index=[1, 1])),
        ValueError,
        r"run must have each query once in its index. Got query 1 more than once.*agg\(list\)",
    ),
    "one relevant": (({1: 7}, {1: [7]}), TypeError, r"Got 7 for query 1\. One document is a list of one, \[7\]"),
    "rows of a matrix": (({1: [7]}, {1: [[7, 8, 9]]}), TypeError, r"Got \[7, 8, 9\] for query 1 of the run\.$"),
    "metrics by position": ((QRELS, RUN, ["mrr"]), TypeError, "all else by name, such as metrics="),
    "hits": (({1: ["a"]}, {1: [{"key": 1, "score": 2}]}), TypeError, "needs an id.*hashable"),
    "lists of lists": (([["a"]], [["a"]]), TypeError, r"Got list instead.*dict\(zip\(query_ids, judgments\)\)"),
    "frame": ((pd.DataFrame({"qid": [1]}), {1: ["a"]}), TypeError, "table as judgments.*Got 'qid'; io.read_qr"),
    "columns": (({"qid": [1], "doc_id": ["a"]}, {1: ["a"]}), TypeError, "io.read_qrels"),
    "nothing": (({}, {}), ValueError, "must have a query in common.*none in the judgments"),
    "empty run": (({1: ["a"]}, {}), ValueError, "must have a query in common.*none in the run"),
}


@pytest.mark.parametrize("case", WRONG)
def test_evaluate_run_errors(case):
    arguments, error, message = WRONG[case]
    with pytest.raises(error, match=message):
        evaluate_run(*arguments)


def test_series_of_lists_by_query():
    frame = pd.DataFrame({"qid": ["q1", "q1", "q2"], "doc": ["b", "a", "c"]})
    judgments = pd.Series([["a"], ["c"]], index=["q1", "q2"])
    found = evaluate_run(judgments, frame.groupby("qid").doc.agg(list), metrics="mrr")
    assert dict(zip(found.qid.tolist(), found.per_query["mrr"].tolist(), strict=True)) == {"q1": 0.5, "q2": 1.0}


def test_series_of_documents():
    """For numbers without row labels, and for text with any row labels."""
    for documents in (pd.Series([7, 8]), pd.Series(["a", "b"], index=pd.Index([7, 8], name="row"))):
        relevant = {documents[documents.index[1]]}
        assert evaluate_run({1: relevant}, {1: documents}, metrics="mrr").mean() == {"mrr": 0.5}


@pytest.mark.parametrize("keyword", ["by", "clusters", "sample_weight"])
def test_series_that_has_a_query_twice_is_refused(keyword):
    of_rows = pd.Series([1.0, 2.0, 3.0], index=["q1", "q2", "q1"])
    with pytest.raises(ValueError, match=f"{keyword} must have each query once in its index. Got query 'q1' more"):
        evaluate_run(QRELS, RUN, **{keyword: of_rows})


def test_run_without_judged_documents():
    judged, other = ({q: {f"{p}{n}" for n in range(5)} for q in ("q1", "q2")} for p in ("a", "doc"))
    other = {q: sorted(ids) for q, ids in other.items()}
    with pytest.warns(UserWarning, match="No document of the run is judged.*such as 'doc0' in the run and 'a"):
        assert evaluate_run(judged, other, metrics="mrr").mean() == {"mrr": 0}
    assert evaluate_run({"q1": {"b"}}, {"q1": other["q1"]}, metrics="mrr").mean() == {"mrr": 0}  # a single query
    assert evaluate_run(SETS, {"q1": ["x"], "q2": []}, metrics="mrr").mean() == {"mrr": 0}


@pytest.mark.parametrize(
    ("exclude", "error", "message"),
    [
        ({"other": ["a"]}, ValueError, "exclude must have a query of the run or of the judgments"),
        ({"q1": ["b "]}, ValueError, "An id must have one spelling"),
        ({"q1": [1]}, ValueError, "of one type in the run and in exclude"),
        ({"q1": "a"}, TypeError, "a set or a list of documents. Got 'a' for query 'q1'"),
        ({"q1": pd.Series({"a": 5})}, TypeError, "Got 5 at 'a' for query 'q1' of the documents to exclude"),
        (["a"], TypeError, "exclude must be {query: documents}, or a table of both. Got list"),
    ],
)
def test_invalid_exclude(exclude, error, message):
    with pytest.raises(error, match=message):
        evaluate_run(QRELS, RUN, exclude=exclude)


def test_wrong_way_round():
    qrels = {"q1": {"a": 1}, "q2": {"b": 1}}
    for run in (RUN, {q: [*ids] for q, ids in RUN.items()}):
        with pytest.warns(UserWarning, match="the judgments first, then the run.*no scores but 1"):
            evaluate_run(run, qrels, metrics="ndcg")
    graded = {q: {d: round(s) for d, s in found.items()} for q, found in RUN.items()}  # of the same documents
    with pytest.warns(UserWarning, match="the judgments first, then the run.*no scores but"):
        evaluate_run(RUN, graded, metrics="dcg")
    with pytest.warns(UserWarning, match="join takes the judgments first, then the run, and these seem"):
        join(RUN, graded)
    for arguments in ((entries(RUN, "score", "trec"), qrels), (ranx_of("Run", RUN), qrels)):
        with pytest.raises(ValueError, match="evaluate_run takes the judgments first.*Got run as 'judgments'"):
            evaluate_run(*arguments)


def test_the_warning_names_the_missing_choice():
    judgments, run = {"a": {"d"}, "b": {"d"}}, {"a": ["d"], "c": ["d"]}
    for said, unsaid in (("missing_from_run", "missing_from_qrels"), ("missing_from_qrels", "missing_from_run")):
        with pytest.warns(UserWarning, match=rf"\. Pass {unsaid}= with 'zero'"):
            evaluate_run(judgments, run, metrics="map", **{said: "drop"})


def test_queries_without_judged_documents():
    """One more document is unretrieved; retrieved ones and the grades of other queries stay as they are."""
    with pytest.warns(UserWarning, match="not in the run: 1"):
        result = evaluate_run({"a": {}, "b": {"d": 1}}, {"b": ["d"]}, metrics="p@1")
    assert dict(zip(result.qid.tolist(), result.per_query["p@1"].tolist(), strict=True)) == {"a": 0, "b": 1}
    retrieved = evaluate_run({"a": [], "b": ["d"]}, {"a": ["d"], "b": ["d"]}, metrics="p@1")
    assert retrieved.n_documents.tolist() == [1, 1]


def test_scores_may_be_minus_infinity_and_grades_may_not():
    assert evaluate_run({"a": {"d"}}, {"a": {"d": -np.inf, "e": 1.0}}, metrics="r@10").mean() == {"r@10": 0}
    with pytest.raises(ValueError, match="Grades must be finite real numbers. Got -inf for document 'd' of query 'a'"):
        evaluate_run({"a": {"d": -np.inf}}, {"a": ["d"]}, metrics="r@10")


def test_pairs_may_have_equal_scores():
    run = {"q": [("x", 0.5), ("y", 0.5)]}
    assert evaluate_run({"q": {"x"}}, run, metrics="mrr").mean() == {"mrr": 0.75}


def test_a_pair_that_comes_again_is_an_error():
    with pytest.raises(ValueError, match="Got document 'd' 2 times for query 'a' of the run"):
        evaluate_run({"a": {"d"}}, {"a": [("d", 2.0), ("d", 1.0)]})


def test_swapped_run_and_judgments():
    """A run with as few distinct scores as a scale, and no longer than its judgments."""
    for n_grades, n_judged, warns in ((6, 9, True), (7, 9, False), (6, 8, False)):
        run = {"a": {f"d{i}": i % n_grades for i in range(9)}}
        judged = {"a": {f"d{i}": 0.5 + i for i in range(n_judged)}}
        with warnings.catch_warnings(record=True) as told:
            warnings.simplefilter("always")
            evaluate_run(judged, run, metrics="ndcg(gain=linear)@5")
        assert any("the other way round" in str(one.message) for one in told) == warns


@pytest.mark.filterwarnings("ignore::sklearn_rank.exceptions.RankingWarning")  # -1, and texts beside numbers
@pytest.mark.parametrize(("n_run", "n_judged"), [(12, 3), (12, 40), (70, 40), (100, 12)])
def test_documents_match_whichever_side_has_more(n_run, n_judged, rng):
    """Equal ids are the same document in any type, in lists of few documents and of many."""
    ids = [0, 1.0, True, "d1", (1,), 2**60, float(2**50), -1, *map("d{}".format, range(60)), *range(2, 60)]

    def drawn(n):
        return {ids[i]: float(grade) for grade, i in enumerate(rng.permutation(len(ids))[:n])}

    of_run, judged = ({q: drawn(n) for q in range(first, first + 20)} for first, n in ((0, n_run), (1, n_judged)))
    data = join(judged, of_run, missing_from_run="drop", missing_from_qrels="drop")
    retrieved = np.isfinite(data.y_score)
    found = [*zip(np.asarray(data.qid)[retrieved].tolist(), data.doc_id[retrieved].tolist(), strict=True)]
    expected = [(q, d) for q in range(1, 20) for d in of_run[q]]
    assert found == expected
    np.testing.assert_array_equal(data.y_true[retrieved], [judged[q].get(d, np.nan) for q, d in expected])
    assert (~retrieved).sum() == sum(d not in of_run[q] for q in range(1, 20) for d in judged[q])


def test_scores_of_any_real_type_keep_their_bits():
    """Pairs that a wrong digit would reorder."""
    scores = [0.1, -0.0, 1e308, -np.inf, 5e-324, True, 2.5, 2**53 - 1, Decimal("7.25"), np.float32(0.1)]
    data = join({"q": {"none"}}, {"q": {f"d{i}": score for i, score in enumerate(scores)}})
    assert data.y_score[: len(scores)].tobytes() == np.array([*map(float, scores)]).tobytes()


def test_grades_that_are_equal_as_floats_are_rejected():
    with pytest.raises(ValueError, match="must hold numbers that are still different as float64"):
        evaluate_run({"q": {"a": 2**53, "b": 2**53 + 1}}, {"q": ["a"]})


def test_a_list_without_documents_takes_nothing_from_the_list_after_it():
    result = evaluate_run({"a": {"d": 1}, "b": {"d": 1}}, {"a": [], "b": ["d"]}, metrics=["11pt", "rbp(p=0.5)", "map"])
    assert {name: values.tolist() for name, values in result.per_query.items()} == {
        "11pt": [0, 1], "rbp(p=0.5)": [0, 0.5], "map": [0, 1],
    }  # fmt: skip


def test_a_single_match_is_enough():
    """Ids of different types are an error only if no id matches."""
    assert evaluate_run({"q": {5: 1}}, {"q": [Decimal(5)]}, metrics="p@1").mean() == {"p@1": 1}


@pytest.mark.parametrize(
    ("documents", "match"),
    [
        ([("a", 2.0), "b"], "must hold only pairs. Got 'b' for query 'q'"),
        (["a", ["b"]], r"must be hashable.*Got \['b'\] for query 'q'"),
        ({"a": 1.0, "b": np.complex128(1)}, "Scores must hold real numbers. Got .*complex128"),
    ],
)
def test_a_single_entry_of_another_type(documents, match):
    with pytest.raises(TypeError, match=match):
        evaluate_run({"q": {"a": 1}}, {"q": documents}, metrics="mrr")


MISSING = {"None": None, "NaN": float("nan"), "NA": pd.NA, "NaT": pd.NaT, "NaT of NumPy": np.datetime64("NaT", "s")}


@pytest.mark.parametrize("kind", MISSING)
def test_missing_ids_of_documents(kind):
    """In every form of a run and of judgments."""
    none, fine = MISSING[kind], {"u": ["x"], "v": ["y"]}
    in_a_run = [["a", none], [("a", 0.9), (none, 0.5)], {"a": 0.9, none: 0.5}, np.array(["a", none], dtype=object)]
    in_judgments = [["x", none], {"x", none}, {"x": 1, none: 0}]
    for documents in in_a_run:
        run = {"u": documents, "v": ["y"]}
        for call in (
            lambda: evaluate_run(fine, run, metrics="mrr"),  # noqa: B023
            lambda: join(fine, run),  # noqa: B023
            lambda: compare_systems(fine, {"a": run, "b": fine}, metrics="mrr"),  # noqa: B023
        ):
            with pytest.raises(ValueError, match=r"Every document needs an id.* for query 'u' of the run\."):
                call()
    for documents in in_judgments:
        with pytest.raises(ValueError, match=r"Every document needs an id.* for query 'u' of the judgments\."):
            evaluate_run({"u": documents, "v": ["y"]}, fine)
    with pytest.raises(ValueError, match="Every document needs an id.* documents to exclude"):
        evaluate_run(fine, fine, exclude={"u": ["x", none]})
    with pytest.raises(ValueError, match="must not contain missing values"):
        evaluate_run({**fine, none: ["x"]}, fine)


@pytest.mark.parametrize(
    "documents",
    [
        np.ma.array([1, 2], mask=[False, True]), pd.Series([1, None], dtype="Int64"), pa.array([1, None]),
        pl.Series([1, None]), np.array([1.0, np.nan]), [np.nan, 1.0],
    ],
    ids=["masked", "nullable", "Arrow", "polars", "floats", "floats in a list"],
)  # fmt: skip
def test_missing_ids_in_columns(documents):
    for call in (lambda: evaluate_run({"u": documents}, {"u": [1, 2]}), lambda: join({"u": [1, 2]}, {"u": documents})):
        with pytest.raises(ValueError, match="Every document needs an id"):
            call()


def test_documents_that_float64_may_have_made_equal():
    for documents in ({1e18: 1}, [2.0**53, 1.0], np.array([-1e17, 1.0])):
        with pytest.raises(ValueError, match="Ids must stay different, and float64"):
            evaluate_run({"u": documents}, {"u": [1.0, 2.0]})


def test_rows_of_a_run_are_looked_at():
    judged = {f"q{i}": dict.fromkeys("abc", i % 2) for i in range(30)}
    with pytest.warns(RankingWarning, match="cannot tell good rankings from bad ones"):
        evaluate_run(judged, {q: {"a": 3.0, "b": 2.0, "c": 1.0} for q in judged}, metrics="map")


@pytest.mark.parametrize("scores", [(1, 2, 0.5), (3, 1, 2), (-np.inf, -np.inf, 0)])
def test_a_single_increasing_pair(scores):
    with pytest.raises(ValueError, match="Got rising scores for query 'q'"):
        evaluate_run({"q": {"a"}}, {"q": [*zip("abc", scores, strict=True)]}, metrics="map")


def test_documents_of_two_types_without_a_number_as_text():
    judged = {"u": ["x1", "2", 7], "v": ["x1", 7]}
    evaluate_run(judged, {"u": ["x1", 3, 9], "v": [7, "x1"]}, metrics="map")
