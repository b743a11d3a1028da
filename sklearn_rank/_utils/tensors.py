"""Tensors as NumPy arrays. Nothing is imported: a tensor is known by its methods."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray


def as_numpy(x: Any) -> Any:
    """NumPy array of a tensor of torch, JAX or TensorFlow, on whatever device it is; anything else as it is.

    The memory of a tensor on the CPU is shared. In a list of tensors each becomes an array, or a number.

    Raises
    ------
    ValueError
        If the tensor is not dense.
    """
    if type(x) is np.ndarray:
        return widened(x)
    if is_tensor(type(x)):
        return _of_torch(x) if hasattr(x, "detach") else widened(np.asarray(x))
    if isinstance(x, (list, tuple)) and any(map(is_tensor, set(map(type, x)))):
        return [as_numpy(one)[()] if is_tensor(type(one)) else one for one in x]
    return x


def widened(array: NDArray[Any]) -> NDArray[Any]:
    """Floats of a type that NumPy does not have, such as the bfloat16 of ml_dtypes, as float32."""
    return array.astype(np.float32) if array.dtype.kind == "V" and array.dtype.type is not np.void else array


def is_tensor(kind: type) -> bool:
    """Whether objects of a type exchange memory as tensors do; arrays of NumPy and Arrow do so too."""
    return hasattr(kind, "__dlpack__") and not issubclass(kind, np.ndarray) and not hasattr(kind, "to_pylist")


def _of_torch(x: Any) -> NDArray[Any]:
    if getattr(x, "is_nested", False) or str(getattr(x, "layout", "torch.strided")) != "torch.strided":
        raise ValueError(
            "A tensor must be dense: take to_dense() of a sparse one, and of a nested one values() with qid=, or the "
            f"padded tensor with mask=. Got layout {x.layout}{', nested' * x.is_nested}."
        )
    x = x.detach().cpu()
    try:
        array: NDArray[Any] = x.numpy()
    except TypeError:  # NumPy has no bfloat16
        array = x.float().numpy()
    return array
