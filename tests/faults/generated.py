#!/usr/bin/env python3
"""Draw faults, plant them one at a time, and check that the tests detect each.

    tests/faults/generated.py [ROOM ...] [--sample 300] [--seed 0] [--n-jobs 2]

A room is a folder or a file of the package; the default is all except spark, whose tests are too slow. Each fault
changes one place of a Python file: a comparison, `and` and `or`, `any` and `all`, a sign, a number, a keyword, or a
removed call. The exit status is 1 if the tests detect less than 95 % of the faults that equivalents.toml does not
list. Entries of equivalents.toml whose line has changed are printed: delete them.
"""

from __future__ import annotations

import argparse
import ast
import random
import re
import sys
import tempfile
from collections import Counter
from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass
from pathlib import Path
from queue import Queue

from plant import LIMIT, ROOT, copy_project, failure, read_faults

TESTS = {
    "_cli": "tests/cli",
    "_comparison": "tests/evaluation/test_comparison.py tests/evaluation/test_storage.py "
    "tests/evaluation/test_segment_comparison.py tests/evaluation/test_explanation.py",
    "_engine": "tests/engine",
    "_entry_points": "tests/entry_points tests/evaluation",
    "_evaluation": "tests/evaluation tests/entry_points tests/api/test_evidence_laws.py",
    "_evaluator": "tests/model_selection",
    "_groups.py": "tests/engine tests/api",
    "_metric": "tests/metric tests/metrics tests/api/test_evidence_laws.py",
    "_misuse": "tests/api/test_misuse.py tests/api/test_least_evidence.py tests/api/test_misuse_of_ids.py "
    "tests/api/test_misuse_of_judgments.py tests/api/test_misuse_of_recommenders.py "
    "tests/api/test_misuse_of_copies.py tests/api/test_misuse_of_retrieval.py tests/api/test_every_door.py "
    "tests/api/test_evidence_laws.py",
    "_ranker": "tests/model_selection",
    "_report": "tests/report",
    "_scoring": "tests/model_selection",
    "_tables": "tests/tables tests/io",
    "_utils": "tests/utils tests/api tests/engine",
    "boosting": "tests/boosting",
    "compat": "tests/compat",
    "datasets.py": "tests/utils",
    "display": "tests/display",
    "inspection.py": "tests/model_selection/test_inspection.py",
    "io": "tests/io",
    "metrics": "tests/metrics tests/metric",
    "recommenders": "tests/model_selection/test_recommender_scorer.py tests/model_selection/test_interaction_splits.py "
    "tests/model_selection/test_recommender_evaluator.py tests/retrieval/test_exposure.py",
    "retrieval": "tests/retrieval",
    "stats": "tests/stats",
}
"""The tests of each room; the examples of the file with the fault are run, too."""

COMPARISONS = {
    ast.Lt: "<=",
    ast.LtE: "<",
    ast.Gt: ">=",
    ast.GtE: ">",
    ast.Eq: "!=",
    ast.NotEq: "==",
    ast.Is: "is not",
    ast.IsNot: "is",
    ast.In: "not in",
    ast.NotIn: "in",
}
OPERATORS = {
    ast.Add: "-",
    ast.Sub: "+",
    ast.Mult: "/",
    ast.Div: "*",
    ast.FloorDiv: "*",
    ast.Mod: "*",
    ast.BitAnd: "|",
    ast.BitOr: "&",
    ast.LShift: ">>",
    ast.RShift: "<<",
}
_PAIRS = "any all", "min max", "minimum maximum", "floor ceil", "argmin argmax", "cumsum asarray", "nanmean mean"
NAMES = {a: b for pair in _PAIRS for a, b in (pair.split(), pair.split()[::-1])}
"""Functions, and what is called in their place."""

LEFT_OUT = "abs sorted unique copy asarray ascontiguousarray sqrt log log1p exp nan_to_num"
"""Functions whose first argument, or whose object, stands in their place."""

GUARDS = "strict", "stacklevel"
"""Keywords that stay: they change nothing in a program without a fault, or a line that a warning names."""


