-- Everything that a service keeps. The tenant is the first part of every key that a client can name.
-- A record is kept as the JSON that it was given, because json, unlike jsonb, gives back every text exactly; the other columns of a
-- table repeat what is searched and sorted by. "search" holds texts in lower case, apart by character 1. Times are milliseconds
-- since 1970, as the service says them, but for leases and cancel requests, which live by the clock of the database.

create schema runnel;

create table runnel.migrations (
  number int primary key,
  name text not null,
  applied_at timestamptz not null default now()
);

create table runnel.agents (
  tenant text not null,
  id text not null,
  title text collate "C" not null,
  title_key text collate "C" not null,
  category text not null,
  canvas_type text,
  tags json not null,
  search text not null,
  created_at bigint not null,
  updated_at bigint not null,
  record json not null,
  constraint agents_pkey primary key (tenant, id),
  constraint agents_title_key unique (tenant, category, title_key)
);

create table runnel.versions (
  tenant text not null,
  agent text not null,
  id text not null,
  position bigint generated always as identity,
  created_at bigint not null,
  record json not null,
  constraint versions_pkey primary key (tenant, agent, id),
  constraint versions_agent_fkey foreign key (tenant, agent) references runnel.agents on delete cascade
);

-- Documents that sessions run: many sessions share one, so each is kept once, by its hash.
create table runnel.documents (
  tenant text not null,
  hash text collate "C" not null,
  dsl json not null,
  constraint documents_pkey primary key (tenant, hash)
);

create table runnel.sessions (
  tenant text not null,
  id text not null,
  agent text not null,
  document text collate "C" not null,
  name text collate "C" not null,
  user_id text not null,
  search text not null,
  created_at bigint not null,
  updated_at bigint not null,
  record json not null,
  constraint sessions_pkey primary key (tenant, id),
  constraint sessions_agent_fkey foreign key (tenant, agent) references runnel.agents on delete cascade,
  constraint sessions_document_fkey foreign key (tenant, document) references runnel.documents
);
create index sessions_agent on runnel.sessions (tenant, agent, updated_at);
create index sessions_document on runnel.sessions (tenant, document);

create table runnel.runs (
  tenant text not null,
  id text not null,
  agent text not null,
  session text not null,
  status text not null,
  started_at bigint not null,
  finished_at bigint,
  record json not null,
  constraint runs_pkey primary key (tenant, id),
  constraint runs_agent_fkey foreign key (tenant, agent) references runnel.agents on delete cascade
);
create index runs_agent on runnel.runs (tenant, agent, started_at);
create index runs_finished on runnel.runs (finished_at);

-- The events of a run, numbered without a gap: whoever adds moves last_seq first, which only one can.
create table runnel.logs (
  id bigint generated always as identity primary key,
  tenant text not null,
  run text not null,
  last_seq int not null,
  has_ended boolean not null default false,
  constraint logs_key unique (tenant, run),
  constraint logs_run_fkey foreign key (tenant, run) references runnel.runs on delete cascade
);

create table runnel.events (
  log bigint not null,
  seq int not null,
  name text not null,
  body json not null,
  constraint events_pkey primary key (log, seq),
  constraint events_log_fkey foreign key (log) references runnel.logs on delete cascade
);

-- States of a run: that of its first event and the newest one, from which the state behind any event is folded.
create table runnel.snapshots (
  log bigint not null,
  seq int not null,
  checkpoint json not null,
  constraint snapshots_pkey primary key (log, seq),
  constraint snapshots_log_fkey foreign key (log) references runnel.logs on delete cascade
);

create table runnel.leases (
  tenant text not null,
  name text collate "C" not null,
  owner text not null,
  expires_at timestamptz not null,
  data json not null,
  constraint leases_pkey primary key (tenant, name)
);
create index leases_expires_at on runnel.leases (expires_at);

create table runnel.cancels (
  task text primary key,
  requested_at timestamptz not null
);

-- The bytes of a file lie on disk, at "path" below the folder of files.
create table runnel.files (
  tenant text not null,
  id text not null,
  path text collate "C" not null,
  created_at bigint not null,
  size bigint not null,
  record json not null,
  constraint files_pkey primary key (tenant, id)
);
create index files_path on runnel.files (path);
create index files_created_at on runnel.files (created_at);
