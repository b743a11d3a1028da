"""A provider for ir_measures: ``from sklearn_rank.compat.ir_measures import provider``.

``provider.calc_aggregate([nDCG @ 10, AP], qrels, run)`` takes the same arguments as in ir_measures, and gives the
numbers of its provider "pytrec_eval". It is registered as ``ir_measures.providers.registry["sklearn_rank"]``.
"""

from __future__ import annotations

try:
    from ir_measures import providers
except ImportError as error:
    raise ImportError("A provider for ir_measures needs ir_measures: pip install ir-measures.") from error

from sklearn_rank.compat import pytrec_eval

__all__ = ["provider"]


class _Provider(providers.PytrecEvalProvider):
    """Provider of the measures that ir_measures takes from pytrec_eval, which need not be installed."""

    NAME = "sklearn_rank"

    def initialize(self) -> None:
        """Let the provider use the evaluators of this library."""
        self.pytrec_eval = pytrec_eval


provider = providers.register(_Provider())
"""The provider, which is registered as "sklearn_rank"."""
