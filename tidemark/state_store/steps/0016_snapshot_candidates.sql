CREATE TABLE snapshot_candidates (
  entity VARCHAR NOT NULL,
  period VARCHAR NOT NULL,
  slice VARCHAR NOT NULL,
  version BIGINT NOT NULL,
  rows BIGINT NOT NULL,
  tagged_at VARCHAR NOT NULL,
  generation INTEGER DEFAULT 1 NOT NULL,
  late_batch BIGINT DEFAULT 0 NOT NULL,
  restatement BIGINT DEFAULT 0 NOT NULL,
  late_until BIGINT DEFAULT 0 NOT NULL,
  verdict VARCHAR NOT NULL,
  why VARCHAR NOT NULL,
  PRIMARY KEY (entity, period, slice)
);
