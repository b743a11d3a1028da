"""Files of LETOR and SVMlight with qid, by scikit-learn's reader."""

from __future__ import annotations

import io
import re
from typing import Any

from sklearn_rank._tables.formats import BYTE_ORDER_MARK, HEADER_SIZE
from sklearn_rank._utils.arguments import named_arguments
from sklearn_rank._utils.echo import one_line
from sklearn_rank._utils.typing import PathLike
from sklearn_rank.io._source import open_to_read, read_bytes, source_name

WHOLE_QID = re.compile(rb"(\bqid:\d+)\.0+(?=\s)")
"""An id that was written as a float, such as "qid:1.0"."""


@named_arguments
def read_svmlight(path: PathLike, **options: Any) -> tuple[Any, Any, Any]:
    r"""Read features, labels and queries: lines ``label qid:1 1:0.5 2:0.1 # comment``.

    Parameters
    ----------
    path : str, path or binary file
        Gzip is unpacked. An id may be written as a whole float, "qid:1.0".
    **options
        Passed to `sklearn.datasets.load_svmlight_file`, such as ``n_features=46``.

    Returns
    -------
    X : sparse matrix of shape (n_samples, n_features)
    y : ndarray of shape (n_samples,)
    qid : ndarray of int, shape (n_samples,)

    Raises
    ------
    ValueError
        If a line lacks a qid or has another format, or if a gzip file unpacks to more than 1 GiB and more than 100
        times its size.

    Examples
    --------
    >>> import io
    >>> from sklearn_rank.io import read_svmlight
    >>> X, y, qid = read_svmlight(io.BytesIO(b"2 qid:1 1:0.5\n0 qid:1 2:0.1\n"))
    >>> X.shape, y, qid
    ((2, 2), array([2., 0.]), array([1, 1]))
    """
    from sklearn.datasets import load_svmlight_file

    with open_to_read(path) as file:
        data = read_bytes(file).removeprefix(BYTE_ORDER_MARK)
    try:
        if WHOLE_QID.search(data, 0, HEADER_SIZE):
            data = WHOLE_QID.sub(rb"\1", data)
        X, y, qid = load_svmlight_file(io.BytesIO(data), query_id=True, **options)
    except (ValueError, IndexError, OverflowError) as error:
        text = one_line(str(error), 200)
        raise ValueError(
            f"Lines of SVMlight must be like 'label qid:1 1:0.5 2:0.1'. Got {source_name(path)}: {text}."
        ) from None
    if len(y) == 0 or len(qid) != len(y):
        raise ValueError(
            "A file must have at least one line, and every line a qid. "
            f"Got {len(qid)} qid in {len(y)} lines of {source_name(path)}."
        )
    return X, y, qid