def mutants(text: str) -> Iterator[tuple[int, int, str]]:
    """Start, end and replacement text of all faults of a file."""
    starts = [0]
    for line in text.splitlines(keepends=True):
        starts.append(starts[-1] + len(line))

    def place(node: ast.AST) -> tuple[int, int]:
        return starts[node.lineno - 1] + node.col_offset, starts[node.end_lineno - 1] + node.end_col_offset

    def source(node: ast.AST) -> str:
        return text[slice(*place(node))]

    def between(a: ast.AST, b: ast.AST, old: str, new: str) -> tuple[int, int, str]:
        first, last = place(a)[1], place(b)[0]
        return first, last, re.sub(old, new, text[first:last], count=1)

    for node in _of_code(ast.parse(text)):
        match node:
            case ast.Compare():
                for a, op, b in zip([node.left, *node.comparators], node.ops, node.comparators, strict=False):
                    yield between(a, b, r"not\s+in|is\s+not|[<>=!]=|[<>]|is|in", COMPARISONS[type(op)])
            case ast.BoolOp():
                other = "or" if isinstance(node.op, ast.And) else "and"
                for a, b in zip(node.values, node.values[1:], strict=False):
                    yield between(a, b, r"and|or", other)
            case ast.UnaryOp():
                yield *place(node), f"({source(node.operand)})"
            case ast.BinOp() if type(node.op) in OPERATORS:
                yield between(node.left, node.right, r"//|<<|>>|[-+*/%&|]", OPERATORS[type(node.op)])
            case ast.Constant(value=bool()):
                yield *place(node), str(not node.value)
            case ast.Constant(value=int() | float()) if node.value + 1 != node.value:
                yield *place(node), repr(node.value + 1)
            case ast.If() | ast.IfExp() | ast.While():
                yield *place(node.test), f"not ({source(node.test)})"
            case ast.AugAssign() if type(node.op) in OPERATORS:
                yield between(node.target, node.value, r"//|<<|>>|[-+*/%&|]", OPERATORS[type(node.op)])
            case ast.Expr(value=ast.Call()) | ast.Raise():
                yield *place(node), "pass"
            case ast.Call():
                yield from _of_call(node, place, source)


def _of_call(node: ast.Call, place, source) -> Iterator[tuple[int, int, str]]:
    """Another function, no call, or one keyword less."""
    function = node.func
    name = function.id if isinstance(function, ast.Name) else getattr(function, "attr", "")
    owner = source(function.value) if isinstance(function, ast.Attribute) else ""
    if name in NAMES:
        last = place(function)[1]
        yield last - len(name), last, NAMES[name]
    if name in LEFT_OUT.split():
        if node.args:
            yield *place(node), source(node.args[0])
        elif owner:
            yield *place(node), owner
    for keyword in node.keywords:
        if keyword.arg not in (None, *GUARDS):
            kept = [source(a) for a in node.args] + [source(k) for k in node.keywords if k is not keyword]
            yield *place(node), f"{source(function)}({', '.join(kept)})"


def _of_code(node: ast.AST) -> Iterator[ast.AST]:
    """Nodes of executed code: no annotations, decorators, texts, types, guards, or imports for types."""
    for field, value in ast.iter_fields(node):
        if field in ("annotation", "returns", "decorator_list", "type_params", "bases"):
            continue
        for child in value if isinstance(value, list) else [value]:
            if not isinstance(child, ast.AST) or isinstance(child, ast.JoinedStr):
                continue
            if isinstance(child, ast.keyword) and child.arg in GUARDS:
                continue
            if isinstance(child, ast.If) and ast.unparse(child.test) == "TYPE_CHECKING":
                continue
            yield child
            yield from _of_code(child)


