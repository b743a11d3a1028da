"""Write types for type checkers: sklearn_rank/metrics/__init__.pyi, metric functions with their keywords, and
sklearn_rank/__init__.pyi, the names of the package.

    python docs/make_stubs.py

A test fails when the stubs are not what this would write.
"""

import ast
import inspect
import re
from importlib import import_module
from pathlib import Path
from textwrap import indent, wrap

import sklearn_rank
from sklearn_rank._metric.metric import REGISTRY

METRICS = [entry for entry in REGISTRY.values() if entry.is_built_in]
PACKAGE = Path(sklearn_rank.__file__).parent
HEAD = '"""{} Written by docs/make_stubs.py."""\n# fmt: off\n# ruff: noqa: E501, I001\n'
SPECIAL = {
    "gain": "_Gain",
    "discount": "_Discount",
    "recall": '_Number | Literal["11pt"]',
    "average": "_Average | None",
}
"""Types of keywords that are neither a number, nor a bool, nor one of some words."""
CUTOFF = "k: int | np.integer[Any] | {}None = ..., "

METRIC_TYPES = """
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal, Protocol, TypedDict, Unpack, overload

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sklearn_rank._engine.ranked import Ranked as Ranked
from sklearn_rank._metric.decorator import MetricFunction as MetricFunction
from sklearn_rank._metric.metric import Metric as Metric
from sklearn_rank._utils.constraints import Constraint as Constraint

_Number = float | np.floating[Any] | np.integer[Any]
_Average = Literal["macro", "micro", "geometric"]
_Cutoffs = Sequence[int] | NDArray[np.integer[Any]]
_Table = Sequence[float] | NDArray[Any] | Callable[..., Any]
_Gain = Literal["exp2", "linear", "binary"] | Mapping[Any, float] | _Table
_Discount = Literal["log2", "jarvelin", "reciprocal", "flat"] | _Table
_Values = NDArray[np.float64]
"""
FUNCTION = """
class _Metric{n}(MetricFunction, Protocol):
    @overload  # type: ignore[override]
    def __call__(self, y_true: ArrayLike, y_score: ArrayLike, *, {one}average: _Average = ..., **keywords: Unpack[_Keywords{n}]) -> float: ...
    @overload
    def __call__(self, y_true: ArrayLike, y_score: ArrayLike, *, {any}average: None, **keywords: Unpack[_Keywords{n}]) -> _Values: ...
"""  # noqa: E501
OF_CUTOFFS = """    @overload
    def __call__(self, y_true: ArrayLike, y_score: ArrayLike, *, k: _Cutoffs, average: _Average = ..., **keywords: Unpack[_Keywords{n}]) -> _Values: ...
"""  # noqa: E501

PACKAGES = """
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Literal, Protocol, Self, overload

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sklearn_rank._evaluator.evaluator import RankingEvaluator as _RankingEvaluator
"""
SCORER = """
class _{kind}(Protocol):
    def __call__(self, estimator: Estimator, X: Any, y: Any, qid: Any = ..., sample_weight: Any = ..., **columns: Any) -> {value}: ...
    def set_score_request(self, **requests: bool | str | None) -> Self: ...
    def get_metadata_routing(self) -> Any: ...
"""  # noqa: E501
WITH_KEYWORDS = (
    "check_metric", "compare_systems", "evaluate", "evaluate_run", "evaluate_table", "make_ranking_scorer",
    "make_recommender_scorer", "parse_metric", "prepare",
)  # fmt: skip
"""Functions that take keywords of metrics, also those of users: these are no str, so that misspelled ones are found."""
OWN = """
class _HasArray(Protocol):
    def __array__(self, *args: Any, **keywords: Any) -> Any: ...

_Own = float | Sequence[float] | NDArray[Any] | _HasArray | Mapping[Any, float] | Callable[..., Any] | None
"""


