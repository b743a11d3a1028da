"""Equivalent calls: other containers, orders, names, batches and entry points give the same values.

A way takes rows and calls, and yields pairs of results that must be equal: by query, and means. `exact` says whether
bit for bit, as documented, or up to rounding, if sums are computed in another order.
"""

import io
import math
from math import inf, isnan
from pathlib import Path
from typing import NamedTuple
from unittest.mock import patch

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import scipy.sparse as sp

from properties import forms
from properties.calls import Call, draw_call, names
from properties.cases import COUNTS, draw_forms, odd_data
from properties.data import Data, Row, draw_data
from properties.expected import settings
from sklearn_rank import (
    RankingAccumulator,
    compare_systems,
    evaluate,
    evaluate_run,
    evaluate_table,
    parse_metric,
    prepare,
)
from sklearn_rank._metric.conventions import BY_DOCUMENT_ID
from sklearn_rank._metric.metric import REGISTRY
from sklearn_rank._tables import batch_validator
from sklearn_rank.io import join, read_table


class Base(NamedTuple):
    """Rows, calls that they allow, and their values when all metrics are computed in one call."""

    data: Data
    calls: dict[str, Call]
    per_query: dict[str, dict]
    means: dict[str, float]

    @property
    def metrics(self):
        return metrics_of(self.calls)

    @property
    def several(self):
        return isinstance(self.data.rows[0].label, tuple)

    def only(self, keep):
        """The calls for which a function of the call and its settings is true."""
        calls = {name: call for name, call in self.calls.items() if keep(call, settings(call))}
        return self._replace(calls=calls)


def metrics_of(calls):
    return {name: parse(call) for name, call in calls.items()}


def parse(call):
    cutoff = "" if call.k is None else f"@{call.k}"
    return parse_metric(call.name + cutoff, **call.keywords)


def arrays(data):
    """Labels, scores and keywords as plain arrays."""
    keywords = {"qid": np.array(data.ids)}
    if data.weights is not None:
        keywords["sample_weight"] = np.array(data.row_weights)
    if data.keys is not None:
        keywords["tie_break"] = np.array(data.keys)
    return np.array(data.labels), np.array(data.scores), keywords


def by_query(result, to_query=lambda q: q):
    """Values of each query by metric, and queries as they were numbered."""
    ids = [to_query(q) for q in result.qid.tolist()]
    return {name: dict(zip(ids, values.tolist(), strict=True)) for name, values in result.per_query.items()}


def evaluated(data, metrics, **keywords):
    y_true, y_score, given = arrays(data)
    return evaluate(y_true, y_score, metrics=metrics, **given, **keywords)


def draw_base(rng, *, plain=False):
    """Rows and some calls that are not refused; with `plain` they have a cutoff and no keywords."""
    data = draw_data(rng)
    several = isinstance(data.rows[0].label, tuple)
    unjudged = any(y != y or y < 0 for row in data.rows for y in (row.label if several else (row.label,)))
    calls = {}
    for i in range(rng.randint(2, 7)):
        name = rng.choice(names(several))
        call = draw_call(rng, name, has_unjudged=unjudged, has_keys=data.keys is not None)
        one = call.k[0] if isinstance(call.k, list) else call.k
        call = call._replace(keywords={}) if plain and data.keys is None else call
        keywords = {word: value for word, value in call.keywords.items() if word != "average" or value is not None}
        call = Call(name, one, keywords)
        try:
            evaluated(data, {"one": parse(call)}).mean()
        except ValueError:
            continue
        calls[f"m{i}"] = call
    if not calls:
        return None
    result = evaluated(data, metrics_of(calls))
    return Base(data, calls, by_query(result), result.mean())


# --- ways: each yields values that must be equal ------------------------------------------------------------------


class Found(NamedTuple):
    calls: dict[str, Call]
    per_query: dict[str, dict] | None
    means: dict[str, float] | None
    exact: bool = True


def result_of(base, result, *, exact=True, to_query=lambda q: q, means=True):
    return Found(base.calls, by_query(result, to_query), result.mean() if means else None, exact)


