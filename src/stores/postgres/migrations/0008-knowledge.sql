-- Knowledge bases. What was discarded is hidden at once and deleted piece by piece, so that no statement takes long.
create table runnel.knowledge_datasets (
  tenant text not null,
  id text collate "C" not null,
  position bigint generated always as identity,
  name text collate "C" not null,
  -- The name without regard to case; null once the dataset was discarded, so that the name is free.
  name_key text collate "C",
  source text collate "C",
  is_discarded boolean not null default false,
  created_at bigint not null,
  updated_at bigint not null,
  record json not null,
  constraint knowledge_datasets_pkey primary key (tenant, id),
  constraint knowledge_datasets_name_key unique (tenant, name_key)
);
create index on runnel.knowledge_datasets (tenant, created_at, position);
create index knowledge_datasets_discarded on runnel.knowledge_datasets (tenant, id) where is_discarded;

create table runnel.knowledge_documents (
  tenant text not null,
  id text collate "C" not null,
  dataset text collate "C" not null,
  position bigint generated always as identity,
  name text collate "C" not null,
  name_key text collate "C",
  type text collate "C" not null,
  suffix text collate "C" not null,
  sha256 text collate "C" not null,
  size bigint not null,
  is_enabled boolean not null,
  is_discarded boolean not null default false,
  created_at bigint not null,
  updated_at bigint not null,
  run text collate "C" not null,
  progress float8 not null,
  progress_msg text not null,
  began_at bigint,
  duration_ms bigint not null,
  characters bigint not null,
  chunk_count bigint not null default 0,
  token_count bigint not null default 0,
  attempt int not null,
  queued_at timestamptz,
  claimed_by text,
  claimed_until timestamptz,
  -- Processes that have begun since a step was finished last.
  begun int not null default 0,
  record json not null,
  constraint knowledge_documents_pkey primary key (tenant, id),
  constraint knowledge_documents_dataset_fkey foreign key (tenant, dataset) references runnel.knowledge_datasets,
  constraint knowledge_documents_name_key unique (tenant, dataset, name_key)
) with (fillfactor = 70);
create index on runnel.knowledge_documents (tenant, dataset, created_at, position);
create index on runnel.knowledge_documents (tenant, sha256);
create index knowledge_documents_running on runnel.knowledge_documents (tenant, dataset, queued_at) where run = 'RUNNING';
create index knowledge_documents_discarded on runnel.knowledge_documents (tenant, id) where is_discarded;

create table runnel.knowledge_steps (
  tenant text not null,
  document text collate "C" not null,
  name text collate "C" not null,
  attempt int not null,
  step json not null,
  position bigint generated always as identity,
  constraint knowledge_steps_pkey primary key (tenant, document, name),
  constraint knowledge_steps_document_fkey foreign key (tenant, document) references runnel.knowledge_documents on delete cascade
);

create table runnel.knowledge_chunks (
  tenant text not null,
  id text collate "C" not null,
  document text collate "C" not null,
  index int not null,
  text text not null,
  tokens int not null,
  -- Where it stands, and what is set by users.
  place json not null,
  given json not null,
  -- What is searched beside the text, to see that it has changed.
  about text not null,
  is_available boolean not null,
  -- The attempt that it was made or found again by.
  attempt int not null,
  is_indexed boolean not null,
  updated_at bigint not null,
  constraint knowledge_chunks_pkey primary key (tenant, id),
  constraint knowledge_chunks_document_fkey foreign key (tenant, document) references runnel.knowledge_documents on delete cascade
);
create index on runnel.knowledge_chunks (tenant, document, index, id);

create table runnel.knowledge_vectors (
  tenant text not null,
  chunk text collate "C" not null,
  model text collate "C" not null,
  vector bytea not null,
  constraint knowledge_vectors_pkey primary key (tenant, chunk, model),
  constraint knowledge_vectors_chunk_fkey foreign key (tenant, chunk) references runnel.knowledge_chunks on delete cascade
);

create function runnel.count_chunks() returns trigger language plpgsql as $$
begin
  update runnel.knowledge_documents d set chunk_count = d.chunk_count + c.chunks, token_count = d.token_count + c.tokens
  from (
    select tenant, document, case tg_op when 'INSERT' then count(*) else -count(*) end as chunks,
      case tg_op when 'INSERT' then sum(tokens) else -sum(tokens) end as tokens
    from changed group by tenant, document
  ) c where d.tenant = c.tenant and d.id = c.document;
  return null;
end $$;
create trigger count_inserted after insert on runnel.knowledge_chunks referencing new table as changed
  for each statement execute function runnel.count_chunks();
create trigger count_deleted after delete on runnel.knowledge_chunks referencing old table as changed
  for each statement execute function runnel.count_chunks();

create function runnel.count_changed_chunks() returns trigger language plpgsql as $$
begin
  update runnel.knowledge_documents d set token_count = d.token_count + c.tokens
  from (
    select tenant, document, sum(tokens) as tokens from (
      select tenant, document, tokens from new_chunks union all select tenant, document, -tokens from old_chunks
    ) changed group by tenant, document having sum(tokens) <> 0
  ) c where d.tenant = c.tenant and d.id = c.document;
  return null;
end $$;
create trigger count_changed after update on runnel.knowledge_chunks
  referencing old table as old_chunks new table as new_chunks
  for each statement execute function runnel.count_changed_chunks();

-- Files of documents stay, however old they are.
alter table runnel.files add column is_kept boolean not null default false;
