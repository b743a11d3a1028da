"""What a container of another library holds: how many rows, and the array of a tensor."""

from __future__ import annotations

import sys
from importlib import import_module
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sklearn_rank._utils.echo import echo


def n_rows_of(x: Any, name: str) -> int:
    """Number of rows of an array, frame, sparse matrix or list; a TypeError if it has none."""
    shape = np.asarray(x).shape if hasattr(x, "__array__") and not hasattr(x, "__len__") else getattr(x, "shape", None)
    if isinstance(x, (str, bytes, dict)) or isinstance(x, type) or shape == () or not (shape or _has_rows(x)):
        raise TypeError(f"{name} must be an array, list, sparse matrix or frame of rows. Got {echo(x)}.")
    return int(shape[0]) if shape else len(x)


def _has_rows(x: Any) -> bool:
    """Whether entries have places; a set's entries have none."""
    return hasattr(x, "__len__") and (hasattr(x, "__getitem__") or hasattr(x, "__array__"))


def is_sparse(x: Any) -> bool:
    """Whether this is a sparse matrix of SciPy, which is not imported: without it there is no such matrix."""
    return "scipy.sparse" in sys.modules and bool(import_module("scipy.sparse").issparse(x))


def check_lengths(**given: Any) -> None:
    """Refuse columns of other numbers of rows; None is left out."""
    sizes = {name: n_rows_of(x, name) for name, x in given.items() if x is not None}
    if len({*sizes.values()}) > 1:
        got = ", ".join(f"{size} in {name}" for name, size in sizes.items())
        raise ValueError(f"{', '.join(sizes)} must have one entry per row each. Got {got}.")


def as_numpy(x: Any) -> Any:
    """NumPy array of a tensor of torch, JAX or TensorFlow, on whatever device it is; anything else as it is."""
    if type(x) is np.ndarray:
        return widened(x)
    if is_tensor(type(x)):
        return _of_torch(x) if hasattr(x, "detach") else widened(np.asarray(x))
    if isinstance(x, (list, tuple)) and any(map(is_tensor, set(map(type, x)))):
        return [as_numpy(one)[()] if is_tensor(type(one)) else one for one in x]
    return x


def widened(array: NDArray[Any]) -> NDArray[Any]:
    """Floats of a type that NumPy does not have, such as the bfloat16 of ml_dtypes, made float32."""
    return array.astype(np.float32) if array.dtype.kind == "V" and array.dtype.type is not np.void else array


def is_tensor(kind: type) -> bool:
    """Whether objects of a type exchange memory as tensors do; arrays of NumPy and Arrow do so too."""
    return hasattr(kind, "__dlpack__") and not issubclass(kind, np.ndarray) and not hasattr(kind, "to_pylist")


def _of_torch(x: Any) -> NDArray[Any]:
    if getattr(x, "is_nested", False) or str(getattr(x, "layout", "torch.strided")) != "torch.strided":
        raise ValueError(
            "A tensor must be dense: use to_dense() for a sparse one, and for a nested one values() with qid=, or the "
            f"padded tensor with mask=. Got layout {x.layout}{', nested' * x.is_nested}."
        )
    x = x.detach().cpu()
    try:
        array: NDArray[Any] = x.numpy()
    except TypeError:  # NumPy has no bfloat16
        array = x.float().numpy()
    return array
