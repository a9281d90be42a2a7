"""`python -m tests.components.chain.distribute capture distribute ...`: tidemark's command on the chain's tables."""

from __future__ import annotations

import sys

from tests.capture.distribution.members import main
from tests.components.chain.tables import sources

if __name__ == "__main__":
    main(sources(), sys.argv[1:])
