"""What SQL says: which tables a query reads, at which offsets, and which columns come of which."""

from dependency_model.lineage.inference import Read, infer
from dependency_model.lineage.query import Query, read_query
from dependency_model.lineage.subject import Session, Subject

__all__ = ["Query", "Read", "Session", "Subject", "infer", "read_query"]
