"""Permutation importance for each query."""

from itertools import permutations

import numpy as np
import pytest
import sklearn
from scipy import sparse
from sklearn.base import BaseEstimator
from sklearn.compose import make_column_transformer
from sklearn.inspection import permutation_importance
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder

from sklearn_rank import QueryRanker, get_scorer, query_permutation_importance
from sklearn_rank.metrics import ndcg_score


class Formula(BaseEstimator):
    """A fitted model that is a function of X."""

    def __init__(self, function):
        self.function = function

    def fit(self, X, y):
        return self

    def predict(self, X):
        return self.function(X)

    def __sklearn_is_fitted__(self):
        return True


def first(X):
    return X[:, 0]


def product(X):
    return X[:, 0] * X[:, 1]


def test_a_mean_over_orders():
    """For three documents, the mean over many shuffles converges to the mean over all six orders."""
    y, X, qid = [0, 1, 2], np.array([[1.0], [2.0], [3.0]]), ["q"] * 3
    exact = 1 - np.mean([ndcg_score(y, order, qid=qid) for order in permutations([1, 2, 3])])
    found = query_permutation_importance(
        Formula(first), X, y, qid=qid, metric="ndcg", n_repeats=2000, random_state=0
    )  # fmt: skip
    assert found.importances.shape == (1, 2000)
    assert found.importances_mean[0] == pytest.approx(exact, abs=0.01)
    assert found.importances_mean[0] == found.importances[0].mean()
    assert found.importances_std[0] == found.importances[0].std()


def test_permutation_importance_of_query_features(shuffled):
    """The second feature reverses the order of a query's documents: exactly 0 within queries, large across."""
    X, y, qid = shuffled
    sign = np.where([int(q[1:]) % 2 for q in qid], 1.0, -1.0)
    X = np.column_stack([y * sign, sign, X[:, 0]])
    within = query_permutation_importance(Formula(product), X, y, qid=qid, random_state=0)
    across = query_permutation_importance(Formula(product), X, y, qid=qid, scope="across", random_state=0)
    assert (within.importances[1:] == 0).all()
    assert within.importances_mean[0] > 0.1
    assert across.importances_mean[1] > 0.1
    assert (across.importances[2] == 0).all()


@pytest.mark.slow
def test_across_matches_scikit_learn(with_index):
    """With qid in the index of y, scikit-learn's function can score queries; its shuffles differ."""
    X, y = with_index
    model = Ridge().fit(X, y)
    theirs = permutation_importance(model, X, y, scoring=get_scorer("ndcg@10"), n_repeats=100, random_state=0)
    ours = query_permutation_importance(model, X, y, scope="across", n_repeats=100, random_state=0)
    assert set(ours) == set(theirs)
    np.testing.assert_allclose(ours.importances_mean, theirs.importances_mean, atol=0.02)
    np.testing.assert_allclose(ours.importances_std, theirs.importances_std, atol=0.02)


@pytest.mark.parametrize("scope", ["within", "across"])
@pytest.mark.slow
def test_same_for_every_n_jobs_and_seed(scope, shuffled):
    X, y, qid = shuffled
    model = QueryRanker(Ridge()).fit(X, y, qid=qid)
    first, again, jobs, other = (
        query_permutation_importance(model, X, y, qid=qid, scope=scope, n_jobs=n_jobs, random_state=seed).importances
        for n_jobs, seed in ((None, 0), (1, 0), (2, 0), (1, 1))
    )
    assert first.shape == (X.shape[1], 5)
    np.testing.assert_array_equal(first, again)
    np.testing.assert_array_equal(first, jobs)
    assert (first != other).any()


def test_permutation_importance_of_many_metrics(shuffled):
    X, y, qid = shuffled
    model = Ridge().fit(X, y)
    many = query_permutation_importance(model, X, y, qid=qid, metric=["ndcg@5", "rmse"], random_state=0)
    assert list(many) == ["ndcg@5", "neg_rmse"]
    for name, found in many.items():
        alone = query_permutation_importance(model, X, y, qid=qid, metric=name, random_state=0)
        np.testing.assert_array_equal(found.importances, alone.importances)
        assert found.importances_mean.argmax() == np.abs(model.coef_ * X.std(axis=0)).argmax()  # for errors as well


def test_permutation_importance_query_weights(shuffled):
    """A query with all the weight determines the result."""
    X, y, qid = shuffled
    one = qid == "q3"
    assert one.sum() > 3
    found = query_permutation_importance(
        Formula(first),
        np.column_stack([y, y]),
        y,
        qid=qid,
        metric="mse",
        sample_weight=one * 2.0,
        random_state=0,
        on_misuse="ignore",
    )
    assert (found.importances[1] == 0).all()
    assert found.importances.max() <= np.ptp(y[one]) ** 2
    elsewhere = query_permutation_importance(
        Formula(first),
        np.where(one, 0, y)[:, None],
        y,
        qid=qid,
        metric="mse",
        sample_weight=one * 2.0,
        random_state=0,
        on_misuse="ignore",
    )
    assert (elsewhere.importances == 0).all()


