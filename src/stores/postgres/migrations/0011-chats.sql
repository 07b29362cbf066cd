-- Small values that processes change together, such as the breakers of models: a writer names the version that it has read.
create table runnel.shared_states (
  name text collate "C" not null,
  version bigint not null,
  state json not null,
  written_at timestamptz not null default clock_timestamp(),
  constraint shared_states_pkey primary key (name)
);

-- Sessions of chats: how far their messages are numbered, and what was said up to one of them, in short. The row is locked while messages are
-- numbered, so that none appears later below a position that was read already.
create table runnel.chat_threads (
  tenant text not null,
  session text collate "C" not null,
  last_position bigint not null default 0,
  through text collate "C",
  summary json,
  constraint chat_threads_pkey primary key (tenant, session)
);

create table runnel.chat_messages (
  tenant text not null,
  session text collate "C" not null,
  position bigint not null,
  id text collate "C" not null,
  record json not null,
  constraint chat_messages_pkey primary key (tenant, session, position),
  constraint chat_messages_key unique (tenant, session, id),
  constraint chat_messages_thread_fkey foreign key (tenant, session) references runnel.chat_threads on delete cascade
);
