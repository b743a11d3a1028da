"""Exposure of items and diversity inside lists: all orders of equal scores, values of other libraries, errors."""

from itertools import combinations, product

import numpy as np
import pandas as pd
import pytest
from known_cases import references
from numpy.testing import assert_allclose
from oracle import orders
from scipy import sparse, stats

from sklearn_rank import compare_systems, evaluate_run
from sklearn_rank.exceptions import RankingWarning
from sklearn_rank.io import read_qrels, read_run
from sklearn_rank.recommenders import exposure, intra_list_diversity
from sklearn_rank.stats import compare, no_worse

ITEMS = [*"abcdefg"]
TRAIN = {"u": "ab", "v": "ace", "w": "a", "x": "bz"}
VECTORS = np.random.default_rng(3).normal(size=(len(ITEMS), 4)).round(1)


def tied_runs(n_runs=12):
    """Runs of three users, with many equal scores."""
    rng = np.random.default_rng(4)
    for _ in range(n_runs):
        sizes = rng.integers(1, 6, size=3)
        yield {
            user: dict(zip(rng.permutation(ITEMS)[:size].tolist(), rng.integers(0, 3, size).tolist(), strict=True))
            for user, size in enumerate(sizes)
        }


def mean_over_orders(run, k, value):
    """Mean of a value of the lists of all users."""
    values = [value([one[:k] for one in chosen]) for chosen in product(*map(orders, run.values()))]
    return sum(values) / len(values)


# --- all orders of equal scores -----------------------------------------------------------------------------------


@pytest.mark.parametrize("k", [1, 2, 3, 10])
def test_values_are_means_over_all_orders_of_equal_scores(k):
    popularity = {item: sum(item in seen for seen in TRAIN.values()) for item in ITEMS}
    novelty = {item: -np.log2(max(n, 1) / 4) for item, n in popularity.items()}
    for run in tied_runs():
        found = exposure(run, items=ITEMS, k=k, train={user: [*seen] for user, seen in TRAIN.items()})
        counts = [
            mean_over_orders(run, k, lambda lists, item=item: sum(item in one for one in lists)) for item in ITEMS
        ]
        assert_allclose(found.counts, counts, rtol=1e-12)
        expected = {
            "coverage": mean_over_orders(run, k, lambda lists: len({*sum(lists, ())}) / len(ITEMS)),
            "popularity": mean_over_orders(
                run, k, lambda lists: np.mean([np.mean([popularity[i] for i in one]) for one in lists])
            ),
            "novelty": mean_over_orders(
                run, k, lambda lists: np.mean([np.mean([novelty[i] for i in one]) for one in lists])
            ),
        }
        assert_allclose([getattr(found, name) for name in expected], [*expected.values()], rtol=1e-12)
        assert_allclose(found.entropy, stats.entropy(counts, base=2), rtol=1e-12)
        differences = sum(abs(a - b) for a in counts for b in counts)
        assert_allclose(found.gini, differences / (2 * len(ITEMS) * sum(counts)), rtol=1e-12)


@pytest.mark.parametrize("kind", ["vectors", "sparse vectors", "similarity", "sparse similarity"])
def test_diversity_is_the_mean_over_all_orders_of_equal_scores(kind):
    length = np.linalg.norm(VECTORS, axis=1)
    cosine = VECTORS @ VECTORS.T / np.outer(length, length)
    matrix = VECTORS if "vectors" in kind else cosine
    matrix = sparse.csr_matrix(matrix) if "sparse" in kind else matrix
    keywords = {kind.split()[-1]: matrix}

    def diversity(lists):
        pairs = [(ITEMS.index(a), ITEMS.index(b)) for a, b in combinations(lists[0], 2)]
        return np.mean([1 - cosine[pair] for pair in pairs]) if pairs else np.nan

    for k, run in product((1, 2, 3), tied_runs()):
        found = intra_list_diversity(run, items=ITEMS, k=k, **keywords)
        expected = [mean_over_orders({user: run[user]}, k, diversity) for user in run]
        assert_allclose(found.per_query[f"ild@{k}"], expected, rtol=1e-10, atol=1e-12)
        assert found.n_undefined[f"ild@{k}"] == np.isnan(expected).sum()


