-- only postgresql
ALTER TABLE slices ALTER COLUMN key TYPE VARCHAR COLLATE "C";
CREATE INDEX slices_by_key ON slices (key);
CREATE INDEX slices_open ON slices (seq) WHERE (life IN ('waiting', 'ready', 'launched', 'running', 'failed') OR tainted);
CREATE TABLE schedules (
  entity VARCHAR NOT NULL,
  schedule VARCHAR NOT NULL,
  PRIMARY KEY (entity)
);
