"""A continuous audit: each shard's rows at the source against the lake's, by key range, for good.

Nothing is assumed of how changes come in: whatever rule fails, two sets of rows differ. So the audit must never call a
row different that is only on its way. What it knows, in offsets of the instance's topic, which has the order of the
binlog:

* `since`: before the source is read, capture has merged everything before this offset.
* The source is read in one snapshot; its place in the binlog is known (or the server's time).
* The lake is read once capture has passed that place.

Say a row is in the lake then with an `_offset` before `since`. No change of it was merged from `since` on, thus if the
lake is right there was none in the binlog, and the source's row in the snapshot, which lies between, is the lake's.
If they are not the same, the lake is wrong. A row that the lake does not have carries no offset: it was deleted in
between, or is missing; the topic's records from `since` on tell which. Rows with a newer `_offset` say nothing: they
are looked at in a later cycle. Statements that change rows without row events change no `_offset`: a row is a finding
only when two such looks, one after the other, find it in the same way.

Counts and checksums come first, of a range's rows in `BUCKETS` groups; only the rows of groups that differ are read.
"""
