DROP INDEX snapshots_moved;
ALTER TABLE snapshots RENAME COLUMN named_at TO tagged_at;
ALTER TABLE snapshots RENAME COLUMN moved TO restatement;
ALTER TABLE snapshots RENAME COLUMN open_until TO late_until;
CREATE INDEX snapshots_restatement ON snapshots (restatement);
UPDATE cursors SET name = 'restatements' WHERE name = 'names moved';
