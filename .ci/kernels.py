"""The wheel alone where scikit-learn has none: each kernel is loaded, and one counts."""

import sys
from importlib import import_module
from importlib.metadata import files
from types import ModuleType

import numpy as np

PACKAGE = "sklearn_rank._engine.kernels"
paths = [path for path in files("sklearn-rank") if path.suffix in (".so", ".pyd")]
# Kernels import each other, and one function of the package, which could not be imported itself.
for name in ("sklearn_rank", "sklearn_rank._engine", PACKAGE, "sklearn_rank._utils", "sklearn_rank._utils.threads"):
    sys.modules[name] = ModuleType(name)
sys.modules[PACKAGE].__path__ = [str(paths[0].locate().parent)]
sys.modules["sklearn_rank._utils.threads"].check_interrupt = lambda: None
kernels = {name: import_module(f"{PACKAGE}.{name}") for name in sorted(path.name.split(".")[0] for path in paths)}
assert [*kernels] == "agreement cascade checks common grades grouping order plan sorting sums trec".split()
assert kernels["order"].longest(np.array([0, 2, 5, 6])) == 3
