"""`python -m tidemark.console` is `tidemark`, for a PATH without its script."""

from tidemark.console.main import main

main(prog_name="tidemark")
