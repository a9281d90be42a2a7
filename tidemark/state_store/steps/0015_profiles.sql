CREATE TABLE profiles (
  entity VARCHAR NOT NULL,
  key $key_text NOT NULL,
  sub VARCHAR NOT NULL,
  measured_at BIGINT NOT NULL,
  version BIGINT NOT NULL,
  figures VARCHAR NOT NULL,
  sketches $bytes,
  history VARCHAR NOT NULL,
  anomalies VARCHAR NOT NULL,
  PRIMARY KEY (entity, key, sub)
);
CREATE INDEX profiles_by_age ON profiles (measured_at);
CREATE INDEX profiles_anomalous ON profiles (entity) WHERE anomalies <> '';