def type_of(name, default, rule):
    """Type of a keyword, from its rule and its default."""
    if name in SPECIAL:
        return SPECIAL[name]
    if isinstance(default, str) or rule.choices:
        words = [choice for choice in rule.choices if choice] or re.findall(r"'(\w+)'", rule.rule)
        return (
            "Literal["
            + ", ".join(f'"{word}"' for word in words)
            + "]"
            + " | None" * (None in rule.choices)
        )
    return "bool" if isinstance(default, bool) else "_Number" + " | None" * (default is None)


def keywords_of(entry):
    """Type of each keyword of a metric."""
    return {
        name: type_of(name, default, entry._rule(name))
        for name, default in entry.defaults.items()
    }


def typed_dict(name, base, types):
    """Keywords as a class for `Unpack`."""
    return (
        f"\nclass {name}({base}, total=False):"
        + ("".join(f"\n    {n}: {of}" for n, of in types) or " ...")
        + "\n"
    )


def metric_stub():
    """Types of the metric functions; functions with the same keywords have the same type."""
    keywords = {entry.function_name: {**keywords_of(entry)} for entry in METRICS}
    for types in keywords.values():
        del types["average"]
    common = [
        item
        for item in min(keywords.values(), key=len).items()
        if all(item in x.items() for x in keywords.values())
    ]
    alike = {}
    for entry in METRICS:
        own = [item for item in keywords[entry.function_name].items() if item not in common]
        own += [
            (name, "ArrayLike | None")
            for name in ("tie_break", *entry.columns)
            if not entry.pointwise
        ]
        alike.setdefault((entry.has_cutoff, tuple(own)), []).append(entry.function_name)
    rows = [(name, "ArrayLike | None") for name in ("qid", "sample_weight", "mask")]
    text = HEAD.format("Types of the metric functions.") + METRIC_TYPES
    text += typed_dict("_Keywords", "TypedDict", [*rows, ("n_jobs", "int | None"), *common])
    for n, ((has_cutoff, own), names) in enumerate(alike.items(), 1):
        cutoffs = [CUTOFF.format(more) * has_cutoff for more in ("", "_Cutoffs | ")]
        text += typed_dict(f"_Keywords{n}", "_Keywords", own) + FUNCTION.format(
            n=n, one=cutoffs[0], any=cutoffs[1]
        )
        text += (
            OF_CUTOFFS.format(n=n) * has_cutoff
            + "\n"
            + "".join(f"{name}: _Metric{n}\n" for name in sorted(names))
        )
    return text


def all_keywords():
    """Types of the keywords of all metrics; words of several metrics are put together."""
    found = {}
    for entry in METRICS:
        for name, of in keywords_of(entry).items():
            found.setdefault(name, {}).update(
                dict.fromkeys(of.split(" | ") if name not in SPECIAL else [of])
            )
    for name, types in found.items():
        words = dict.fromkeys(
            word for of in types if "Literal" in of for word in re.findall(r'"[^"]+"', of)
        )
        if words and name not in SPECIAL:
            found[name] = [
                f"Literal[{', '.join(words)}]",
                *(of for of in types if "Literal" not in of),
            ]
    return {name: " | ".join(types) for name, types in found.items()}


def signature_of(name, **changed):
    """A function with all keywords of metrics in its signature, and other types of some parameters or of the result."""
    known = inspect.signature(inspect.unwrap(getattr(sklearn_rank, name)))
    more = all_keywords()
    if name in ("parse_metric", "make_ranking_scorer", "make_recommender_scorer"):
        more = {
            "k": "int | np.integer[Any] | _Cutoffs | None",
            "greater_is_better": "bool",
        } | more
    if name == "compare_systems":
        of_runs = inspect.signature(inspect.unwrap(sklearn_rank.evaluate_run)).parameters.values()
        more |= {p.name: p.annotation for p in of_runs if p.kind is p.KEYWORD_ONLY} | {
            "exclude": "Any"
        }
    listed, kind = [], None
    for p in known.parameters.values():
        if p.kind is not p.VAR_KEYWORD:
            listed += ["/"] * (kind is p.POSITIONAL_ONLY) + ["*"] * (
                p.kind is p.KEYWORD_ONLY and kind is not p.kind
            )
            listed.append(
                f"{p.name}: {changed.get(p.name, p.annotation)}"
                + " = ..." * (p.default is not p.empty)
            )
            kind = p.kind
    listed += ["/"] * (kind is inspect.Parameter.POSITIONAL_ONLY) + ["*"] * (
        kind is not inspect.Parameter.KEYWORD_ONLY
    )
    listed += [f"{n}: {of} = ..." for n, of in more.items() if n not in known.parameters]
    lines = wrap(
        ", ".join([*listed, "**own: _Own"]), 112, break_long_words=False, break_on_hyphens=False
    )
    returned = changed.get("return", known.return_annotation)
    return f"\ndef {name}(\n    " + "\n    ".join(lines) + f",\n) -> {returned}: ...\n"


