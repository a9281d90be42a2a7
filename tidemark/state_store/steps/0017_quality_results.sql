CREATE TABLE quality_results (
  entity VARCHAR NOT NULL,
  key $key_text NOT NULL,
  sub VARCHAR NOT NULL,
  rule VARCHAR NOT NULL,
  judged_at VARCHAR NOT NULL,
  severity VARCHAR NOT NULL,
  outcome VARCHAR NOT NULL,
  expected VARCHAR NOT NULL,
  reason VARCHAR NOT NULL,
  measured VARCHAR NOT NULL,
  rows BIGINT,
  version BIGINT,
  late_batch BIGINT NOT NULL,
  table_state VARCHAR NOT NULL,
  PRIMARY KEY (entity, key, sub, rule, judged_at)
);
CREATE INDEX quality_results_by_time ON quality_results (judged_at);
CREATE INDEX quality_results_by_version ON quality_results (entity, version);
