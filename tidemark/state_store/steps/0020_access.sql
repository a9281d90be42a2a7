CREATE TABLE access_tokens (
  id VARCHAR NOT NULL,
  name VARCHAR NOT NULL,
  scopes VARCHAR NOT NULL,
  digest VARCHAR NOT NULL,
  created_by VARCHAR NOT NULL,
  created_at BIGINT NOT NULL,
  expires_at BIGINT NOT NULL,
  revoked_at BIGINT NOT NULL,
  PRIMARY KEY (id)
);
CREATE TABLE audit_log (
  number $sequence NOT NULL,
  at BIGINT NOT NULL,
  who VARCHAR NOT NULL,
  source VARCHAR NOT NULL,
  action VARCHAR NOT NULL,
  subject VARCHAR NOT NULL,
  why VARCHAR NOT NULL,
  PRIMARY KEY (number)
);
CREATE INDEX audit_log_by_time ON audit_log (at);
