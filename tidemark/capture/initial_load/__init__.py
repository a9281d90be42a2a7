"""The first load: rows that were there before their changes were captured, read while changes flow.

Debezium does the reading (incremental snapshots: chunk by chunk between two marks in the binlog, after the DBLog paper,
https://arxiv.org/abs/2010.12597): a row comes at a place of the topic where it is true, so records applied in the
topic's order are right throughout. What is ours is to ask for it, and to name no snapshot of a table that is not whole.
"""
