"""What SQL says: which tables a query reads, at which offsets, and which columns come from which.

Import the modules themselves (`inference.infer`, `parsed_query.read_query`,
`declared_and_inferred.agree_with_queries`): this file imports none, so that a process whose queries were all analysed
before does not load a SQL parser.
"""
