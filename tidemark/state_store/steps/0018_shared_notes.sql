ALTER TABLE leases ADD COLUMN process VARCHAR NOT NULL DEFAULT '';
CREATE TABLE version_claims (
  claim VARCHAR NOT NULL,
  location VARCHAR NOT NULL,
  version BIGINT NOT NULL,
  who VARCHAR NOT NULL,
  process VARCHAR NOT NULL,
  until BIGINT NOT NULL,
  PRIMARY KEY (claim)
);
CREATE INDEX version_claims_by_location ON version_claims (location);
CREATE TABLE notes (
  kind VARCHAR NOT NULL,
  name VARCHAR NOT NULL,
  content VARCHAR NOT NULL,
  changed_at BIGINT NOT NULL,
  PRIMARY KEY (kind, name)
);
CREATE TABLE journal (
  kind VARCHAR NOT NULL,
  subject VARCHAR NOT NULL,
  number BIGINT NOT NULL,
  content VARCHAR NOT NULL,
  added_at BIGINT NOT NULL,
  PRIMARY KEY (kind, subject, number)
);
CREATE TABLE scan_counts (
  location VARCHAR NOT NULL,
  columns VARCHAR NOT NULL,
  day INTEGER NOT NULL,
  scans BIGINT NOT NULL,
  PRIMARY KEY (location, columns, day)
);