@dataclass(frozen=True)
class Drawn:
    """A fault at a place of a file, and the tests that should detect it."""

    file: str
    text: str
    first: int
    last: int
    planted: str

    @property
    def lines(self) -> tuple[str, str]:
        """The lines of the place, before and after the fault."""
        first, last = self.text.rfind("\n", 0, self.first) + 1, self.text.find("\n", self.last)
        return self.text[first:last], self.text[first : self.first] + self.planted + self.text[self.last : last]

    @property
    def key(self) -> tuple[str, str, str]:
        """File, line and replacement, as equivalents.toml has them."""
        return self.file, self.lines[0].strip(), self.lines[1].strip()

    @property
    def tests(self) -> tuple[str, ...]:
        """The tests of its room, and the examples of its file."""
        return *TESTS[Path(self.file).parts[1]].split(), self.file

    def __str__(self) -> str:
        return f"{self.file}:{self.text.count(chr(10), 0, self.first) + 1}: {' '.join(self.lines[1].split())}"


def drawn(rooms: list[str], sample: int, seed: int) -> list[Drawn]:
    """A sample of all faults of some rooms."""
    faults = []
    for room in rooms:
        path = ROOT / "sklearn_rank" / room
        for file in [path] if path.is_file() else sorted(path.rglob("*.py")):
            text = file.read_text()
            faults += [Drawn(str(file.relative_to(ROOT)), text, *fault) for fault in mutants(text)]
    return random.Random(seed).sample(faults, min(sample, len(faults)))


def drawable(files: Iterable[str]) -> set[tuple[str, str, str]]:
    """Keys of all faults of some files; none if a file was deleted."""
    there = [(file, (ROOT / file).read_text()) for file in files if (ROOT / file).exists()]
    return {Drawn(file, text, *fault).key for file, text in there for fault in mutants(text)}


def main() -> int:
    """Plant a sample, and print the outcome of each fault and the share detected."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("room", nargs="*", default=[*TESTS], help="folders or files of sklearn_rank")
    parser.add_argument("--sample", type=int, default=300)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--n-jobs", type=int, default=2, help="faults at a time")
    args = parser.parse_args()
    faults = drawn(args.room, args.sample, args.seed)
    outcomes: Counter[str] = Counter()
    known = {(fault.file, fault.line, fault.planted): fault.name for fault in read_faults("equivalents")}
    for key in known.keys() - drawable({file for file, _, _ in known}):
        print(f"{known[key]} is of a line that has changed: delete it", flush=True)
    with tempfile.TemporaryDirectory() as folder, ThreadPoolExecutor(args.n_jobs) as pool:
        copies: Queue[Path] = Queue()
        for i in range(args.n_jobs):
            copy_project(copy := Path(folder, str(i), "project"))
            copies.put(copy)
        rooms = {fault.tests[:-1] for fault in faults}
        for tests, printed in zip(rooms, pool.map(lambda tests: _failure(tests, copies), rooms), strict=True):
            if printed:
                parser.error(f"These tests must pass without a fault: {' '.join(tests)}\n{printed}")
        runs = {pool.submit(_failure, fault.tests, copies, fault): fault for fault in faults}
        for run in as_completed(runs):
            fault = runs[run]
            outcome = "noticed" if run.result() else "equivalent" if fault.key in known else "SURVIVED"
            outcomes[outcome] += 1
            print(f"{outcome:10} {fault}", flush=True)
    share = outcomes["noticed"] / max(1, len(faults) - outcomes["equivalent"])
    print(f"{dict(outcomes)}: {share:.1%} of those that change something are noticed")
    return share < 0.95


def _failure(tests: tuple[str, ...], copies: Queue[Path], fault: Drawn | None = None) -> str:
    """Output of the fast tests of a copy, or of all tests; empty if they pass within the limit."""
    copy = copies.get()
    if fault:
        (copy / fault.file).write_text(fault.text[: fault.first] + fault.planted + fault.text[fault.last :])
    try:
        return failure(("-m", "fast", *tests), copy, 0, LIMIT) or failure(tests, copy, 0, LIMIT)
    finally:
        if fault:
            (copy / fault.file).write_text(fault.text)
        copies.put(copy)


if __name__ == "__main__":
    sys.exit(main())
