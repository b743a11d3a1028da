"""The process that `python tests/fuzz` starts after the build: libFuzzer, with branches of Python and of kernels."""

import sys
import warnings

import atheris
import targets

if __name__ == "__main__":
    warnings.simplefilter("ignore")
    with atheris.instrument_imports(include=["sklearn_rank"]):
        target = targets.load(sys.argv[1])
    command = f"{sys.executable} {sys.argv[0]} {sys.argv[1]}"  # libFuzzer runs it again to merge inputs
    atheris.Setup([command, *sys.argv[2:]], target)
    atheris.Fuzz()
