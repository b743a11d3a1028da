"""Batches: a failure leaves no trace, and the next call gives the numbers of one call on all rows."""

import shutil
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
from hypothesis import strategies as st
from hypothesis.stateful import initialize, invariant, precondition, rule

from sklearn_rank import evaluate_table
from states.machine import (
    METRICS,
    Machine,
    assert_same_calls,
    errors,
    failing,
    kinds,
    named,
    queries_of,
    query_lists,
    refused,
    rows_of,
    value_of,
)

options = st.fixed_dictionaries({
    "assume_grouped": st.booleans(),
    "memory_limit": st.sampled_from([1, 400, 2**28]),
    "n_jobs": st.sampled_from([None, 2]),
})  # fmt: skip


class Batches(Machine):
    @initialize(kind=kinds, weighted=st.booleans())
    def begin(self, kind, weighted):
        self.kind, self.weighted, self.batches = kind, weighted, []
        self.folder = tempfile.mkdtemp()

    def teardown(self):
        if hasattr(self, "folder"):
            shutil.rmtree(self.folder)

    # --- rows ---------------------------------------------------------------------------------------------------

    @rule(queries=query_lists(n_ids=1000), cuts=st.lists(st.integers(0, 12), max_size=3))
    def more_queries(self, queries, cuts):
        """New queries in some batches; cuts may tear queries."""
        known = {row[2] for row in self.rows()}
        queries = [q for q in named(queries, self.kind) if q.id not in known]
        rows = self.tuples(queries)
        edges = [0, *sorted(cuts), len(rows)]
        self.batches += [rows[a:b] for a, b in zip(edges, edges[1:], strict=False)]

    @precondition(lambda self: self.batches)
    @rule(random=st.randoms(use_true_random=False))
    def shuffle(self, random):
        """All rows in another order, in batches of the same lengths."""
        rows, start = self.rows(), 0
        random.shuffle(rows)
        for i, batch in enumerate(self.batches):
            self.batches[i] = rows[start : start + len(batch)]
            start += len(batch)

    @rule()
    def sort(self):
        """Rows of a query are adjacent, in batches of three."""
        rows = self.tuples(queries_of(self.columns(self.rows())))
        self.batches = [rows[i : i + 3] for i in range(0, len(rows), 3)]

    def tuples(self, queries):
        return [*zip(*rows_of(queries), strict=True)]

    def rows(self):
        return [row for batch in self.batches for row in batch]

    def columns(self, rows):
        """Columns of rows; at least one id, so that arrays have its type."""
        return [*map(list, zip(*rows, strict=True))] if rows else [[], [], [], []]

    def stream(self):
        for batch in self.batches:
            if batch:
                yield tuple(self.columns(batch)[: 4 if self.weighted else 3])

    @property
    def torn(self):
        """Whether the rows of a query are not adjacent."""
        ids = [row[2] for row in self.rows()]
        return len({*ids}) < 1 + sum(a != b for a, b in zip(ids, ids[1:], strict=False)) if ids else False

    # --- calls --------------------------------------------------------------------------------------------------

    def call(self, data, options):
        folder = None if options["assume_grouped"] else self.folder
        return evaluate_table(data, metrics=METRICS, folder=folder, **options)

    def expected(self):
        return value_of(queries_of(self.columns(self.rows())), METRICS, weighted=self.weighted)

    @rule(options=options)
    def whole(self, options):
        if not self.rows():
            with refused():
                self.call(self.stream(), options)
        elif options["assume_grouped"] and self.torn:
            with refused("adjacent"):
                self.call(self.stream(), options)
        else:
            assert_same_calls(lambda: self.call(self.stream(), options), self.expected)

    @precondition(lambda self: self.rows())
    @rule(options=options, error=errors, after=st.integers(0, 5))
    def iterator_fails(self, options, error, after):
        def failing_stream():
            for _, batch in zip(range(after), self.stream(), strict=False):
                yield batch
            raise error

        torn = options["assume_grouped"] and self.torn
        try:
            self.call(failing_stream(), options)
        except BaseException as raised:
            assert raised is error or (torn and "adjacent" in str(raised)), raised  # noqa: PT017
        else:
            raise AssertionError("an iterator failed, and the call did not")
        self.whole(options)

    @precondition(lambda self: self.rows() and not self.torn)
    @rule(options=options, error=errors)
    def metric_fails(self, options, error):
        with failing(error):
            self.call(self.stream(), options)
        self.whole(options)

    @precondition(lambda self: self.rows() and not self.torn)
    @rule(
        options=options,
        wrong=st.sampled_from([
            (([1.0], [np.nan]), "NaN"), (([-1.0], [1.0]), "below 0"), (([1.0, 0.0], [1.0]), ""), (([1.0], ["a"]), ""),
        ]),
    )  # fmt: skip
    def wrong_batch(self, options, wrong):
        (y, s), words = wrong
        rows = self.rows()
        last = (y, s, [rows[-1][2]] * len(y), [rows[-1][3]] * len(y))[: 4 if self.weighted else 3]
        with refused(words):
            self.call([*self.stream(), last], options)
        self.whole(options)

    @precondition(lambda self: self.rows() and not self.torn)
    @rule(options=options, inner=options)
    def call_inside_a_call(self, options, inner):
        """As each batch is read, another evaluation runs."""

        def stream():
            for batch in self.stream():
                self.whole(inner)
                yield batch

        assert_same_calls(lambda: self.call(stream(), options), self.expected)

    @precondition(lambda self: self.rows() and not self.torn)
    @rule(several=st.lists(options, min_size=2, max_size=3))
    def threads(self, several):
        expected = repr(self.expected().mean())
        with ThreadPoolExecutor(len(several)) as pool:
            found = pool.map(lambda options: repr(self.call([*self.stream()], options).mean()), several * 2)
            assert {*found} == {expected}

    @invariant()
    def nothing_is_left(self):
        assert not [*Path(getattr(self, "folder", "/nowhere")).glob("*")]
