CREATE TABLE record_counts (
  name VARCHAR NOT NULL,
  minute BIGINT NOT NULL,
  side VARCHAR NOT NULL,
  part VARCHAR NOT NULL,
  records BIGINT NOT NULL,
  report BIGINT NOT NULL,
  PRIMARY KEY (name, minute, side, part)
);
CREATE INDEX record_counts_by_report ON record_counts (report);
