CREATE TABLE alerts (
  number $sequence NOT NULL,
  kind VARCHAR NOT NULL,
  cause VARCHAR NOT NULL,
  message VARCHAR NOT NULL,
  slices VARCHAR NOT NULL,
  raised_at BIGINT NOT NULL,
  recovered_at BIGINT NOT NULL,
  PRIMARY KEY (number)
);
CREATE UNIQUE INDEX alerts_open ON alerts (kind, cause) WHERE recovered_at = 0;
CREATE TABLE alert_deliveries (
  alert BIGINT NOT NULL,
  event VARCHAR NOT NULL,
  channel VARCHAR NOT NULL,
  state VARCHAR NOT NULL,
  attempts INTEGER NOT NULL,
  due_at BIGINT NOT NULL,
  problem VARCHAR NOT NULL,
  PRIMARY KEY (alert, event, channel)
);
CREATE INDEX alert_deliveries_due ON alert_deliveries (due_at) WHERE state = 'pending';
