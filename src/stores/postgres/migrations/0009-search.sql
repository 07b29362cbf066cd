-- Search indexes: byte strings in segments. Rows of a segment count from the commit that lists it.
create table runnel.search_indexes (
  tenant text not null,
  dataset text collate "C" not null,
  generation bigint not null,
  constraint search_indexes_pkey primary key (tenant, dataset)
);

create table runnel.search_segments (
  tenant text not null,
  dataset text collate "C" not null,
  segment text collate "C" not null,
  position bigint generated always as identity,
  -- One byte for each passage.
  flags bytea not null,
  constraint search_segments_pkey primary key (tenant, dataset, segment)
);

create table runnel.search_rows (
  tenant text not null,
  dataset text collate "C" not null,
  segment text collate "C" not null,
  kind text collate "C" not null,
  key text collate "C" not null,
  bytes bytea not null,
  constraint search_rows_pkey primary key (tenant, dataset, segment, kind, key)
);
-- What is in them cannot be made smaller, or is read too often to be unpacked each time.
alter table runnel.search_rows alter column bytes set storage external;
