"""A continuous audit: compares each shard's rows at the source with the lake's, one key range after the other.

The audit assumes nothing about how changes arrive. Any fault in capture shows as two sets of rows that differ. The
audit must not report a row that is only still on its way. It works with offsets of the instance's topic, which has the
order of the binlog:

* `since`: capture has merged everything before this offset when the source is read.
* The source is read in one snapshot. The snapshot's position in the binlog (or the server's time) is known.
* The lake is read after capture has passed that position.

Suppose that the lake then has a row with an `_offset` before `since`. Capture merged no change of it from there on. If
the lake is right, the binlog has no such change either, and the row in the snapshot is the same as in the lake. If the
two rows differ, the lake is wrong.

A row that the lake does not have carries no offset. It was deleted in between, or it is missing; the topic's records
from `since` on show which. Rows with a newer `_offset` prove nothing and are compared in a later cycle. Statements that
change rows without row events change no `_offset`. So a row becomes a finding only if two consecutive looks find the
same difference.

Counts and checksums are compared first, in `BUCKETS` groups of a range. Rows are read only from groups that differ.
"""
