"""CI workflows and the conda recipe call scripts that contributors can call; actions are pinned."""

import os
import re
import tomllib
from importlib import import_module
from pathlib import Path

import pytest

import sklearn_rank

yaml = pytest.importorskip("yaml")

ROOT = Path(__file__).parents[2]
WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())
COMMANDS = "pip", "npm", "sudo"
"""What a workflow may run besides the scripts of the project."""


def jobs(path):
    return yaml.safe_load(path.read_text())["jobs"]


def steps(path):
    return [step for job in jobs(path).values() for step in job["steps"]]


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.stem)
def test_workflow(path):
    assert yaml.safe_load(path.read_text())["permissions"] == {"contents": "read"}
    for name, job in jobs(path).items():
        assert job.get("permissions", {}).keys() <= ({"contents", "id-token"} if name == "publish" else set())
    for step in steps(path):
        assert ("uses" in step) != ("run" in step)
        for line in step.get("run", "").splitlines():
            script = line.split()[0]
            assert script in COMMANDS or os.access(ROOT / script, os.X_OK), script
            assert "github.event" not in line, "what others write goes through env"
    actions = re.findall(r"uses: *(.*)", path.read_text())
    assert len(actions) == sum("uses" in step for step in steps(path))
    for action in actions:
        assert re.fullmatch(r"[\w-]+/[\w-]+@[0-9a-f]{40}  # v\d+\.\d+\.\d+", action), action


def test_only_publishing_has_an_identity_token():
    (publish,) = [job for path in WORKFLOWS for job in jobs(path).values() if "id-token" in job.get("permissions", {})]
    assert publish["if"] == "github.event_name == 'release'"
    assert publish["needs"] == ["sdist", "wheels"]


def test_the_recipe_has_the_dependencies_of_the_project():
    recipe = yaml.safe_load((ROOT / ".ci" / "conda" / "recipe.yaml").read_text())
    needed = recipe["requirements"]
    plain = [requirement.replace(" ", "") for requirement in needed["run"] + needed["host"]]
    assert sorted(set(plain) - {"pip"}) == sorted(
        {f"python{PROJECT['project']['requires-python']}", *PROJECT["project"]["dependencies"]}
        | set(PROJECT["build-system"]["requires"])
    )
    assert recipe["package"]["version"] == sklearn_rank.__version__
    (entry,) = PROJECT["project"]["scripts"].items()
    assert recipe["build"]["python"]["entry_points"] == [" = ".join(entry)]


def test_the_citation_is_of_this_version():
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text())
    assert citation["version"] == sklearn_rank.__version__
    assert {reference["year"] for reference in citation["references"]} == {2002, 2005, 2007, 2008, 2019}


def test_all_ways_in_have_the_same_bits(monkeypatch):
    monkeypatch.syspath_prepend(str(ROOT / ".ci"))
    bits = import_module("bits")
    for name, few in {"KINDS": ("5 grades", "subtopics"), "SPECIAL": ("ndcg@10",), "LONGEST": 500}.items():
        monkeypatch.setattr(bits, name, few)
    monkeypatch.setattr(bits, "get_metric_names", lambda: ["map", "rmse", "alpha_ndcg"])
    n, different, values = bits.compared(0)
    assert {name for name, *_ in values} == {"ndcg@10", "map", "rmse", "alpha_ndcg"}
    assert n > 50
    assert different == []