def test_items_of_equal_popularity_are_in_the_tail_in_some_orders():
    """a has 4 of 10 interactions; of six items with one each, four complete the head."""
    train = [("u", "a"), ("v", "a"), ("w", "a"), ("x", "a"), *(("u", item) for item in "bcdefg")]
    run = {"u": ["a", "b"], "v": ["b", "c"]}
    for pairs in (np.array(train), pd.DataFrame(train, columns=["userId", "movieId"])):
        assert_allclose(exposure(run, items=ITEMS, k=2, train=pairs).long_tail, (1 / 6 + 1 / 3) / 2)
    alone = exposure(run, items=ITEMS, k=2, train={"u": ["a"]})
    assert_allclose(alone.long_tail, 3 / 4)


# --- other libraries ----------------------------------------------------------------------------------------------

LISTS = dict(enumerate([[9, 4, 1, 0], [1, 5, 0, 8], [1, 8, 4, 11], [4, 7, 0, 2], [8, 1, 4, 0], [2, 1, 8, 4]]))
SEEN = dict(enumerate([[4, 0, 1, 8], [0, 11, 1, 4, 8, 7], [8, 11, 4, 0], [1, 11], [1, 8, 4], [4, 1, 0, 11]]))
GENRES = np.array(
    [[*map(int, row)] for row in (
        "101100", "110010", "101001", "111001", "111001", "111011", "111110", "110011", "111010", "111011", "111101",
        "100010",
    )]
)  # fmt: skip


def test_values_match_rectools_lenskit_and_elliot():
    """RecTools 0.19, LensKit 2025.8 and Elliot 0.3.1 on the same lists; RecTools divides no distance."""
    found = exposure(LISTS, items=range(12), k=3, train=SEEN)
    expected = {"novelty": 0.8684428977219195, "popularity": 3.6666666666666665, "coverage": 0.6666666666666666}
    expected |= {"gini": 0.5648148148148149, "entropy": 2.7052290027422967, "long_tail": 0.2222222222222222}
    assert_allclose([getattr(found, name) for name in expected], [*expected.values()], rtol=1e-12)
    assert_allclose(1 - found.gini * 12 / 11, 0.38383838383838376)
    cosine = intra_list_diversity(LISTS, items=range(12), k=3, vectors=GENRES)
    hamming = (GENRES[:, None] == GENRES[None]).mean(axis=2)
    other = intra_list_diversity(LISTS, items=range(12), k=3, similarity=hamming)
    assert_allclose([cosine.mean()["ild@3"], other.mean()["ild@3"]], [0.3527673518033262, 0.425925925925926])


def test_evidently_counts_other_items():
    """Its Gini index uses shown items, its coverage the items in training."""
    found = exposure(LISTS, items=range(12), k=3, train=SEEN)
    shown, seen = found.items[found.counts > 0], [*{*sum(SEEN.values(), [])}]
    n, first = len(shown), {user: items[:3] for user, items in LISTS.items()}
    assert_allclose(exposure(first, items=shown, k=3).gini * n / (n - 1), 0.3968253968253968)
    assert_allclose((found.counts[seen] > 0).mean(), 0.8333333333333334)


@pytest.mark.parametrize("prefix", ["exposure-rectools-", "exposure-recbole-"])
def test_values_match_rectools_and_recbole(prefix):
    for case in references(prefix):
        given, expected = case["inputs"], case["expected"]
        lists = given["lists"] if isinstance(given["lists"], dict) else dict(enumerate(given["lists"]))
        n_items = given["catalog_size"]
        train = given.get("train")
        if train is None:
            train = {user: [i for i in range(n_items) if given["train_counts"][i] > user] for user in range(9)}
        found = exposure(lists, items=range(n_items), k=given["k"], train=train)
        same = {name: value for name, value in expected.items() if name != "entropy_over_distinct"}
        assert_allclose([getattr(found, name) for name in same], [*same.values()], rtol=1e-12)
        if "entropy_over_distinct" in expected:
            nats = expected["entropy_over_distinct"] * (found.counts > 0).sum()
            assert_allclose(found.entropy, nats / np.log(2), rtol=1e-9)


# --- groups -------------------------------------------------------------------------------------------------------


