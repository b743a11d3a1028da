"""Benchmarks for asv: shapes and metrics are parameters. Data come from ../shapes.py."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))