def alone(rng, base):
    """Each metric by its own function."""
    y_true, y_score, keywords = arrays(base.data)
    ids, values, means = [*base.data.queries], {}, {}
    for name, call in base.calls.items():
        given = keywords | call.keywords | ({} if call.k is None else {"k": call.k})
        if settings(call)["ties"] != "stable" or REGISTRY[call.name].defines_ties:
            given.pop("tie_break", None)
        means[name] = REGISTRY[call.name](y_true, y_score, **given)
        if given.get("average") in (None, "macro") and settings(call)["average"] == "macro":
            given["average"] = None
            values[name] = dict(zip(ids, REGISTRY[call.name](y_true, y_score, **given).tolist(), strict=True))
    yield Found(base.calls, values, means)


def beside_other_cutoffs(rng, base):
    """The same metrics together with other cutoffs."""
    beside = base.only(
        lambda call, s: call.k is not None and not isinstance(s.get("discount"), list) and closed(call, s)
    )
    more = {f"{name} at {k}": call._replace(k=k) for name, call in beside.calls.items() for k in (1, 6, 50)}
    found = evaluated(base.data, metrics_of(more | base.calls))
    chosen = {name: values for name, values in by_query(found).items() if name in base.calls}
    yield Found(base.calls, chosen, {name: value for name, value in found.mean().items() if name in base.calls})


def closed(call, s):
    """Whether a metric accepts ties for all keywords."""
    return s["ties"] != "average" or not (
        call.name in ("iprec", "infap") or s.get("denominator") == "retrieved_relevant"
    )


def other_threads(rng, base):
    for n_jobs in (1, 2, 3):
        yield result_of(base, evaluated(base.data, base.metrics, n_jobs=n_jobs))


def other_containers(rng, base):
    labels, scores, ids = draw_forms(rng, base.data, plain=0)
    of_labels = forms.TABLES if base.several else forms.NUMBERS
    data, keywords = base.data, {}
    if data.weights is not None:
        keywords["sample_weight"] = forms.draw(rng, forms.NUMBERS, data.row_weights)[1]
    if data.keys is not None:
        keywords["tie_break"] = data.keys
    qid = forms.IDS[ids](data.ids)
    result = evaluate(
        of_labels[labels](data.labels), forms.NUMBERS[scores](data.scores), qid=qid, metrics=base.metrics, **keywords
    )
    queries = iter([*data.queries])
    yield result_of(base, result, to_query=lambda q: next(queries))


def prepared(rng, base):
    """Labels that are kept, and scores that come again, others in between."""
    base = base.only(lambda call, s: base.data.keys is None)
    if not base.calls:
        return
    y_true, y_score, keywords = arrays(base.data)
    keep = prepare(y_true, metrics=base.metrics, **keywords)
    for _ in range(2):
        given = forms.draw(rng, forms.NUMBERS, base.data.scores)[1]
        yield Found(base.calls, by_query(keep.evaluate(given)), keep(given))
        try:
            keep(-np.where(np.isinf(y_score), 0, y_score))
        except ValueError:  # other scores may be tied, for which there may be no closed form
            pass


def fewer_queries(rng, base):
    """Only some of the queries."""
    kept = {q for q in base.data.queries if rng.random() < 0.5} or {base.data.rows[0].query}
    places = [i for i, row in enumerate(base.data.rows) if row.query in kept]
    result = evaluated(base.data.select(places), base.metrics)
    yield result_of(base, result, means=False)


def more_queries(rng, base):
    """Other queries before and after."""
    if base.several:
        return
    others = [Row(10**6 + i, 0.0, float(i % 3 > 0) * i) for i in range(rng.choice([3, 1100]))]
    if any(row.label == 0 for row in base.data.rows):  # so that labels of 0 are known to be taken
        n = len(others)
        keys = None if base.data.keys is None else [*range(n), *base.data.keys, *range(n)]
        weights = base.data.weights and base.data.weights | {row.query: 1.0 for row in others}
        data = Data([*others, *base.data.rows, *others], weights, keys)
        chosen = base.only(lambda call, s: closed(call, s) and not isinstance(s.get("discount"), list))
        if chosen.calls:
            found = by_query(evaluated(data, chosen.metrics))
            values = {name: {q: v for q, v in of.items() if q in base.data.queries} for name, of in found.items()}
            yield Found(chosen.calls, values, None)


