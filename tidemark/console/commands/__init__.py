"""One module a command, each with a click command of the same name; `tidemark.console.main` finds them by name."""
