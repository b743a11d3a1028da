"""Write the files of this version, once, when it is released: ``python tests/saved``. Later versions must load them."""

import json
import sys
from pathlib import Path

from results import RESULTS, numbers_of

import sklearn_rank


def main():
    folder = Path(__file__).parent / sklearn_rank.__version__
    if folder.exists():
        sys.exit(f"The files of a version are written once. Got {folder}, which exists.")
    results = {name: make() for name, make in RESULTS.items()}
    text = json.dumps({name: numbers_of(result) for name, result in results.items()}, indent=1)
    folder.mkdir()
    for name, result in results.items():
        result.save(folder / f"{name}.npz")
    (folder / "numbers.json").write_text(text + "\n")
    print(f"{len(RESULTS)} files in {folder}")


if __name__ == "__main__":
    main()
