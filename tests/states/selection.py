"""Scorers and evaluators: routing is switched, models fail half-way; the numbers equal those made by hand."""

import copy
import pickle
import warnings
from concurrent.futures import ThreadPoolExecutor
from functools import cache

import numpy as np
import pandas as pd
import sklearn
from hypothesis import strategies as st
from hypothesis.stateful import Bundle, RuleBasedStateMachine, initialize, invariant, rule
from sklearn.base import clone
from sklearn.linear_model import Ridge
from sklearn.model_selection import GridSearchCV, cross_validate

from sklearn_rank import QueryKFold, QueryRanker, RankingEvaluator, evaluate, make_ranking_scorer
from sklearn_rank.datasets import make_ranking
from states.machine import Disturbed, errors

X, Y, QID = make_ranking(n_queries=9, n_documents=(2, 4), random_state=0)
WEIGHT = QID + 1.0
WITH_INDEX = pd.Series(Y, index=pd.Index(QID, name="qid"))
NAMES, CV = ("ndcg@3", "mse"), QueryKFold(3)
SIGNS = {"ndcg@3": 1, "mse": -1}
IN_SCORER = {"ndcg@3": "ndcg@3", "mse": "neg_mse"}
with sklearn.config_context(enable_metadata_routing=True):
    RANKER = QueryRanker(Ridge()).set_fit_request(sample_weight=False)
COPIES = [copy.copy, copy.deepcopy, lambda x: pickle.loads(pickle.dumps(x)), lambda x: clone(x, safe=False)]


class Fails(Ridge):
    """Raises in some fit, counted from 0."""

    left, error = 0, None

    def fit(self, X, y, sample_weight=None):
        if Fails.error is not None:
            Fails.left -= 1
            if Fails.left < 0:
                raise Fails.error
        return super().fit(X, y, sample_weight)


@cache
def by_hand(metric, alpha=1.0, weighted=False):
    """Value of each fold, with the scorer's sign."""
    values = []
    for train, test in CV.split(X, groups=QID):
        score = Ridge(alpha).fit(X[train], Y[train]).predict(X[test])
        weight = {"sample_weight": WEIGHT[test]} if weighted else {}
        values.append(SIGNS[metric] * evaluate(Y[test], score, qid=QID[test], metrics=metric, **weight).mean()[metric])
    return np.array(values)


@cache
def pooled(metric):
    """Mean over all queries, each scored out of fold."""
    score = np.empty(len(Y))
    for train, test in CV.split(X, groups=QID):
        score[test] = Ridge().fit(X[train], Y[train]).predict(X[test])
    return evaluate(Y, score, qid=QID, metrics=metric).mean()[metric]


def near(found, expected):
    np.testing.assert_allclose(found, expected, rtol=1e-12, atol=1e-15)


