"""`python -m tests.end_to_end.attack [--minutes 20] [--seed 1]`: ends with 1 where anything of it did harm."""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from pathlib import Path

from tests.end_to_end.attack.story import attack


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--minutes", type=float, default=20.0)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--folder", type=Path, help="keep everything there; default: a temporary one")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="tidemark-attack-", ignore_cleanup_errors=True) as temporary:
        report = attack(given.folder or Path(temporary), given.minutes * 60, given.seed)
    print(json.dumps(report.__dict__, indent=2))
    return 1 if report.problems else 0


if __name__ == "__main__":
    sys.exit(main())
