"""One module for each command, with a click command of the same name. `tidemark.console.main` finds them by name."""
