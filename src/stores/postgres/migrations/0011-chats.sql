-- Small values that processes change together, such as the breakers of models: a writer names the version that it has read.
create table runnel.shared_states (
  name text collate "C" not null,
  version bigint not null,
  state json not null,
  written_at timestamptz not null default clock_timestamp(),
  constraint shared_states_pkey primary key (name)
);
