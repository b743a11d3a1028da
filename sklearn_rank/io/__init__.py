"""Runs, judgments and tables from files and frames, made into the arrays that metrics take.

Files in, arrays out. May not touch formulas. ``docs/rag/files.md`` shows each.
"""

from sklearn_rank.io._entries import Entries
from sklearn_rank.io._files import read_qrels, read_run
from sklearn_rank.io._join import join
from sklearn_rank.io._ranking_data import RankingData
from sklearn_rank.io._svmlight import read_svmlight
from sklearn_rank.io._tables import read_table
from sklearn_rank.io._trec import write_run

__all__ = [
    "Entries",
    "RankingData",
    "join",
    "read_qrels",
    "read_run",
    "read_svmlight",
    "read_table",
    "write_run",
]