def test_groups_have_shares_of_exposure_and_of_relevance():
    """Two of six shown items and two of three relevant items are of group y."""
    run = {"u": ["a", "b"], "v": ["a", "f"], "w": ["c", "g"]}
    groups = dict.fromkeys("abcde", "x") | {"f": "y", "g": "y"}
    judgments = {"u": {"a": 1, "b": 0, "f": 2}, "v": ["g"]}
    expected = [("x", 5, 4 / 6, 1 / 3, 2), ("y", 2, 2 / 6, 2 / 3, 0.5)]
    for given in (groups, pd.Series(groups), [groups[item] for item in ITEMS]):
        table = exposure(run, items=ITEMS, k=2, groups=given, judgments=judgments).groups
        assert table.columns == ("group", "items", "exposure", "relevance", "ratio")
        for row, of_group in zip(table.rows, expected, strict=True):
            assert row[0] == of_group[0]
            assert_allclose(row[1:], of_group[1:])
    assert exposure(run, items=ITEMS, k=2, groups=groups).groups.columns == ("group", "items", "exposure")


# --- forms and intervals ------------------------------------------------------------------------------------------


def test_a_frame_a_dictionary_and_lists_have_the_same_exposure():
    lists = {"u": ["a", "c"], "v": ["b", "a"]}
    rows = [(user, item, -rank) for user, items in lists.items() for rank, item in enumerate(items)]
    frame = pd.DataFrame(rows, columns=["qid", "doc_id", "score"])
    scores = {user: {item: -rank for rank, item in enumerate(items)} for user, items in lists.items()}
    found = [
        exposure(run, items=set(ITEMS), k=1, exclude={"v": ["b"]}).to_frame().sort_values("item")
        for run in (lists, scores, read_run(frame, value="score"))
    ]
    assert found[0].set_index("item")["count"].to_dict() == dict.fromkeys(ITEMS, 0) | {"a": 2}
    for other in found[1:]:
        pd.testing.assert_frame_equal(found[0].reset_index(drop=True), other.reset_index(drop=True))


def test_a_user_without_a_list_is_shown_nothing():
    found = exposure({"u": ["a"], "v": []}, items=ITEMS, k=3, train={"u": ["a"]})
    assert (found.n_users, found.popularity, found.counts.sum()) == (2, 1, 1)
    nothing = exposure({"u": []}, items=ITEMS, k=3)
    assert nothing.coverage == 0
    assert np.isnan([nothing.gini, nothing.entropy]).all()
    low = {"u": {"a": 1.0, "b": -np.inf}}
    assert exposure(low, items=ITEMS, k=3).counts.tolist() == [1, 0, 0, 0, 0, 0, 0]


def test_intervals_hold_the_expected_value_over_other_users():
    """The bootstrap, by percentiles, would hold it never: each of its samples covers fewer items."""
    rng, items = np.random.default_rng(0), np.arange(100)
    taste = np.log(rng.dirichlet(np.full(100, 0.3)) + 1e-12)

    def draw(n_users):
        keys = taste + rng.gumbel(size=(n_users, 100))
        return dict(enumerate(np.argsort(-keys, axis=1)[:, :5].tolist()))

    drawn = [exposure(draw(60), items=items, k=5, n_resamples=30, random_state=0) for _ in range(150)]
    for name in ("coverage", "gini", "entropy"):
        truth = np.mean([getattr(one, name) for one in drawn])
        intervals = np.array([one.confidence_interval()[name] for one in drawn])
        held = ((intervals[:, 0] <= truth) & (truth <= intervals[:, 1])).mean()
        assert 0.9 <= held <= 1, name
        assert (np.diff(intervals) < 0.9).all(), name


def test_intervals_lie_within_bounds():
    """Two users with very different lists, so that every interval would exceed both bounds."""
    run, items = {"u": ["a", "b"], "v": ["c", "d"], "w": ["c", "e"]}, list("abcdefg")
    train = {"u": ["a", "b"], "v": ["a", "b"], "w": ["a", "b", "f"]}
    found = exposure(run, items=items, k=2, train=train, n_resamples=3, random_state=0)
    possible = {
        "coverage": (0, 1),
        "gini": (0, 1),
        "long_tail": (0, 1),
        "entropy": (0, np.inf),
        "popularity": (0, np.inf),
    }
    n_cut = 0
    for level in (0.5, 0.95, 0.9999):
        for name, (low, high) in found.confidence_interval(level).items():
            least, most = possible.get(name, (0, np.inf))
            assert least <= low <= found.to_dict()[name] <= high <= most, name
            n_cut += (low == least) + (high == most)
    assert n_cut >= 8
    assert found.confidence_interval(0.9999)["long_tail"] == (0, 1)


