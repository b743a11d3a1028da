"""The tests of a module, with the command: those of its room, and those that run most of its lines.

python tests/of_module.py sklearn_rank/_engine/plan.py
python tests/of_module.py --write

The second takes four minutes: it notes which files' fast tests run which lines, and writes `reached_by.txt`.
"""

import os
import re
import sys
import time
from collections import Counter, defaultdict
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parents[1]
PACKAGE, TESTS = ROOT / "sklearn_rank", ROOT / "tests"
TABLE = TESTS / "reached_by.txt"
BESIDE = {room: ["properties/test_oracle.py", "metrics/test_laws.py"] for room in ("metrics", "_metric", "_engine")}
"""Files that compute all metrics, by room."""
MOST_SECONDS, MOST_FILES, TIMES = 12, 12, 3
"""Of the files beside the room's folder; and how many files shall run a line."""


def name_of(path):
    """Full name of the module of a file."""
    return ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__")


@cache
def modules():
    """Path of each module by its full name."""
    return {name_of(path): path for path in sorted([*PACKAGE.rglob("*.py"), *PACKAGE.rglob("*.pyx")])}


@cache
def table():
    """Test files by the module whose lines they run, those that run most first."""
    rows = (line.split() for line in TABLE.read_text(encoding="utf-8").splitlines())
    return {f"sklearn_rank.{module}": [TESTS / f"{name}.py" for name in names] for module, *names in rows}


@cache
def importers(module):
    """Modules that import a compiled one, whose lines nothing notes."""
    stem = re.escape(module.rpartition(".")[2])
    pattern = re.compile(rf"^from sklearn_rank\._engine\.kernels(\.{stem} | import .*\b{stem}\b)", re.M)
    return [name for name, path in modules().items() if path.suffix == ".py" and pattern.search(path.read_text())]


def folder_of(room):
    """Test folder named like a room, if it exists."""
    folders = [TESTS / name for name in (room.strip("_"), f"on_{room}") if (TESTS / name).is_dir()]
    return folders[0] if folders else None


def tests_of(module):
    """Tests of a module: files that are called after it, its room's folder, and files that run its lines."""
    room, stem = [*module.split(".")[1:2], ""][0], module.rpartition(".")[2].strip("_")
    own = folder_of(room)
    called = [own] if own else [*TESTS.rglob(f"test_{stem}.py"), *TESTS.rglob(f"test_{stem}s.py")]
    beside = [TESTS / name for name in BESIDE.get(room, [])]
    found = [*called, *beside, *table().get(module, [])]
    for importer in importers(module) if modules()[module].suffix == ".pyx" else []:
        found += table().get(importer, [])[:3]
    return [path for path in dict.fromkeys(found) if path.parent != own] or [TESTS / "api"]


def tests_of_room(room):
    """The folder of a room's tests; if it has the name of another room, the files closest to most of its modules."""
    if own := folder_of(room):
        return [own]
    inside = [module for module in modules() if module.split(".")[1:2] == [room]]
    closest = Counter(path for module in inside for path in tests_of(module)[:2])
    return sorted(path for path, _ in closest.most_common(8))


class Recorder:
    """Plugin of pytest that notes the lines that each file's tests run, and the time of each file."""

    def __init__(self):
        from coverage import Coverage

        self.coverage = Coverage(data_file=None, source=["sklearn_rank"], config_file=False, messages=False)
        self.seconds = defaultdict(float)
        self.coverage.start()

    @staticmethod
    def pytest_collection_modifyitems(items):
        """Of each function one fast case, which runs most of its lines."""
        fast = [item for item in items if item.get_closest_marker("fast")]
        items[:] = {(item.path, getattr(item, "originalname", item.name)): item for item in fast}.values()

    def pytest_runtest_logstart(self, location):
        self.coverage.switch_context(self.file_of(location))
        self.started = time.perf_counter()

    def pytest_runtest_logfinish(self, location):
        self.seconds[self.file_of(location)] += time.perf_counter() - self.started
        self.coverage.switch_context("")

    @staticmethod
    def file_of(location):
        return str((ROOT / location[0]).relative_to(TESTS).with_suffix("")) if location[0].startswith("tests") else ""

    def rows(self):
        """Line of the table for each module."""
        self.coverage.stop()
        data = self.coverage.get_data()
        for module, path in modules().items():
            if path == PACKAGE / "__init__.py" or path.suffix != ".py":
                continue
            lines = [{*files} - {""} for files in data.contexts_by_lineno(str(path)).values()]
            if names := self.chosen(lines, module.split(".")[1]):
                yield " ".join([module.partition(".")[2], *names])

    def chosen(self, lines, room):
        """Files that run lines which fewer than `TIMES` files of the room or chosen before run, per second."""
        own = folder_of(room)
        first = {name.removesuffix(".py") for name in BESIDE.get(room, [])}
        first |= {file for files in lines for file in files if own and file.startswith(f"{own.name}/")}
        run = [len(files & first) for files in lines]
        names, seconds = [], 0
        while len(names) < MOST_FILES and seconds < MOST_SECONDS:
            gains = Counter()
            for files, n in zip(lines, run, strict=True):
                if n < TIMES:
                    gains.update(dict.fromkeys([f for f in files - first if not f.startswith("project/")], 0.5**n))
            gains = {file: gain / (0.5 + self.seconds[file]) for file, gain in gains.items()}
            if not gains:
                break
            best = max(sorted(gains), key=gains.get)
            names, seconds, first = [*names, best], seconds + self.seconds[best], first | {best}
            run = [n + (best in files) for files, n in zip(lines, run, strict=True)]
        return names


def shell_words(paths):
    """Folders and files, with files of a folder joined: "tests/stats/test_{gate,judges}.py"."""
    names = {}
    for path in paths:
        stems = names.setdefault(str((path if path.is_dir() else path.parent).relative_to(ROOT)), [])
        if not path.is_dir():
            stems.append(path.stem.removeprefix("test_"))
    return " ".join(
        folder if not stems else f"{folder}/test_{stems[0] if len(stems) == 1 else '{' + ','.join(stems) + '}'}.py"
        for folder, stems in names.items()
    )


def write():
    """Run the fast tests, and write the table."""
    import pytest

    os.chdir(ROOT)
    recorder = Recorder()
    pytest.main(["-m", "fast", "-q", "-p", "no:randomly", "tests"], plugins=[recorder])
    TABLE.write_text("".join(f"{row}\n" for row in recorder.rows()), encoding="utf-8")


def main():
    (given,) = sys.argv[1:]
    if given == "--write":
        return write()
    print("pytest -m fast", shell_words(tests_of(name_of(Path(given).resolve()))))


if __name__ == "__main__":
    main()
