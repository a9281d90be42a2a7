CREATE TABLE code_versions (
  code VARCHAR NOT NULL,
  entity VARCHAR NOT NULL,
  content VARCHAR NOT NULL,
  PRIMARY KEY (code, entity)
);
CREATE TABLE slice_codes (
  entity VARCHAR NOT NULL,
  key $key_text NOT NULL,
  sub VARCHAR NOT NULL,
  code VARCHAR NOT NULL,
  generation INTEGER NOT NULL,
  PRIMARY KEY (entity, key, sub)
);
CREATE INDEX slice_codes_by_code ON slice_codes (code);
