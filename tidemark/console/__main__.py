"""`python -m tidemark.console` is `tidemark` where its script is not on the PATH."""

from tidemark.console.main import main

main(prog_name="tidemark")
