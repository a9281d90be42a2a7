CREATE TABLE IF NOT EXISTS snapshots (
  entity VARCHAR NOT NULL,
  period VARCHAR NOT NULL,
  slice VARCHAR NOT NULL,
  version BIGINT NOT NULL,
  rows BIGINT NOT NULL,
  named_at VARCHAR NOT NULL,
  PRIMARY KEY (entity, period, slice)
);
