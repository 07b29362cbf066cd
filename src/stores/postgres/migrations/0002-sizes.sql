-- Bytes of records and documents, so that a list has a bound without reading them; and what lists give of a record that has a document. The
-- tables of a new database have these columns already. Summaries of older records are made when they are first listed: as JSON of any kind may
-- be in a record, also characters that Postgres cannot keep, no statement makes them here.
alter table runnel.documents add column if not exists bytes int generated always as (octet_length(dsl::text)) stored;
alter table runnel.agents add column if not exists bytes int generated always as (octet_length(record::text)) stored;
alter table runnel.versions add column if not exists bytes int generated always as (octet_length(record::text)) stored;
alter table runnel.sessions add column if not exists bytes int generated always as (octet_length(record::text)) stored;
alter table runnel.runs add column if not exists bytes int generated always as (octet_length(record::text)) stored;
alter table runnel.tokens add column if not exists bytes int generated always as (octet_length(record::text)) stored;
alter table runnel.canvas_runtimes add column if not exists bytes int generated always as (octet_length(record::text)) stored;
alter table runnel.agents add column if not exists summary json;
alter table runnel.versions add column if not exists summary json;
