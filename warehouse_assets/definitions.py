"""The code location that workspace.yaml names: everything that is declared below this folder."""

from tidemark.dagster.code_location import definitions

__all__ = ["definitions"]
