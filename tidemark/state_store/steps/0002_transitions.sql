CREATE TABLE transitions (
  seq $sequence NOT NULL,
  event_id VARCHAR NOT NULL,
  entity VARCHAR NOT NULL,
  key VARCHAR NOT NULL,
  sub VARCHAR NOT NULL,
  event VARCHAR NOT NULL,
  who VARCHAR NOT NULL,
  why VARCHAR NOT NULL,
  event_time BIGINT NOT NULL,
  record_time BIGINT NOT NULL,
  life VARCHAR NOT NULL,
  states VARCHAR NOT NULL,
  quality VARCHAR NOT NULL,
  issues VARCHAR NOT NULL,
  tainted BOOLEAN NOT NULL,
  generation INTEGER NOT NULL,
  run_id VARCHAR,
  cluster VARCHAR,
  row_count BIGINT,
  minimum VARCHAR,
  maximum VARCHAR,
  snapshot_id VARCHAR,
  batch_id VARCHAR,
  details VARCHAR,
  PRIMARY KEY (seq),
  UNIQUE (event_id)
);
CREATE INDEX transitions_of_slice ON transitions (entity, key, sub, seq);
CREATE TABLE slices (
  entity VARCHAR NOT NULL,
  key VARCHAR NOT NULL,
  sub VARCHAR NOT NULL,
  life VARCHAR NOT NULL,
  states VARCHAR NOT NULL,
  quality VARCHAR NOT NULL,
  issues VARCHAR NOT NULL,
  tainted BOOLEAN NOT NULL,
  generation INTEGER NOT NULL,
  seq BIGINT NOT NULL,
  run_id VARCHAR,
  cluster VARCHAR,
  PRIMARY KEY (entity, key, sub)
);
CREATE TABLE cursors (
  name VARCHAR NOT NULL,
  position VARCHAR NOT NULL,
  PRIMARY KEY (name)
);
