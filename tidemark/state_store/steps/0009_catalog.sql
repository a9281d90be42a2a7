CREATE TABLE catalog_tables (
  entity VARCHAR NOT NULL,
  version BIGINT NOT NULL,
  stamp VARCHAR NOT NULL,
  table_id VARCHAR NOT NULL,
  committed_at BIGINT NOT NULL,
  rows BIGINT NOT NULL,
  bytes BIGINT NOT NULL,
  files BIGINT NOT NULL,
  vacuumed BIGINT NOT NULL,
  verified_at BIGINT NOT NULL,
  PRIMARY KEY (entity)
);
CREATE TABLE catalog_partitions (
  entity VARCHAR NOT NULL,
  key $key_text NOT NULL,
  sub VARCHAR NOT NULL,
  rows BIGINT NOT NULL,
  bytes BIGINT NOT NULL,
  files INTEGER NOT NULL,
  version BIGINT NOT NULL,
  is_suspect BOOLEAN NOT NULL,
  contents VARCHAR NOT NULL,
  PRIMARY KEY (entity, key, sub)
);
CREATE INDEX catalog_partitions_suspect ON catalog_partitions (entity) WHERE is_suspect;
CREATE TABLE catalog_schemas (
  entity VARCHAR NOT NULL,
  version BIGINT NOT NULL,
  changed_at BIGINT NOT NULL,
  columns VARCHAR NOT NULL,
  PRIMARY KEY (entity, version)
);
CREATE TABLE catalog_counts (
  entity VARCHAR NOT NULL,
  seq BIGINT NOT NULL,
  counts VARCHAR NOT NULL,
  PRIMARY KEY (entity)
);
