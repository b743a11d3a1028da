import os
from importlib.util import find_spec

import numpy as np
import pytest

from sklearn_rank._metric import REGISTRY
from sklearn_rank.datasets import make_ranking

os.environ["MPLBACKEND"] = "agg"  # pictures are drawn, but no window is opened


def pytest_collection_modifyitems(items):
    """Examples of an optional library are left out where it is missing."""
    for item in items:
        if item.nodeid.startswith("sklearn_rank/dask/") and not find_spec("dask"):
            item.add_marker(pytest.mark.skip(reason="the example needs dask"))


@pytest.fixture(autouse=True)
def registry_as_found():
    """What a test registers is not kept."""
    before = dict(REGISTRY)
    yield
    REGISTRY.clear()
    REGISTRY.update(before)


@pytest.fixture(scope="session")
def ranking():
    """Sorted integer qid: X, y, qid."""
    return make_ranking(n_queries=40, n_features=6, n_documents=(1, 12), random_state=0)


@pytest.fixture(scope="session")
def shuffled():
    """String qid in shuffled rows: X, y, qid."""
    return make_ranking(n_queries=40, n_features=6, n_documents=(1, 12), string_qid=True, shuffle=True, random_state=0)


@pytest.fixture(scope="session")
def with_index(shuffled):
    """The same, qid in the index of y: X, y."""
    pd = pytest.importorskip("pandas")
    X, y, qid = shuffled
    return X, pd.Series(y, index=pd.Index(qid, name="qid"))


@pytest.fixture
def rng():
    return np.random.default_rng(0)