class Selection(RuleBasedStateMachine):
    scorers, evaluators = Bundle("scorers"), Bundle("evaluators")

    def __init__(self):
        super().__init__()
        self.before = sklearn.get_config()
        self.routed(False)

    @initialize(target=scorers, metric=st.sampled_from([NAMES[1], NAMES]))
    def begin(self, metric):
        return self.scorer(metric, False)

    @initialize(target=evaluators)
    def begin_evaluator(self):
        return self.evaluator(NAMES)

    def teardown(self):
        Fails.error = None
        sklearn.set_config(**self.before)

    @rule(routing=st.booleans())
    def routed(self, routing):
        sklearn.set_config(enable_metadata_routing=routing)
        self.routing = routing

    def rows(self, weighted=False):
        """Labels, and the keywords that carry qid."""
        if not self.routing:
            return WITH_INDEX, {}
        return Y, {"params": {"qid": QID} | ({"sample_weight": WEIGHT} if weighted else {})}

    # --- scorers ------------------------------------------------------------------------------------------------

    @rule(target=scorers, metric=st.sampled_from([*NAMES, NAMES]), weighted=st.booleans())
    def scorer(self, metric, weighted):
        """With the names of its metrics, and whether it asks for weights."""
        scorer = make_ranking_scorer(metric if isinstance(metric, str) else [*metric])
        with sklearn.config_context(enable_metadata_routing=True):
            scorer = scorer.set_score_request(qid=True, sample_weight=True) if weighted else scorer
        return scorer, metric, weighted

    @rule(target=scorers, scorer=scorers, how=st.sampled_from(range(len(COPIES))))
    def copied(self, scorer, how):
        made = COPIES[how](scorer[0])
        assert made == scorer[0]
        return made, *scorer[1:]

    @rule(scorer=scorers)
    def copies_have_requests_of_their_own(self, scorer):
        with sklearn.config_context(enable_metadata_routing=True):
            copied = copy.deepcopy if isinstance(scorer[1], str) else copy.copy
            before = repr(scorer[0].get_metadata_routing())
            copied(scorer[0]).set_score_request(sample_weight=not scorer[2])
            assert repr(scorer[0].get_metadata_routing()) == before

    def expected(self, scorer, alpha=1.0):
        _, metric, weighted = scorer
        weighted = weighted and self.routing
        if isinstance(metric, str):
            return {"score": by_hand(metric, alpha, weighted)}
        return {IN_SCORER[name]: by_hand(name, alpha, weighted) for name in metric}

    @rule(scorer=scorers)
    def cross_validate(self, scorer):
        y, keywords = self.rows(scorer[2])
        found = cross_validate(RANKER, X, y, scoring=scorer[0], cv=CV, **keywords)
        for name, values in self.expected(scorer).items():
            near(found[f"test_{name}"], values)

    @rule(scorer=scorers)
    def grid(self, scorer):
        y, keywords = self.rows(scorer[2])
        refit = True if isinstance(scorer[1], str) else IN_SCORER[scorer[1][0]]
        search = GridSearchCV(RANKER, {"estimator__alpha": [0.1, 1e3]}, scoring=scorer[0], cv=CV, refit=refit)
        search.fit(X, y, **keywords.get("params", {}))
        for i, alpha in enumerate((0.1, 1e3)):
            for name, values in self.expected(scorer, alpha).items():
                near([search.cv_results_[f"split{k}_test_{name}"][i] for k in range(3)], values)

    @rule(scorer=scorers, n_threads=st.integers(2, 4))
    def threads(self, scorer, n_threads):
        """A thread has its own configuration, with routing off."""
        train, test = next(iter(CV.split(X, groups=QID)))
        model = RANKER.fit(X[train], WITH_INDEX.iloc[train])
        with ThreadPoolExecutor(n_threads) as pool:
            calls = [pool.submit(scorer[0], model, X[test], WITH_INDEX.iloc[test]) for _ in range(2 * n_threads)]
            for call in calls:
                for name in [scorer[1]] if isinstance(scorer[1], str) else scorer[1]:
                    found = call.result() if isinstance(scorer[1], str) else call.result()[IN_SCORER[name]]
                    near(found, by_hand(name)[0])

    # --- evaluators ---------------------------------------------------------------------------------------------

    @rule(target=evaluators, metrics=st.permutations(NAMES))
    def evaluator(self, metrics):
        return RankingEvaluator(metrics, cv=CV)

    @rule(evaluator=evaluators)
    def evaluate(self, evaluator):
        models = {"a": Fails(), "b": Ridge(1e3)}
        report = evaluator.compare(models, X, Y, qid=QID)
        for name in NAMES:
            near(report.results["a"].mean()[name], pooled(name))
            near(report.fold_means["a"][name] * SIGNS[name], by_hand(name))
        assert not any(hasattr(model, "coef_") for model in models.values())
        assert not report.failures

    @rule(evaluator=evaluators)
    def validate(self, evaluator):
        found = evaluator.cross_validate(Ridge(), X, WITH_INDEX)
        for name in NAMES:
            near(found[f"test_{IN_SCORER[name]}"], by_hand(name))

    @rule(evaluator=evaluators, error=errors, fold=st.integers(0, 2), first=st.booleans())
    def a_model_fails(self, evaluator, error, fold, first):
        models = {"bad": Fails(), "good": Ridge()} if first else {"good": Ridge(), "bad": Fails()}
        Fails.left, Fails.error = fold, error
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                report = evaluator.compare(models, X, Y, qid=QID)
        except KeyboardInterrupt:
            assert isinstance(error, KeyboardInterrupt)
        else:
            assert min(report.failures["bad"]) == fold
            near(report.results["good"].mean()["mse"], pooled("mse"))
        finally:
            Fails.error = None
        self.evaluate(evaluator)

    @rule(evaluator=evaluators, error=errors, after=st.integers(0, 2))
    def a_caller_stops(self, evaluator, error, after):
        seen = []

        def on_fold(fold):
            seen.append(fold)
            if len(seen) > after:
                raise error

        try:
            evaluator.cross_validate(Ridge(), X, Y, qid=QID, on_fold=on_fold)
        except (Disturbed, KeyboardInterrupt, MemoryError) as raised:
            assert raised is error  # noqa: PT017
        assert len(seen) == after + 1
        self.validate(evaluator)

    @rule(evaluator=evaluators)
    def search(self, evaluator):
        found = evaluator.search(GridSearchCV(QueryRanker(Ridge()), {"estimator__alpha": [1.0]}), X, Y, qid=QID)
        for name in NAMES:
            near([found.cv_results_[f"split{k}_test_{IN_SCORER[name]}"][0] for k in range(3)], by_hand(name))

    @invariant()
    def configuration_is_as_it_was(self):
        assert sklearn.get_config()["enable_metadata_routing"] == getattr(
            self, "routing", sklearn.get_config()["enable_metadata_routing"]
        )