def test_without_chance_parts_are_users():
    """With as many groups as users each user is left out once: the jackknife, for any random state."""
    run = next(tied_runs())
    found = [exposure(run, items=ITEMS, k=2, n_resamples=50, random_state=seed) for seed in (0, 1)]
    for interval, other in zip(*(one.confidence_interval().values() for one in found), strict=True):
        assert_allclose(interval, other)
    without = [exposure({u: s for u, s in run.items() if u != user}, items=ITEMS, k=2).coverage for user in run]
    reach = stats.t.ppf(0.975, 2) * np.sqrt(2 / 3 * np.square(np.array(without) - np.mean(without)).sum())
    low, high = found[0].confidence_interval()["coverage"]
    assert_allclose([low, high], [max(found[0].coverage - reach, 0), min(found[0].coverage + reach, 1)])
    assert "low" in str(found[0])


def test_diversity_is_compared_as_any_metric():
    lists = {"a": {1: "abc", 2: "bcd"}, "b": {1: "aef", 2: "efg"}}
    results = {
        name: intra_list_diversity({u: [*x] for u, x in run.items()}, items=ITEMS, k=3, vectors=VECTORS)
        for name, run in lists.items()
    }
    assert compare_systems(results).significance("ild@3") is not None

    def of(order, vectors):
        items = [ITEMS[i] for i in order]
        return intra_list_diversity({"u": ["a", "b"], "v": ["a", "c"]}, items=items, k=3, vectors=vectors[order])

    same, turned = [*range(len(ITEMS))], [*range(len(ITEMS))][::-1]
    old, again, other = of(same, VECTORS), of(turned, VECTORS.astype(np.float32)), of(same, VECTORS[::-1])
    assert compare(again, old, metric="ild@3").difference == pytest.approx(0, abs=1e-6)
    for call in (lambda: compare(other, old, metric="ild@3"), lambda: no_worse(new=other, old=old, margin=0.1)):
        with pytest.raises(ValueError, match="by the same columns or vectors"):
            call()


def test_values_print_and_go_to_trackers():
    found = exposure({"u": ["a"]}, items=ITEMS, k=1, groups=[*"xxxxyyy"])
    assert str(found).startswith("Exposure of 7 items to 1 users\n")
    assert found.to_dict() == {"coverage": found.coverage, "gini": found.gini, "entropy": 0}


# --- errors -------------------------------------------------------------------------------------------------------

RUN = {"u": ["a", "b"], "v": ["c"]}
FRAME = pd.DataFrame({"userId": ["u"], "film": ["a"]})
WRONG = [
    ({"k": 0}, ValueError, "'k' parameter of exposure must be an int >= 1"),
    ({"items": ["a", "b"]}, ValueError, "must hold every item of the run.* Got item 'c' of user 'v'"),
    ({"items": [1, 2]}, ValueError, "ids of one type.* Got item 'a'"),
    ({"items": ["a", "a"]}, ValueError, "each item once"),
    ({"n_resamples": 1}, ValueError, "'n_resamples' parameter of exposure must be an int >= 2"),
    ({"run": {"u": ["a"]}, "n_resamples": 9}, ValueError, "needs two users or more. Got one"),
    ({"random_state": "x"}, ValueError, "random_state"),
    ({"duplicates": "last"}, ValueError, "'duplicates' parameter of exposure"),
    ({"run": {"u": ["a", "a"]}}, ValueError, "in a list once"),
    ({"train": {"u": [7]}}, ValueError, "train of exposure must hold some of the items.* Got 7"),
    ({"train": {}}, ValueError, "Got no pair"),
    ({"train": FRAME}, ValueError, "of exposure needs the item .*'item_id' of a frame, .*: rename it. Got the columns"),
    ({"train": {"u": "a"}}, TypeError, "train must have items for each user"),
    ({"train": [["u", "a"]], "groups": {"a": 1}}, ValueError, "Got no group for 6 of 7 items, the first is 'b'"),
    ({"groups": [1, 2]}, ValueError, "one for each of 7 items. Got 2"),
    ({"judgments": {"u": ["a"]}}, ValueError, "Got groups=None"),
    ({"exclude": {"other": ["a"]}}, ValueError, "exclude must have a query"),
    ({"exclude": {"u": [" a"]}}, ValueError, "An id must have one spelling.* ' a' and 'a'"),
    ({"run": {"u": {"a": np.nan}}}, ValueError, "finite"),
    ({"groups": [1, 2, np.nan, 4, 5, None, 7]}, ValueError, "no missing value. Got one for 2 of 7 items.* 'c'"),
    ({"groups": dict.fromkeys(ITEMS, pd.NA)}, ValueError, "no missing value. Got one for 7 of 7 items"),
    ({"groups": ITEMS, "judgments": {"w": ["a"]}}, ValueError, "have a user of the run.* Got users such as 'w'.* 'u'"),
    ({"groups": ITEMS, "judgments": {0: ["a"]}}, ValueError, "ids of one type. Got users such as 0"),
]


