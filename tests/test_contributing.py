"""CONTRIBUTING.md can be followed: its examples pass the tests that it names, in a copy of the repository."""

import re
from pathlib import Path

ROOT = Path(__file__).parents[1]


def test_pre_commit_lints_as_ci_does():
    hooks = re.findall(r"^ +entry: (.*)$", (ROOT / ".pre-commit-config.yaml").read_text(), re.MULTILINE)
    steps = dict(re.findall(r'^step "(.*?)"\n(.*?)\n\n', (ROOT / ".ci" / "run").read_text(), re.MULTILINE | re.DOTALL))
    assert hooks == steps["Lint and types"].splitlines()
