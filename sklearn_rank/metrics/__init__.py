"""Ranking metrics: one formula each.

A metric is a function from ranked queries to a curve, the value it would have if every list stopped at that rank.
A formula reads only its `Ranked` argument and its own keywords. It returns the curve, or its numerator and
denominator: macro averages are means of the ratios, micro averages ratios of the sums, and a denominator of zero
says that the metric is not defined for the query.

The docstrings hold the sentence, the formula, the source and an example worked by hand; the decorator adds the
parameters, which are the same everywhere.

A formula reads a `Ranked`. A `Metric` is a formula with its properties, a `MetricFunction` its public function. A
`Constraint` says which values a keyword of a formula takes.
"""

from sklearn_rank._engine.ranked import Ranked as Ranked
from sklearn_rank._metric.decorator import MetricFunction as MetricFunction
from sklearn_rank._metric.metric import Metric as Metric
from sklearn_rank._utils.constraints import Constraint as Constraint
from sklearn_rank.metrics import binary, diversity, gain, incomplete, levels, pairs, pointwise, sets, stopping
from sklearn_rank.metrics.binary import *  # noqa: F403
from sklearn_rank.metrics.diversity import *  # noqa: F403
from sklearn_rank.metrics.gain import *  # noqa: F403
from sklearn_rank.metrics.incomplete import *  # noqa: F403
from sklearn_rank.metrics.levels import *  # noqa: F403
from sklearn_rank.metrics.pairs import *  # noqa: F403
from sklearn_rank.metrics.pointwise import *  # noqa: F403
from sklearn_rank.metrics.sets import *  # noqa: F403
from sklearn_rank.metrics.stopping import *  # noqa: F403

_FILES = binary, diversity, gain, incomplete, levels, pairs, pointwise, sets, stopping
__all__ = ["Constraint", "Metric", "MetricFunction", "Ranked", *(name for file in _FILES for name in file.__all__)]
