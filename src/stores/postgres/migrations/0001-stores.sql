-- What a service stores beside the resources of src/records, whose tables are made of their declarations. The tenant is the first part of
-- every key that a client can name. JSON is stored as it was given, because json, unlike jsonb, gives back every text exactly. Times are
-- milliseconds since 1970, as the service gives them, but for leases and cancel requests, which live by the clock of the database.

-- The events of a run, numbered without a gap: a writer moves last_seq first, which only one can, and only with the newest epoch.
create table runnel.logs (
  id bigint generated always as identity primary key,
  tenant text not null,
  run text not null,
  last_seq int not null,
  epoch int not null default 1,
  has_ended boolean not null default false,
  constraint logs_key unique (tenant, run),
  constraint logs_run_fkey foreign key (tenant, run) references runnel.runs on delete cascade
);

-- A row holds what was written at once, a line per event: its name, a space, its JSON, which has no line end.
create table runnel.events (
  log bigint not null,
  first int not null,
  last int not null,
  body text not null,
  constraint events_pkey primary key (log, first),
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

-- One id by which these stores are told from others that share the same leases.
create table runnel.home (
  id text not null default gen_random_uuid()::text
);
insert into runnel.home default values;
