CREATE TABLE leases (
  name VARCHAR NOT NULL,
  holder VARCHAR NOT NULL,
  generation BIGINT NOT NULL,
  until BIGINT NOT NULL,
  wanted BOOLEAN NOT NULL,
  PRIMARY KEY (name)
);
