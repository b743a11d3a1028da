"""Tensors as NumPy arrays. Nothing is imported: a tensor is known by its methods."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray


def as_numpy(x: Any) -> Any:
    """NumPy array of a tensor of torch, on whatever device it is, or list of those of several; else `x` as it is.

    The memory of a tensor on the CPU is shared. JAX and TensorFlow bring their tensors over when NumPy asks for them.

    Raises
    ------
    ValueError
        If the tensor is not dense.
    """
    if hasattr(x, "detach") and hasattr(x, "cpu"):
        return _of_torch(x)
    if isinstance(x, (list, tuple)) and any(map(_is_tensor, set(map(type, x)))):
        return [_entry(as_numpy(one)) if _is_tensor(type(one)) else one for one in x]
    return x


def widened(array: NDArray[Any]) -> NDArray[Any]:
    """Floats of a type that NumPy does not have, such as the bfloat16 of ml_dtypes, as float32."""
    return array.astype(np.float32) if array.dtype.kind == "V" and array.dtype.type is not np.void else array


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


def _is_tensor(kind: type) -> bool:
    return hasattr(kind, "__dlpack__") and not issubclass(kind, np.ndarray)


def _entry(x: Any) -> Any:
    """A number if it is one, so that ids in a list of tensors are compared by value."""
    array = widened(np.asarray(x))
    return array[()] if array.ndim == 0 else array
