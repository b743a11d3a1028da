"""Transformers tuned by how well like finds like."""

import pickle

import pytest
from sklearn.base import clone
from sklearn.datasets import load_digits
from sklearn.decomposition import PCA
from sklearn.linear_model import Ridge
from sklearn.model_selection import GridSearchCV, StratifiedKFold, cross_validate

from sklearn_rank.retrieval import evaluate_retrieval, make_retrieval_scorer


@pytest.fixture(scope="module")
def digits():
    X, y = load_digits(return_X_y=True)
    return X[:400], y[:400]


def test_scorer_in_a_grid_search(digits):
    scorer = make_retrieval_scorer("map@10", distance="euclidean")
    search = GridSearchCV(PCA(random_state=0), {"n_components": [1, 20]}, scoring=scorer, cv=StratifiedKFold(2))
    search.fit(*digits)
    assert search.best_params_ == {"n_components": 20}
    train, test = next(StratifiedKFold(2).split(*digits))
    embedding = PCA(20, random_state=0).fit(digits[0][train]).transform(digits[0][test])
    expected = evaluate_retrieval(embedding, query_labels=digits[1][test], distance="euclidean", metrics="map@10")
    assert search.cv_results_["split0_test_score"][1] == pytest.approx(expected.mean()["map@10"])


def test_scorer_of_many_metrics_and_of_errors(digits):
    scorer = make_retrieval_scorer(["map@5", "fallout@5"], ties="worst")
    scores = cross_validate(PCA(5), *digits, scoring=scorer, cv=2)
    assert (scores["test_map@5"] > 0).all()
    assert (scores["test_neg_fallout@5"] < 0).all()
    assert scorer.__name__ == "map@5, neg_fallout@5"
    assert make_retrieval_scorer(["map@5", "neg_fallout@5"], ties="worst") == scorer
    single = make_retrieval_scorer("fallout@5", ties="worst")(PCA(5).fit(digits[0]), *digits)
    assert make_retrieval_scorer("neg_fallout@5").__name__ == "neg_fallout@5"
    assert isinstance(single, float)
    assert single < 0


def test_scorer_pickles_prints_and_clones(digits):
    scorer = make_retrieval_scorer("ndcg@5", distance="euclidean", ties="best")
    assert repr(scorer) == "make_retrieval_scorer('ndcg@5', distance='euclidean', ties='best')"
    model = PCA(3, random_state=0).fit(digits[0])
    assert pickle.loads(pickle.dumps(scorer))(model, *digits) == scorer(model, *digits)
    clone(GridSearchCV(PCA(), {"n_components": [1]}, scoring=scorer))


@pytest.mark.parametrize(
    "other",
    [
        ("cosine", "ndcg@5", {"gain": [0, 1]}),
        ("euclidean", "ndcg@10", {"gain": [0, 1]}),
        ("euclidean", "ndcg@5", {"gain": [0, 2]}),
        ("euclidean", "ndcg@5", {"gain": [0, 1], "exclude_self": True}),
        ("euclidean", ["ndcg@5"], {"gain": [0, 1]}),
        ("euclidean", {"n": "ndcg@5"}, {"gain": [0, 1]}),
    ],
    ids=["distance", "k", "keyword", "option", "dict of one", "name"],
)
def test_scorers_of_the_same_are_equal(other):
    scorer = make_retrieval_scorer("ndcg@5", distance="euclidean", gain=[0, 1])
    again = make_retrieval_scorer("NDCG@5", distance="euclidean", gain=(0.0, 1.0))
    assert scorer == again == pickle.loads(pickle.dumps(scorer))
    assert hash(scorer) == hash(again)
    distance, metric, options = other
    assert scorer != make_retrieval_scorer(metric, distance=distance, **options)
    assert scorer != "ndcg@5"


def test_scorer_has_the_names_of_its_metrics():
    assert make_retrieval_scorer("NDCG@5").__name__ == "ndcg@5"
    assert make_retrieval_scorer(["map@10", "mrr"]).__name__ == "map@10, mrr"


def test_scorer_wants_a_transformer_and_known_keywords(digits):
    with pytest.raises(TypeError, match=r"needs an estimator with 'transform'. Got Ridge\(\)"):
        make_retrieval_scorer()(Ridge().fit(*digits), *digits)
    with pytest.raises(TypeError, match="make_retrieval_scorer has no keyword 'gane'"):
        make_retrieval_scorer(gane="linear")
    with pytest.raises(TypeError, match="make_retrieval_scorer has no keyword 'metrics'"):
        make_retrieval_scorer(metrics="map")


def test_gains_that_change_afterwards_change_nothing(digits):
    gain = [0.0, 1.0]
    scorer = make_retrieval_scorer("dcg@5", gain=gain)
    embedding = PCA(2).fit(digits[0])
    before = scorer(embedding, *digits)
    gain[1] = 5.0
    assert scorer(embedding, *digits) == before


def test_retrieval_scorer_labels_in_another_order(digits):
    pd = pytest.importorskip("pandas")
    X, y = pd.DataFrame(digits[0]), pd.Series(digits[1])
    scorer, embedding = make_retrieval_scorer(), PCA(2).fit(digits[0])
    assert scorer(embedding, X, y) == scorer(embedding, *digits)
    with pytest.raises(ValueError, match="X and y must have the same index"):
        scorer(embedding, X, y[::-1])
