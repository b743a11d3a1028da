"""Parameters that mean the same for every Display, described once.

A Display documents only the parameters of its own. The decorator `documented` adds the others, in the order of the
signature, and the "Returns" section.
"""

from __future__ import annotations

from typing import TypeVar

from sklearn_rank._utils.docstring import completed

Class = TypeVar("Class", bound=type)

AX = "ax : Matplotlib Axes, default=None\n    Axes to draw on. None: those of a new figure."
NAME = "name : str, default=None\n    Name in the legend."

OF_CLASS = {
    "metric": 'metric : str, default="metric"\n    Name of the metric, for the label.',
    "greater_is_better": "greater_is_better : bool, default=True\n    Whether a higher value of the metric is better.",
    "name": NAME,
}
OF_METHOD = {
    "plot": {"ax": AX, "name": NAME + " None: the one of the display."},
    "from_result": {
        "result": "result : Evaluation",
        "metric": "metric : str, default=None\n    One of the result's metrics. None: the only one.",
        "name": NAME,
        "ax": AX,
    },
    "from_estimator": {"ax": AX},
    "from_results": {
        "results": "results : dict of str to Evaluation\n    Systems by name.",
        "metric": "metric : str, default=None\n    One of their metrics. None: the only one.",
        "ax": AX,
    },
    "from_comparison": {"ax": AX},
    "from_predictions": {
        "y_true": "y_true : array-like of shape (n_samples,)\n    Relevance of each document to its query.",
        "y_score": "y_score : array-like of shape (n_samples,)\n    Output of the model, higher ranks first.",
        "qid": "qid : array-like of shape (n_samples,), default=None\n    Query of each row, as `evaluate` finds it.",
        "metric": 'metric : str, metric function or callable, default="ndcg"',
        "name": NAME,
        "ax": AX,
        "n_jobs": "n_jobs : int or None, default=None\n    Threads to use, as joblib counts them.",
        "**keywords": "**keywords\n    More keywords of `evaluate`: those of the metric, and `tie_break`.",
    },
}
"""Entries by method and parameter."""

RAISES = {
    "from_predictions": """ValueError, TypeError
    If the data, the metric or a keyword are not what `evaluate` takes.""",
    "from_results": """ValueError
    If a result has no such metric, or the metric was computed otherwise in one of them.
TypeError
    If results have no names.""",
}
"""Errors of methods whose own docstrings name none."""


def documented(display: Class) -> Class:
    """Complete the docstrings of a Display."""
    if display.__doc__:  # python -OO removes docstrings
        display.__doc__ = completed(display, OF_CLASS)
        for name in OF_METHOD.keys() & vars(display).keys():
            method = getattr(display, name)
            sections = {"Returns": "self" if name == "plot" else f"display : {display.__name__}"}
            sections |= {"Raises": RAISES[name]} if name in RAISES else {}
            getattr(method, "__func__", method).__doc__ = completed(method, OF_METHOD[name], **sections)
    return display
