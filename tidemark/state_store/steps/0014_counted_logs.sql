CREATE TABLE counted_logs (
  name VARCHAR NOT NULL,
  version BIGINT NOT NULL,
  stamp VARCHAR NOT NULL,
  PRIMARY KEY (name)
);