@pytest.mark.parametrize("container", ["pandas", "polars", "csr_matrix", "coo_array", "csc_array", "list"])
def test_permutation_importance_containers(container, shuffled):
    X, y, qid = shuffled
    X = np.where(np.abs(X) < 0.5, 0, X)
    names = [f"f{i}" for i in range(X.shape[1])]
    if container in ("pandas", "polars"):
        given = pytest.importorskip(container).DataFrame(dict(zip(names, X.T, strict=True)))
    else:
        given = X.tolist() if container == "list" else getattr(sparse, container)(X)
    model = Ridge(solver="lsqr").fit(given, y)
    plain = Ridge(solver="lsqr").fit(X, y)
    got = query_permutation_importance(model, given, y, qid=qid, random_state=0)
    expected = query_permutation_importance(plain, X, y, qid=qid, random_state=0)
    np.testing.assert_allclose(got.importances, expected.importances, atol=1e-12)
    after = given.toarray() if hasattr(given, "toarray") else np.asarray(given)
    np.testing.assert_array_equal(after, X)


def test_read_only_arrays(shuffled):
    X, y, qid = (a.copy() for a in shuffled)
    X.flags.writeable = y.flags.writeable = False
    assert query_permutation_importance(Formula(first), X, y, qid=qid, n_repeats=1).importances[1:].max() == 0


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_frames_of_words_and_numbers(library, shuffled):
    if library == "polars" and sklearn.__version__ < "1.8":
        pytest.skip("its ColumnTransformer takes no polars")
    frames = pytest.importorskip(library)
    X, y, qid = shuffled
    kind = np.where(y > 1, "good", "bad").tolist()
    frame = frames.DataFrame({"number": X[:, 0], "kind": kind})
    if library == "pandas":
        frame = frame.astype({"kind": "category"}).set_index(np.arange(len(y))[::-1])
    before = frame.copy() if library == "pandas" else frame.clone()
    model = make_pipeline(make_column_transformer((OneHotEncoder(), ["kind"]), remainder="passthrough"), Ridge())
    found = query_permutation_importance(model.fit(frame, y), frame, y, qid=qid, random_state=0)
    assert found.importances_mean[1] > found.importances_mean[0]
    assert frame.equals(before)


def test_columns_of_the_same_name():
    pd = pytest.importorskip("pandas")
    X = pd.DataFrame([[0.0, 5.0], [1.0, 6.0], [2.0, 7.0]], columns=["a", "a"])
    model = Formula(lambda frame: frame.to_numpy()[:, 1])
    found = query_permutation_importance(model, X, [0, 1, 2], qid=[1] * 3, n_repeats=20, random_state=0)
    assert found.importances_mean[1] > found.importances_mean[0] == 0


def test_a_classifier_of_two_grades_ranks_by_its_decision(shuffled):
    X, y, qid = shuffled
    model = LogisticRegression().fit(X, y > 0)
    with sklearn.config_context(enable_metadata_routing=True):
        found = query_permutation_importance(model, X, y > 0, qid=qid, metric="auc", random_state=0)
    as_formula = Formula(model.decision_function)
    expected = query_permutation_importance(as_formula, X, y > 0, qid=qid, metric="auc", random_state=0)
    np.testing.assert_array_equal(found.importances, expected.importances)


def test_permutation_importance_errors(shuffled):
    X, y, qid = shuffled
    model = Ridge().fit(X, y)
    with pytest.raises(ValueError, match="query of each row must be known"):
        query_permutation_importance(model, X, y)
    with pytest.raises(ValueError, match="'scope' parameter .* must be 'within' or 'across'. Got 'inside'"):
        query_permutation_importance(model, X, y, qid=qid, scope="inside")
    for bad in (0, 1.5, True):
        with pytest.raises(ValueError, match="'n_repeats' parameter"):
            query_permutation_importance(model, X, y, qid=qid, n_repeats=bad)
    with pytest.raises(ValueError, match="'n_jobs' parameter"):
        query_permutation_importance(model, X, y, qid=qid, n_jobs=0)
    with pytest.raises(ValueError, match="two dimensions"):
        query_permutation_importance(model, X[:, 0], y, qid=qid)
    with pytest.raises(ValueError, match="X, y must have one entry per row each. Got "):
        query_permutation_importance(model, X[1:], y, qid=qid)
