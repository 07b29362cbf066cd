-- Graphs of datasets: what each chunk contributes by each layer. What is left of a chunk goes with it.
create table runnel.graph_contributions (
  tenant text not null,
  chunk text collate "C" not null,
  layer text collate "C" not null,
  version text collate "C" not null,
  -- Of the text that it was made of; it does not count once the chunk has another one.
  text_hash text collate "C" not null,
  body json not null,
  constraint graph_contributions_pkey primary key (tenant, chunk, layer),
  constraint graph_contributions_chunk_fkey foreign key (tenant, chunk) references runnel.knowledge_chunks on delete cascade
);

create table runnel.graph_notes (
  tenant text not null,
  dataset text collate "C" not null,
  kind text collate "C" not null,
  key text collate "C" not null,
  value json not null,
  constraint graph_notes_pkey primary key (tenant, dataset, kind, key),
  constraint graph_notes_dataset_fkey foreign key (tenant, dataset) references runnel.knowledge_datasets on delete cascade
);

create table runnel.graphs (
  tenant text not null,
  dataset text collate "C" not null,
  revision bigint not null default 0,
  build_id text collate "C",
  build_state text collate "C",
  build json,
  queued_at timestamptz,
  claimed_by text,
  claimed_until timestamptz,
  begun int not null default 0,
  constraint graphs_pkey primary key (tenant, dataset),
  constraint graphs_dataset_fkey foreign key (tenant, dataset) references runnel.knowledge_datasets on delete cascade
);
create index graphs_running on runnel.graphs (queued_at) where build_state = 'RUNNING';