def other_row_order(rng, base):
    """Shuffled rows, for values that do not depend on the order of the input."""
    same = base.only(lambda call, s: s["ties"] != "stable" or REGISTRY[call.name].defines_ties)
    if same.calls and base.data.keys is None:
        order = list(range(len(base.data.rows)))
        rng.shuffle(order)
        yield result_of(same, evaluated(base.data.select(order), same.metrics), exact=False)


def other_scores(rng, base):
    """Scores replaced by their ranks: only the order matters."""
    same = base.only(lambda call, s: not (REGISTRY[call.name].pointwise or REGISTRY[call.name].reads_scores))
    if same.calls:
        level = {s: i for i, s in enumerate(sorted({s for s in base.data.scores if s > -inf}))}
        scores = [level[s] - len(level) // 2 if s > -inf else s for s in base.data.scores]
        rows = [row._replace(score=float(s)) for row, s in zip(base.data.rows, scores, strict=True)]
        yield result_of(same, evaluated(Data(rows, base.data.weights, base.data.keys), same.metrics))


def repeated_queries(rng, base):
    """A query with a weight of n is n queries."""
    times = {q: rng.randint(1, 3) for q in base.data.queries}
    weighted = Data(base.data.rows, {q: float(n) for q, n in times.items()}, base.data.keys)
    places = [(i, t) for i, row in enumerate(base.data.rows) for t in range(times[row.query])]
    rows = [base.data.rows[i]._replace(query=base.data.rows[i].query + 10**6 * t) for i, t in places]
    keys = None if base.data.keys is None else [base.data.keys[i] for i, _ in places]
    found = evaluated(weighted, base.metrics).mean()
    expected = evaluated(Data(rows, None, keys), base.metrics).mean()
    compare_means(base.calls, found, expected, exact=False)
    yield Found(base.calls, None, base.means)


def cut(rng, n):
    """Slices of random lengths that cover n rows."""
    ends = sorted({rng.randrange(1, n + 1) for _ in range(rng.randint(0, 4))} | {n})
    return [slice(a, b) for a, b in zip([0, *ends], ends, strict=False)]


def columns(data):
    y_true, y_score, keywords = arrays(data)
    return [y_true, y_score, keywords["qid"], *([] if data.weights is None else [keywords["sample_weight"]])]


OF_ONE_TYPE = {name: make for name, make in forms.IDS.items() if name not in ("kind 11", "kind 12", "column")}
"""Ids that have one type, whichever rows are taken."""


def batches(rng, base):
    """Batches that tear queries apart, of arrays or of tables, with ids of any type, in memory and on disk.

    Queries are evaluated when many rows have come, or as soon as they end.
    """
    with patch.object(batch_validator, "COLLECTED_ROWS", rng.choice([1, batch_validator.COLLECTED_ROWS])):
        yield from of_batches(rng, base)


def of_batches(rng, base):
    if base.data.keys is not None:
        return
    y_true, y_score, _, *weight = columns(base.data)
    given = [y_true, y_score, forms.draw(rng, OF_ONE_TYPE, base.data.ids)[1], *weight]
    several = cut(rng, len(base.data.rows))
    ways = [[tuple(column[rows] for column in given) for rows in several]]
    if not base.several:
        table, make = frame_of(base.data, text=rng.random() < 0.5), rng.choice(TABLES)
        ways.append([make({name: column[rows] for name, column in table.items()}) for rows in several])
    for parts, named in zip(ways, ({}, {} if base.data.weights is None else WEIGHT), strict=False):
        for keywords in (
            {"memory_limit": rng.choice([2**28, 200])},
            *[{"assume_grouped": True}] * is_grouped(base.data),
        ):
            queries = iter([*base.data.queries])
            found = evaluate_table(iter(parts), metrics=base.metrics, **named, **keywords)
            yield result_of(base, found, to_query=lambda q, queries=queries: next(queries))


def is_grouped(data):
    changes = sum(a.query != b.query for a, b in zip(data.rows, data.rows[1:], strict=False))
    return changes == len(data.queries) - 1


def accumulators(rng, base):
    """Whole queries in batches, in one accumulator and in two merged ones."""
    if base.data.keys is not None:
        return
    first, second = RankingAccumulator(base.metrics), RankingAccumulator(base.metrics)
    queries, turn = [*base.data.queries], 0
    ids, order = rng.choice([*OF_ONE_TYPE]), []
    ids = ids if OF_ONE_TYPE[ids](base.data.ids) is not None else "U"
    for some in cut(rng, len(queries)):
        kept = set(queries[some])
        part = base.data.select([i for i, row in enumerate(base.data.rows) if row.query in kept])
        y_true, y_score, keywords = arrays(part)
        turn += rng.random() < 0.3
        order += part.queries
        (second if turn else first).update(y_true, y_score, **keywords | {"qid": OF_ONE_TYPE[ids](part.ids)})
    found = iter(order)
    result = first.merge(second).compute() if turn else first.compute()
    yield result_of(base, result, to_query=lambda q: next(found))


OWN = {"first": lambda y, s: y[np.argmax(s)] if len(y) > 1 else math.nan, "number": lambda y, s: float(len(s))}
"""Functions of one query, the first of which is undefined for some."""


def own_functions(rng, base):
    """Functions of the labels and scores of a query, in batches, a table and an accumulator."""
    if base.data.keys is not None or base.several or any(isnan(y) or y < 0 for y in base.data.labels):
        return
    y_true, y_score, keywords = arrays(base.data)
    whole, weight = evaluated(base.data, OWN), {} if base.data.weights is None else WEIGHT
    rows = [tuple(column[rows] for column in columns(base.data)) for rows in cut(rng, len(y_score))]
    for found in (
        evaluate_table(rows, metrics=OWN),
        evaluate_table(pd.DataFrame(frame_of(base.data)), metrics=OWN, **weight),
        RankingAccumulator(OWN).update(y_true, y_score, **keywords).compute(),
        prepare(y_true, metrics=OWN, **keywords).evaluate(y_score),
    ):
        compare_values(OWN, by_query(found), by_query(whole), exact=True)
        compare_means(OWN, found.mean(), whole.mean(), exact=True)
    yield Found(base.calls, None, base.means)


WEIGHT = {"sample_weight": "weight"}
TABLES = dict, pd.DataFrame, pl.DataFrame, pa.table


def frame_of(data, text=False):
    """Columns by name; ids may be text."""
    names = ["label", "score", "qid", *([] if data.weights is None else ["weight"])]
    found = dict(zip(names, columns(data), strict=True)) | ({} if data.keys is None else {"key": np.array(data.keys)})
    return found | ({"qid": np.array([f"é{q}" for q in data.ids])} if text else {})


def frames(rng, base):
    """A table of some library."""
    if base.several:
        return
    weight = {} if base.data.weights is None else WEIGHT
    weight = weight | ({} if base.data.keys is None else {"tie_break": "key"})
    for make in TABLES:
        queries = iter([*base.data.queries])
        table = make(frame_of(base.data, text=rng.random() < 0.5))
        result = evaluate_table(table, metrics=base.metrics, **weight)
        yield result_of(base, result, to_query=lambda q, queries=queries: next(queries))


def files(rng, base):
    """Parquet in row groups, and CSV, whose ids are text."""
    if base.several or base.data.keys is not None:
        return
    table = pa.table(frame_of(base.data))
    weight = {} if base.data.weights is None else WEIGHT
    with forms.tempfile.TemporaryDirectory() as folder:
        pq.write_table(table, f"{folder}/rows.parquet", row_group_size=rng.choice([2, 1000]))
        yield result_of(base, evaluate_table(f"{folder}/rows.parquet", metrics=base.metrics, **weight))
        if base.data.weights is None and not any(isnan(y) for y in base.data.labels):
            for source in (f"{folder}/rows.parquet", table, pl.from_arrow(table)):
                data = read_table(source)
                yield result_of(base, evaluate(data.y_true, data.y_score, qid=data.qid, metrics=base.metrics))
    if base.data.weights is None and not any(isnan(y) for y in base.data.labels):
        text = "label,score,qid\n" + "".join(f"{y!r},{s!r},{q}\n" for q, y, s in base.data.rows)
        data = read_table(io.BytesIO(text.encode()))
        yield result_of(base, evaluate(data.y_true, data.y_score, qid=data.qid, metrics=base.metrics), to_query=int)
        with forms.tempfile.TemporaryDirectory() as folder:
            (path := Path(folder, "rows.csv")).write_text(text)
            yield result_of(base, evaluate_table(path, metrics=base.metrics), to_query=int)


def runs(rng, base):
    """Judgments and a run by document; only the judgments have unretrieved documents."""
    some = {q for q, _, s in base.data.rows if s > -inf}
    if base.several or base.data.keys is not None or some != {*base.data.queries}:
        return
    if any(isnan(y) for y in base.data.labels):
        return
    judgments, run = {}, {}
    for i, (query, label, score) in enumerate(base.data.rows):
        judgments.setdefault(query, {})[f"d{i}"] = label
        if score > -inf:
            run.setdefault(query, {})[f"d{i}"] = score
    weights = base.data.weights
    data = join(judgments, run, negative="keep")
    by_row = None if weights is None else [weights[query] for query in np.asarray(data.qid).tolist()]
    rows = {"y_true": data.y_true, "y_score": data.y_score, "qid": data.qid, "sample_weight": by_row}
    yield result_of(base, evaluate(**rows, metrics=base.metrics), exact=False)
    # Of runs negative labels are not judged, and trec_eval's convention has another order of ties.
    of_trec_eval = [parse_metric(name)["convention"] in BY_DOCUMENT_ID for name in base.metrics.values()]
    if not any(of_trec_eval) and all(label >= 0 for _, label, _ in base.data.rows):
        found = evaluate_run(judgments, run, metrics=base.metrics, sample_weight=weights, unjudged=None)
        yield result_of(base, found, exact=False)


def matrices(rng, base):
    """Queries by documents, padded, or full."""
    if base.several or len(base.data.queries) > 50:
        return
    queries, longest = [*base.data.queries.values()], max(map(len, base.data.queries.values()))
    y_true, y_score, mask = (np.zeros((len(queries), longest)) for _ in range(3))
    keys = np.zeros((len(queries), longest), dtype=int)
    for i, documents in enumerate(queries):
        place = sorted(rng.sample(range(longest), len(documents)))
        y_true[i, place], y_score[i, place], keys[i, place] = zip(*documents, strict=True)
        mask[i, place] = 1
    y_score[mask == 0], y_true[mask == 0] = np.nan, -7
    keywords = {} if base.data.keys is None else {"tie_break": keys}
    if base.data.weights is not None:
        keywords["sample_weight"] = [base.data.weights[q] for q in base.data.queries]
    if not mask.all(axis=1).any() and set(y_true[mask == 1]) == {0.0}:
        return  # a mask that could be the wrong way round is refused
    keywords |= {"qid": [*base.data.queries], "metrics": base.metrics}
    yield result_of(base, evaluate(y_true, y_score, mask=mask == 1, **keywords))
    if mask.all():
        yield result_of(base, evaluate(np.asfortranarray(y_true), y_score.tolist(), **keywords))


def masked(rng, base):
    """Rows that a mask leaves out among the others."""
    y_true, y_score, keywords = arrays(base.data)
    at = [rng.randrange(len(y_score) + 1) for _ in range(rng.randint(1, 9))]
    keywords = {name: np.insert(column, at, column[0]) for name, column in keywords.items()}
    given = np.insert(y_true, at, np.nan, axis=0), np.insert(y_score, at, rng.choice([np.nan, inf, -1e300]))
    mask = np.insert(np.ones(len(y_score), bool), at, False)
    yield result_of(base, evaluate(*given, mask=mask, metrics=base.metrics, **keywords))


def sparse(rng, base):
    """Sparse labels and scores, against the same rows with all documents in every query."""
    if base.several or base.data.keys is not None or len(base.data.queries) > 50:
        return
    if any(isnan(y) for y in base.data.labels) or max(map(len, base.data.queries.values())) == 1:
        return
    plain = base.only(lambda call, s: not REGISTRY[call.name].pointwise and takes_zero(call, s) and closed(call, s))
    if not plain.calls:
        return
    queries, longest = [*base.data.queries.items()], max(map(len, base.data.queries.values()))
    filled = [Row(q, 0.0, -inf) for q, documents in queries for _ in range(longest - len(documents))]
    weights = base.data.weights
    dense = evaluated(Data([*base.data.rows, *filled], weights), plain.metrics)
    labels, scores = ([], [], []), ([], [], [])
    for i, (_, documents) in enumerate(queries):
        for j, (label, score, _) in enumerate(documents):
            for matrix, value, kept in ((labels, label, label != 0), (scores, score, score > -inf)):
                if kept:
                    for column, entry in zip(matrix, (value, i, j), strict=True):
                        column.append(entry)
    shape = len(queries), longest
    y_true, y_score = (sp.csr_array((v, (i, j)), shape=shape, dtype=float) for v, i, j in (labels, scores))
    weight = {} if weights is None else {"sample_weight": [weights[q] for q in base.data.queries]}
    found = evaluate(y_true, y_score, metrics=plain.metrics, **weight)
    numbers = dict(enumerate(base.data.queries))
    compare_values(plain.calls, by_query(found, numbers.__getitem__), by_query(dense), exact=False)
    compare_means(plain.calls, found.mean(), dense.mean(), exact=False)
    yield Found(plain.calls, None, {name: base.means[name] for name in plain.calls})


def takes_zero(call, s):
    """Whether a table of gains or of weights by rank covers documents of label 0."""
    return not isinstance(s.get("gain"), (list, dict)) and not isinstance(s.get("discount"), list)


def systems(rng, base):
    """One of two compared systems."""
    y_true, y_score, keywords = arrays(base.data)
    same = base.only(lambda call, s: base.data.keys is None and closed(call, s))
    if not same.calls or base.several or len(base.data.queries) < 2:
        return
    other = np.where(np.isinf(y_score), y_score, -y_score)
    kept = {"metrics": same.metrics, **keywords}
    try:
        found = compare_systems(y_true, {"other": other, "this": y_score}, **kept)
    except ValueError as error:
        if "nothing was compared" in str(error):
            return
        raise
    yield result_of(same, found.results["this"])


WAYS = [
    alone,
    beside_other_cutoffs,
    other_threads,
    other_containers,
    prepared,
    fewer_queries,
    more_queries,
    other_row_order,
    other_scores,
    repeated_queries,
    batches,
    accumulators,
    own_functions,
    frames,
    files,
    runs,
    matrices,
    masked,
    sparse,
    systems,
]


# --- comparison ----------------------------------------------------------------------------------------------


def is_same(found, wanted, exact, reach):
    if exact:
        return found == wanted or (isnan(found) and isnan(wanted))
    return math.isclose(found, wanted, rel_tol=1e-12, abs_tol=reach) or (isnan(found) and isnan(wanted))


def compare_values(calls, found, wanted, exact, reach=1e-12):
    for name in found:
        for query, value in found[name].items():
            same = is_same(value, wanted[name][query], exact, reach)
            assert same, f"{calls[name]}: {value!r} of query {query}, not {wanted[name][query]!r}"


def compare_means(calls, found, wanted, exact, reach=1e-12):
    for name, value in found.items():
        assert is_same(value, wanted[name], exact, reach), f"{calls[name]}: mean {value!r}, not {wanted[name]!r}"


def check(way, rng, base):
    """Fail with the rows and the call if a way gives other values."""
    for found in within_range(way(rng, base)):
        compare_values(found.calls, found.per_query or {}, base.per_query, found.exact)
        compare_means(found.calls, found.means or {}, base.means, found.exact)
        COUNTS.add(way.__name__, len(found.calls))


def within_range(results):
    """Results up to the first that is refused as beyond the range of a float: another cut may have larger sums."""
    try:
        yield from results
    except ValueError as error:
        if "range of a float" not in str(error):
            raise


def shown(way, base):
    data, calls = base.data, ", ".join(map(str, base.calls.values()))
    return (
        f"{way.__name__} of {calls}\ny_true={data.labels}, y_score={data.scores}, qid={data.ids}, "
        f"weights={data.weights}, keys={data.keys}"
    )


def check_all(rng, ways=WAYS):
    """Check all ways on one draw of rows and calls."""
    with odd_data():
        base = draw_base(rng)
        for way in ways if base else ():
            try:
                check(way, rng, base)
            except Exception as error:
                error.add_note(shown(way, base))
                raise


def notes(error):
    """The rows and the calls of an error."""
    return "\n".join(getattr(error, "__notes__", ()))
