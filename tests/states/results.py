"""Results on disk: overwritten, loaded, rejected and truncated; a file always has the last saved result, whole."""

import shutil
import tempfile
from pathlib import Path

import numpy as np
from hypothesis import strategies as st
from hypothesis.stateful import Bundle, initialize, invariant, rule

from sklearn_rank import compare_systems, evaluate
from sklearn_rank.results import Comparison, Evaluation
from states.machine import METRICS, Machine, heard, kinds, named, query_lists, refused, rows_of

places = st.sampled_from(["one", "two", "three.npz"])


def seen(result):
    """All that a result says of itself."""
    words, arrays = result._to_saved()
    return repr(words), {name: (a.dtype.str, a.shape, repr(a.tolist())) for name, a in arrays.items()}


class Results(Machine):
    results = Bundle("results")

    @initialize()
    def begin(self):
        self.folder, self.saved = Path(tempfile.mkdtemp()), {}

    def teardown(self):
        if hasattr(self, "folder"):
            shutil.rmtree(self.folder)

    @rule(
        target=results,
        queries=query_lists(n_ids=100, min_size=2, max_size=5),
        kind=kinds,
        weighted=st.booleans(),
        clustered=st.booleans(),
        two=st.booleans(),
    )
    def compute(self, queries, kind, weighted, clustered, two):
        rows = rows_of(named(queries, kind))
        keywords = {"qid": rows.qid, "metrics": METRICS}
        keywords |= {"sample_weight": rows.sample_weight} if weighted else {}
        if clustered and not two:
            keywords |= {"clusters": [str(q)[-1] for q in rows.qid], "by": {"size": [len(str(q)) for q in rows.qid]}}
        if two:
            keywords.pop("sample_weight", None)
            systems = {"a": rows.y_score, "b": rows.y_score[::-1]}
            return heard(lambda: compare_systems(rows.y_true, systems, **keywords))[0]
        return heard(lambda: evaluate(rows.y_true, rows.y_score, **keywords))[0]

    @rule(result=results, place=places)
    def save(self, result, place):
        result.save(self.folder / place)
        self.saved[place] = result

    @rule(place=places)
    def save_what_cannot_be(self, place):
        """Save ids that are neither numbers nor text; the file does not change."""
        result = evaluate([1, 0], [1, 2], qid=np.array([frozenset("a"), frozenset("b")]), metrics="map")
        with refused("must hold numbers, strings or tuples of them"):
            result.save(self.folder / place)

    @rule(result=results, suffix=st.sampled_from([".csv", ".parquet", ".PKL"]))
    def save_as_another_format(self, result, suffix):
        with refused("so its name must not end like a file of another format"):
            result.save(self.folder / f"one{suffix}")

    @rule(target=results, place=places)
    def load(self, place):
        if place not in self.saved:
            with refused("", FileNotFoundError):
                Evaluation.load(self.folder / place)
            return evaluate([1, 0], [1, 2], qid=[1, 1], metrics="map")
        before = self.saved[place]
        other = Comparison if isinstance(before, Evaluation) else Evaluation
        with refused(f"must hold a saved {other.__name__} of layout 1. Got {type(before).__name__}"):
            other.load(self.folder / place)
        return type(before).load(self.folder / place)

    @rule(place=places, share=st.floats(0, 1, exclude_max=True), flip=st.integers(1, 255))
    def torn(self, place, share, flip):
        """A truncated copy is rejected; a copy with a changed byte is rejected or equal."""
        if place in self.saved:
            data, copy, before = (self.folder / place).read_bytes(), self.folder / "copy", self.saved[place]
            copy.write_bytes(data[: int(share * len(data))])
            with refused("The file must hold a saved"):
                type(before).load(copy)
            changed = bytearray(data)
            changed[int(share * len(data))] ^= flip
            copy.write_bytes(changed)
            try:
                loaded = type(before).load(copy)
            except ValueError as error:
                assert "The file must hold a saved" in str(error)  # noqa: PT017
            else:
                assert seen(loaded) == seen(before)
            copy.unlink()

    @invariant()
    def files_have_what_was_saved_last(self):
        for place, result in getattr(self, "saved", {}).items():
            assert seen(type(result).load(self.folder / place)) == seen(result)
        if hasattr(self, "folder"):
            assert {path.name for path in self.folder.iterdir()} == {*self.saved}