@pytest.mark.parametrize(("wrong", "error", "message"), WRONG)
def test_exposure_errors(wrong, error, message):
    given = {"run": RUN, "items": ITEMS, "k": 2} | wrong
    with pytest.raises(error, match=message):
        exposure(given.pop("run"), **given)


def test_legitimate_groups_judgments_and_exclusions():
    """Further judged users, a group of its own for unknown items, and items that the model has left out itself."""
    groups = dict.fromkeys(ITEMS, "unknown") | {"a": ""}
    for judgments in ({"u": ["a", "b"], "w": ["a"]}, {"v": ["b"], "x": ["a"]}):
        found = exposure(
            RUN, items=ITEMS, k=2, groups=groups, judgments=judgments, exclude={"u": ["A", "g"], "y": ["a"]}
        )
        assert [row[0] for row in found.groups.rows] == ["", "unknown"]


def test_vectors_that_are_mostly_zeros_are_told():
    """Items b and c of three shown ones have no genres; zero entries and a single such item are fine."""
    run, items = {"u": ["a", "b"], "v": ["a", "c"]}, [*"abcd"]
    vectors = np.array([[1.0, 0], [0, 0], [0, 0], [0, 1]])
    for kind in (np.asarray, sparse.csr_array):
        with pytest.warns(RankingWarning, match="Most items.* Got 2 of 3 items with zeros, the first is 'b'"):
            intra_list_diversity(run, items=items, k=2, vectors=kind(vectors))
        for row, fine in ((1, [0, 1]), (2, [-1, 1]), (1, [1, 0])):
            filled = vectors.copy()
            filled[row] = fine
            assert intra_list_diversity(run, items=items, k=2, vectors=kind(filled)).mean()
        assert intra_list_diversity({"u": ["a", "d"]}, items=items, k=2, vectors=kind(vectors)).mean() == {"ild@2": 1}


@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_array])
def test_similarities_have_a_range(kind):
    """Percentages and inner products are refused; rounding and the diagonal do not matter."""
    similar = np.array([[1.0, 0.3, -1], [0.3, 1, 0.5], [-1, 0.5, 1]])
    run, keywords = {"u": [0, 1, 2]}, {"items": [0, 1, 2], "k": 3}
    for wrong, got in ((similar * 100, "50"), (similar * 3, "1.5"), (similar - 0.5 * (similar < 0), "-1.5")):
        with pytest.raises(ValueError, match=f"from -1 to 1 between two items: divide percentages by 100.* Got {got}"):
            intra_list_diversity(run, similarity=kind(wrong), **keywords)
    for fine in (similar, similar * (1 + 1e-9), similar + 9 * np.eye(3)):
        found = intra_list_diversity(run, similarity=kind(fine), **keywords).mean()["ild@3"]
        assert found == pytest.approx(1 + 0.2 / 3)


def test_intervals_are_off_by_default():
    with pytest.raises(ValueError, match="needs exposure"):
        exposure(RUN, items=ITEMS, k=2).confidence_interval()


@pytest.mark.parametrize(
    ("given", "error", "message"),
    [
        ({}, TypeError, "Got neither"),
        ({"vectors": VECTORS, "similarity": np.eye(7)}, TypeError, "Got both"),
        ({"vectors": VECTORS[:3]}, ValueError, "a row for each of 7 items"),
        ({"vectors": VECTORS * np.nan}, ValueError, "must be finite"),
        ({"similarity": VECTORS}, ValueError, "a row and a column"),
        ({"similarity": np.triu(np.ones((7, 7)))}, ValueError, "must be symmetric"),
    ],
)
def test_diversity_errors(given, error, message):
    with pytest.raises(error, match=message):
        intra_list_diversity(RUN, items=ITEMS, k=2, **given)


