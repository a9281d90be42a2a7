"""The center that computes flows, after others were lost or came back: terms, and what each allows (C6)."""

from tidemark.dependency_model.failover.term import Permission, SeenTerm, Term, first_term, next_term, permission

__all__ = ["Permission", "SeenTerm", "Term", "first_term", "next_term", "permission"]
