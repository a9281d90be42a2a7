"""The initial load: rows from before the capture began, read while changes flow.

Debezium reads them by incremental snapshots: chunk by chunk between two marks in the binlog, after the DBLog paper
(https://arxiv.org/abs/2010.12597). Each row is at a place of the topic where it is true, so records applied in the
topic's order are always right. This package requests the load, and follows it so that no snapshot of an incomplete
table is tagged.
"""
