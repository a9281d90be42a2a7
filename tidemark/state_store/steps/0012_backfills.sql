CREATE TABLE backfills (
  number INTEGER NOT NULL,
  phase VARCHAR NOT NULL,
  who VARCHAR NOT NULL,
  why VARCHAR NOT NULL,
  asked VARCHAR NOT NULL,
  origin VARCHAR NOT NULL,
  revision INTEGER NOT NULL,
  planned_at BIGINT NOT NULL,
  changed_at BIGINT NOT NULL,
  PRIMARY KEY (number)
);
CREATE INDEX backfills_by_origin ON backfills (origin);
CREATE TABLE backfill_slices (
  number INTEGER NOT NULL,
  place INTEGER NOT NULL,
  entity VARCHAR NOT NULL,
  key VARCHAR NOT NULL,
  sub VARCHAR NOT NULL,
  wave INTEGER NOT NULL,
  policy VARCHAR NOT NULL,
  inputs VARCHAR NOT NULL,
  progress VARCHAR NOT NULL,
  why VARCHAR NOT NULL,
  PRIMARY KEY (number, place)
);
