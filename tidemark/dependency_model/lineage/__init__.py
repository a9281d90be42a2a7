"""SQL analysis: the tables that a query reads, at which offsets, and the origin of its columns.

Import the modules themselves (`inference.infer`, `parsed_query.read_query`,
`declared_and_inferred.agree_with_queries`). This file imports none, so that a process with cached analyses does not
load a SQL parser.
"""
