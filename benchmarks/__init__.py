"""Figures, one module each: `python -m benchmarks NAME --json`. RESULTS.md keeps what was measured."""
