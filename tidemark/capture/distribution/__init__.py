"""From one topic a database instance to one topic a logical table, in the order of each physical table (B1).

Debezium's ByLogicalTableRouter and Canal's `dynamicTopic` with `partitionHash` send a connector's tables to logical
topics by themselves, and serve where a table's order is all that one needs. Ours keep a whole instance in one topic,
heartbeats between changes, because only that order says how far every table of the instance is and whether its binlog
is whole; so the split is made behind it, once more and exactly once.
"""
