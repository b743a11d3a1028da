"""Searches that are not of scikit-learn, over three values of alpha, and one of our own that works like them."""

import threading
import warnings

import numpy as np
import pytest
from sklearn.base import BaseEstimator, MetaEstimatorMixin, clone
from sklearn.model_selection import ParameterGrid

ALPHAS = [0.1, 100.0, 1e4]


class LoopSearch(MetaEstimatorMixin, BaseEstimator):
    """Search that hands on no metadata, as those outside of scikit-learn, in a thread as some of them."""

    def __init__(self, estimator, space, *, scoring=None, cv=None, refit=True, callbacks=None):
        self.estimator, self.space, self.scoring, self.cv, self.refit = estimator, space, scoring, cv, refit
        self.callbacks = callbacks

    def fit(self, X, y):
        folds = [*self.cv.split(X, y)] if hasattr(self.cv, "split") else self.cv
        self.cv_results_ = {"params": [*ParameterGrid(self.space)], "mean_test_score": []}
        work = threading.Thread(target=self._try_all, args=(X, y, folds))
        work.start()
        work.join()
        best = int(np.argmax(self.cv_results_["mean_test_score"]))
        self.best_params_, self.best_score_ = ([*values][best] for values in self.cv_results_.values())
        self.best_estimator_ = self.estimator.set_params(**self.best_params_).fit(X, y)  # not a copy of it
        return self

    def _try_all(self, X, y, folds):
        for params in self.cv_results_["params"]:
            values = []
            for train, test in folds:
                model = clone(self.estimator).set_params(**params).fit(X[train], y.iloc[train])
                values.append(float(self.scoring(model, X[test], y.iloc[test])))
            self.cv_results_["mean_test_score"].append(np.mean(values))
            for callback in self.callbacks or []:
                callback(params)

    def predict(self, X):
        return self.best_estimator_.predict(X)

    def decision_function(self, X):
        return self.best_estimator_.decision_function(X)  # which it may lack


class FiveFolds(LoopSearch):
    """Search that has a number of folds unless it is told otherwise, as some have."""

    def __init__(self, estimator, space, *, scoring=None, cv=5, refit=True, callbacks=None):
        super().__init__(estimator, space, scoring=scoring, cv=cv, refit=refit, callbacks=callbacks)


def optuna_search(model, name, **options):
    distributions = pytest.importorskip("optuna.distributions")
    search = pytest.importorskip("optuna_integration", reason="no optuna-integration").OptunaSearchCV
    pytest.importorskip("optuna").logging.set_verbosity(40)
    space = {name: distributions.CategoricalDistribution(ALPHAS)}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # it is experimental
        return search(model, space, n_trials=3, random_state=0, **options)


def genetic_search(model, name, **options):
    genetic = pytest.importorskip("sklearn_genetic")
    of_the_other = name.replace("alpha", "positive")  # it needs two
    space = {name: genetic.space.Categorical(ALPHAS), of_the_other: genetic.space.Categorical([False])}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return genetic.GASearchCV(
            model, param_grid=space, population_size=4, generations=2, verbose=False, mutation_probability=0.0,
            crossover_probability=0.0, **options,
        )  # fmt: skip


def loop_search(model, name, **options):
    return LoopSearch(model, {name: ALPHAS}, **options)


SEARCHES = [loop_search, optuna_search, genetic_search]
of_each_search = pytest.mark.parametrize("search_of", SEARCHES, ids=lambda make: make.__name__)
quietly = pytest.mark.filterwarnings(
    "ignore::DeprecationWarning",
    "ignore::FutureWarning",
    "ignore:OptunaSearchCV is experimental",
    "ignore:A class named",  # of deap
    "ignore:Mean of empty slice",
    "ignore:Degrees of freedom",
    "ignore::sklearn.exceptions.FitFailedWarning",
)
