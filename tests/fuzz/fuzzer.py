"""What `python tests/fuzz` runs beside its build: libFuzzer, with the branches of Python and of kernels."""

import sys
import warnings

import atheris
import targets

if __name__ == "__main__":
    warnings.simplefilter("ignore")
    with atheris.instrument_imports(include=["sklearn_rank"]):
        target = targets.load(sys.argv[1])
    command = f"{sys.executable} {sys.argv[0]} {sys.argv[1]}"  # which libFuzzer runs again where it merges
    atheris.Setup([command, *sys.argv[2:]], target)
    atheris.Fuzz()