def test_entries_of_sparse_vectors_that_repeat_add_up():
    vectors = sparse.csr_array((np.ones(4), [0, 0, 1, 1], [0, 3, 4]), shape=(2, 2))
    for similar in ({"vectors": vectors}, {"vectors": vectors.toarray()}):
        found = intra_list_diversity({"u": ["a", "b"]}, items=["a", "b"], k=2, **similar)
        assert found.mean()["ild@2"] == pytest.approx(1 - 1 / np.sqrt(5))


def test_a_distance_is_no_similarity():
    distance = 1 - np.eye(7)
    for kind in (np.asarray, sparse.csr_array):
        with pytest.raises(ValueError, match="no entry of the diagonal is: pass 1 - distance .* Got 0 on the diagonal"):
            intra_list_diversity(RUN, items=ITEMS, k=2, similarity=kind(distance))
        assert intra_list_diversity(RUN, items=ITEMS, k=2, similarity=kind(1 - distance)).mean()


def test_rows_of_items_have_the_order_of_items():
    pd, turned = pytest.importorskip("pandas"), [*ITEMS[::-1]]
    for name, matrix in (("vectors", np.eye(7)), ("similarity", np.eye(7))):
        fits = pd.DataFrame(matrix, index=[*ITEMS], columns=[*ITEMS])
        assert intra_list_diversity(RUN, items=ITEMS, k=2, **{name: fits}).mean()
        with pytest.raises(ValueError, match=f"The rows of {name} are items"):
            intra_list_diversity(RUN, items=ITEMS, k=2, **{name: fits.loc[turned, turned]})
    with pytest.raises(ValueError, match="judgments of exposure must hold some of the items"):
        exposure(RUN, items=ITEMS, k=2, groups=[0] * 7, judgments={next(iter(RUN)): {"strange": 1}})


def test_a_similarity_is_symmetric_up_to_rounding():
    similarity = np.eye(7)
    similarity[0, 1], similarity[1, 0] = 0.3, 0.3 + 1e-7
    assert intra_list_diversity(RUN, items=ITEMS, k=2, similarity=similarity).mean()
    similarity[1, 0] += 2e-6
    with pytest.raises(ValueError, match="must be symmetric"):
        intra_list_diversity(RUN, items=ITEMS, k=2, similarity=similarity)


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array, sparse.coo_matrix])
def test_matrices_as_runs(form):
    """Columns are items in their order; an entry that a sparse matrix lacks is not listed, nor is -inf in an array."""
    scores = np.array([[0.9, 0.8, 0.0], [0.5, 0.0, 0.4]])
    run = form(scores) if form is not np.asarray else np.where(scores == 0, -np.inf, scores)
    found = exposure(run, items=["a", "b", "c"], k=2)
    expected = exposure({0: ["a", "b"], 1: ["a", "c"]}, items=["a", "b", "c"], k=2)
    assert found.counts.tolist() == expected.counts.tolist() == [2, 1, 1]
    assert found.to_dict() == expected.to_dict()
    with pytest.raises(ValueError, match=r"Got shape \(2, 3\) for 2 items"):
        exposure(run, items=["a", "b"], k=2)
    with pytest.raises(ValueError, match="must be finite"):
        exposure(np.full((2, 3), np.nan), items=["a", "b", "c"], k=2)


def test_documents_to_exclude_come_from_readers_and_files(tmp_path):
    path = tmp_path / "train.tsv"
    path.write_text("u\ta\nv\ta\n")
    run, items = {"u": ["a", "b"], "v": ["b", "a"]}, ["a", "b"]
    for exclude in ({"u": ["a"], "v": ["a"]}, read_qrels(path), path, str(path)):
        assert exposure(run, items=items, k=1, exclude=exclude).counts.tolist() == [0, 2]
        result = evaluate_run({"u": {"a"}, "v": {"b"}}, run, exclude=exclude, metrics="mrr")
        assert "exclude= removes all judged documents of 1 query" in " ".join(repr(result).split())
