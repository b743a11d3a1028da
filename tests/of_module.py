"""The tests of a module: files that are called after it, import it, or call its public names; with the command.

python tests/of_module.py sklearn_rank/_engine/plan.py
"""

import ast
import re
import sys
from collections import Counter
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parents[1]
PACKAGE, TESTS = ROOT / "sklearn_rank", ROOT / "tests"
MOST_FILES = 4
"""Files that are listed of those that only call a module's public names: those that do so most often."""


def name_of(path):
    """Full name of the module of a file."""
    return ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__")


@cache
def modules():
    """Path of each module by its full name."""
    return {name_of(path): path for path in sorted([*PACKAGE.rglob("*.py"), *PACKAGE.rglob("*.pyx")])}


@cache
def public_names():
    """Module that defines a public function, class or constant, by its name; names in several modules are omitted."""
    found = {}
    for module, path in modules().items():
        if path.suffix == ".py":
            for node in ast.parse(path.read_text()).body:
                if isinstance(node, (ast.FunctionDef, ast.ClassDef)) and not node.name.startswith("_"):
                    found.setdefault(node.name, set()).add(module)
    return {name: module for name, (module, *others) in found.items() if not others}


@cache
def uses():
    """For each test file how often it mentions each module: by an import of the module, and by public names of it."""
    found = {}
    for path in sorted(TESTS.rglob("test_*.py")):
        tree, imported, named = ast.parse(path.read_text()), Counter(), Counter()
        known = {}
        for node in ast.walk(tree):
            if isinstance(node, ast.ImportFrom) and (node.module or "").partition(".")[0] == "sklearn_rank":
                for alias in node.names:
                    here = f"{node.module}.{alias.name}"
                    if here in modules() or node.module in modules() and modules()[node.module].stem != "__init__":
                        imported[here if here in modules() else node.module] += 1
                    elif alias.name in public_names():
                        known[alias.asname or alias.name] = public_names()[alias.name]
        for node in ast.walk(tree):
            if isinstance(node, ast.Name) and node.id in known:
                named[known[node.id]] += 1
        found[path] = imported, named
    return found


@cache
def importers():
    """Modules of the package that import each module, in whatever way."""
    found = {}
    for importer, path in [*modules().items()][1:]:
        text = path.read_text()
        names = re.findall(r"^from ([\w.]+) c?import (\w+)", text, re.M)
        if path.suffix == ".py":
            froms = [node for node in ast.walk(ast.parse(text)) if isinstance(node, ast.ImportFrom)]
            names = [(node.module, alias.name) for node in froms for alias in node.names]
        for name in dict.fromkeys(f"{a}.{b}" if f"{a}.{b}" in modules() else a for a, b in names):
            found.setdefault(name, []).append(importer)
    return found


def folder_of(room):
    """Test folder named like a room, if it exists."""
    folders = [TESTS / name for name in (room.strip("_"), f"on_{room}") if (TESTS / name).is_dir()]
    return folders[0] if folders else None


@cache
def tests_of(module):
    """Test files of a module, the closest first; without any, the closest of the modules that import it."""
    stem, own = module.rpartition(".")[2].strip("_"), folder_of(module.split(".")[1])
    called = [path for path in uses() if re.fullmatch(rf"test_{stem}s?(_\w+)?", path.stem)]
    called = [path for path in called if (path.parent == own if own else any(x[module] for x in uses()[path]))]
    called.sort(key=lambda path: path.stem not in (f"test_{stem}", f"test_{stem}s"))
    importing = [path for path, (imported, _) in uses().items() if module in imported]
    calling = sorted(uses(), key=lambda path: -uses()[path][1][module])[:MOST_FILES]
    found = [*called, *importing, *(path for path in calling if uses()[path][1][module])]
    for importer in importers().get(module, []) if not found else []:
        found += tests_of(importer)[:1]
    return [*dict.fromkeys(found)][: 2 * MOST_FILES]


def tests_of_room(room):
    """The folder of a room's tests; if it has the name of another room, the files closest to most of its modules."""
    if own := folder_of(room):
        return [own]
    inside = [module for module in modules() if module.split(".")[1:2] == [room]]
    closest = Counter(path for module in inside for path in tests_of(module)[:1])
    return sorted(path for path, _ in closest.most_common(2 * MOST_FILES))


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


def main():
    (given,) = sys.argv[1:]
    print("pytest -m fast", shell_words(tests_of(name_of(Path(given).resolve()))))


if __name__ == "__main__":
    main()