def package_stub():
    """Types of the names of the package."""
    functions = {name: [signature_of(name)] for name in WITH_KEYWORDS}
    one = {"metric": "MetricLike", "return": "_Scorer"}
    several = {"metric": "Iterable[MetricLike] | Mapping[str, MetricLike]", "return": "_Scorers"}
    functions["make_ranking_scorer"] = [
        "\n@overload"
        + signature_of("make_ranking_scorer", **changed).replace("(\n", f"({ignored}\n", 1)
        for changed, ignored in ((one, "  # type: ignore[overload-overlap]"), (several, ""))
    ]
    functions["make_recommender_scorer"] = [
        signature_of("make_recommender_scorer", **{"return": "_RecommenderScorer"})
    ]
    functions["get_scorer"] = ["\ndef get_scorer(name: str) -> _Scorer: ...\n"]
    made = signature_of("RankingEvaluator", **{"return": "None"})
    made = made.replace("RankingEvaluator(\n    ", "__init__(\n    self, ", 1)
    functions["RankingEvaluator"] = [
        "\nclass RankingEvaluator(_RankingEvaluator):" + indent(made, "    ")
    ]
    body = "".join(
        SCORER.format(kind=kind, value=value)
        for kind, value in (
            ("Scorer", "float"),
            ("Scorers", "dict[str, float]"),
            ("RecommenderScorer", "Any"),
        )
    )
    body = OWN + body + "".join(part for parts in functions.values() for part in parts)
    text = HEAD.format("Names of the package.") + PACKAGES + "\n" + imports_in(body, functions)
    kept = set(sklearn_rank.__all__) - functions.keys() - {"datasets", "metrics"}
    places = {name: inspect.unwrap(getattr(sklearn_rank, name)).__module__ for name in kept}
    places |= {name: "sklearn_rank.metrics" for name in kept if name.endswith("_score")}
    places |= {name: "sklearn_rank" for name in (*sklearn_rank._PACKAGES, "metrics")} | {
        "__version__": "sklearn_rank._version"
    }
    imports = sorted((place, name) for name, place in places.items())
    return (
        text
        + "".join(f"from {place} import {name} as {name}\n" for place, name in imports)
        + body
    )


def imports_in(text, names):
    """Imports of the types that a text mentions, from where the functions have them."""
    found = {}
    for name in names:
        module = import_module(inspect.unwrap(getattr(sklearn_rank, name)).__module__)
        for node in ast.parse(Path(module.__file__).read_text(encoding="utf-8")).body:
            for part in node.body if isinstance(node, ast.If) else [node]:
                if isinstance(part, ast.ImportFrom) and part.module.startswith("sklearn_rank"):
                    found |= {alias.name: part.module for alias in part.names}
    own = {"_Average", "_Cutoffs", "_Discount", "_Gain", "_Number"}
    found |= dict.fromkeys(own, "sklearn_rank.metrics")
    used = sorted(
        (found[name], name) for name in {*re.findall(r"\b[A-Z_]\w+\b", text)} & found.keys()
    )
    return "".join(f"from {module} import {name}\n" for module, name in used)


def stubs():
    """Text of each stub by its path."""
    return {
        PACKAGE / "metrics" / "__init__.pyi": metric_stub(),
        PACKAGE / "__init__.pyi": package_stub(),
    }


if __name__ == "__main__":
    for path, text in stubs().items():
        path.write_text(text, encoding="utf-8")
