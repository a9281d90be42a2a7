"""Copies each instance's topic to one topic for each logical table, in the order of each physical table (B1).

Debezium's ByLogicalTableRouter, and Canal's `dynamicTopic` with `partitionHash`, also send a connector's tables to
logical topics. They suffice if only a table's own order matters. Tidemark keeps a whole instance, with heartbeats, in
one topic. Only that order shows how far every table of the instance is, and whether its binlog is complete. So this
package copies from that topic, exactly once.
"""
