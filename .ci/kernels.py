"""The wheel alone where scikit-learn has none: each kernel is loaded, and one counts bits."""

from importlib.metadata import files
from importlib.util import module_from_spec, spec_from_file_location

import numpy as np

kernels = {}
for path in files("sklearn-rank"):
    if path.suffix in (".so", ".pyd"):
        name = path.name.split(".")[0]
        spec = spec_from_file_location(f"sklearn_rank._engine.kernels.{name}", path.locate())
        kernels[name] = module_from_spec(spec)
        spec.loader.exec_module(kernels[name])
assert kernels.keys() == {"bits", "checks", "grouping", "nearness", "rank", "trec"}

equal = np.zeros((1, 2), dtype=np.uint8)
kernels["bits"].equal_bits(np.array([[7]], np.uint64), np.array([[7], [6]], np.uint64), 0, equal)
assert equal.tolist() == [[64, 63]]
