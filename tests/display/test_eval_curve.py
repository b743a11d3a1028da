"""EvalCurveDisplay: the curve of a ranker that was stopped by a metric, with its best round marked."""

import numpy as np
import pytest
from sklearn.ensemble import GradientBoostingRegressor
from sklearn.linear_model import Ridge
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from sklearn_rank import QueryKFold, QueryRanker, get_scorer

pytest.importorskip("matplotlib")
from sklearn_rank.display import EvalCurveDisplay  # noqa: E402


@pytest.fixture(scope="module")
def fitted(ranking):
    X, y, qid = ranking
    model = GradientBoostingRegressor(n_estimators=15, random_state=0)
    return {
        metric: QueryRanker(model, eval_fraction=0.5, eval_metric=metric, random_state=0).fit(X, y, qid=qid)
        for metric in ("map@10", "relevance_position")
    }


@pytest.mark.parametrize(
    ("metric", "label"), [("map@10", "MAP@10 of"), ("relevance_position", "Relevance position (lower is better) of")]
)
def test_eval_curve_display_lines(metric, label, fitted):
    ranker = fitted[metric]
    display = EvalCurveDisplay.from_estimator(ranker)
    assert display.line_.get_ydata().tolist() == ranker.eval_curve_.tolist()
    assert display.line_.get_xdata().tolist() == [*range(15)]
    assert display.line_.get_markevery() == [ranker.best_iteration_] == [display.best_iteration_]
    assert display.ax_.get_ylabel().startswith(label)
    (text,) = display.ax_.get_legend().get_texts()
    shown = text.get_text().replace("\n", " ")
    assert shown == f"GradientBoostingRegressor: best {ranker.best_value_:#.3g} at {ranker.best_iteration_}"
    by_hand = EvalCurveDisplay(ranker.eval_curve_, greater_is_better=metric != "relevance_position").plot(
        color="red", name="mine"
    )
    assert by_hand.best_iteration_ == ranker.best_iteration_
    assert by_hand.line_.get_color() == "red"
    assert by_hand.line_.get_label().startswith("mine: best")


def test_two_on_the_same_axes(fitted):
    first = EvalCurveDisplay.from_estimator(fitted["map@10"], name="one")
    second = EvalCurveDisplay(fitted["map@10"].eval_curve_[:5], metric="map@10", name="two").plot(first.ax_)
    assert second.figure_ is first.figure_
    assert first.line_.get_linestyle() != second.line_.get_linestyle()
    assert first.line_.get_marker() != second.line_.get_marker()
    with pytest.raises(ValueError, match="must have the same metric. Got 'Relevance position .* and 'MAP@10"):
        EvalCurveDisplay.from_estimator(fitted["relevance_position"], ax=first.ax_)


def test_rankers_in_pipelines_and_searches(ranking):
    X, y, qid = ranking
    pd = pytest.importorskip("pandas")
    labels = pd.Series(y, index=pd.Index(qid, name="qid"))
    ranker = QueryRanker(GradientBoostingRegressor(n_estimators=5), eval_fraction=0.5, early_stopping_rounds=2)
    pipeline = make_pipeline(StandardScaler(), ranker).fit(X, labels)
    assert len(EvalCurveDisplay.from_estimator(pipeline).curve) <= 5
    search = GridSearchCV(ranker, {"random_state": [0]}, cv=QueryKFold(2), scoring=get_scorer("map")).fit(X, labels)
    assert "nDCG@10" in EvalCurveDisplay.from_estimator(search).ax_.get_ylabel()


def test_eval_curve_display_errors(ranking):
    X, y, qid = ranking
    with pytest.raises(ValueError, match="fitted with eval_metric= and validation rows"):
        EvalCurveDisplay.from_estimator(QueryRanker(Ridge(), eval_metric="map").fit(X, y, qid=qid))
    with pytest.raises(TypeError, match="needs a fitted QueryRanker. Got Ridge"):
        EvalCurveDisplay.from_estimator(Ridge().fit(X, y))
    for curve in ([], [np.nan], 0.5):
        with pytest.raises(ValueError, match="a number for each point|one or two dimensions|at least one round"):
            EvalCurveDisplay(curve).plot()
    assert EvalCurveDisplay([0.1, 0.2], best_iteration=0).plot().best_iteration_ == 0
    with pytest.raises(ValueError, match="best_iteration must be below 2, the number of rounds. Got 2"):
        EvalCurveDisplay([0.1, 0.2], best_iteration=2).plot()
