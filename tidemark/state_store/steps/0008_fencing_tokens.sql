ALTER TABLE leases RENAME COLUMN generation TO fencing_token;
UPDATE cursors SET name = 'restated snapshots' WHERE name = 'reopened snapshots';
