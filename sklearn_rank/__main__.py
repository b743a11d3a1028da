"""The command line: ``sklearn-rank`` and ``python -m sklearn_rank``."""

import sys

from sklearn_rank._cli import main

if __name__ == "__main__":
    sys.exit(main())
