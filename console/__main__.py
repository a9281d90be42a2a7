"""`python -m console` is `tidemark` where its script is not on the PATH."""

from console.main import main

main(prog_name="tidemark")
