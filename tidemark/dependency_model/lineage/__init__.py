"""What SQL says: which tables a query reads, at which offsets, and which columns come of which.

Import the modules themselves (`inference.infer`, `query.read_query`, `agreement.agreed`): this file imports none, so
that a process whose queries were all analysed before does not load a SQL parser.
"""
