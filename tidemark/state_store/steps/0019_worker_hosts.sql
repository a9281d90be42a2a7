CREATE TABLE worker_hosts (
  name VARCHAR NOT NULL,
  identity VARCHAR NOT NULL,
  fencing_token BIGINT NOT NULL,
  slots INTEGER NOT NULL,
  pools VARCHAR NOT NULL,
  code VARCHAR NOT NULL,
  running INTEGER NOT NULL,
  joined_at BIGINT NOT NULL,
  seen_at BIGINT NOT NULL,
  until BIGINT NOT NULL,
  PRIMARY KEY (name)
);
CREATE TABLE worker_runs (
  run_id VARCHAR NOT NULL,
  code VARCHAR NOT NULL,
  asked_at BIGINT NOT NULL,
  host VARCHAR NOT NULL,
  fencing_token BIGINT NOT NULL,
  taken_at BIGINT NOT NULL,
  told_at BIGINT NOT NULL,
  stop_wanted BOOLEAN NOT NULL,
  lost_at BIGINT NOT NULL,
  ended_at BIGINT NOT NULL,
  PRIMARY KEY (run_id)
);
CREATE INDEX worker_runs_open ON worker_runs (asked_at) WHERE ended_at = 0;
