-- Sessions of agents as logs. The row of a session is locked while entries are numbered, so that of several writers behind one number one
-- wins. Texts, not JSON: a text of JSON has every character that JSON has.
create table runnel.agent_sessions (
  tenant text not null,
  session text collate "C" not null,
  newest bigint not null,
  -- Grows with every change of a session of any tenant, so that pages of the list have a place to begin.
  change bigint not null,
  started_at float8 not null,
  changed_at float8 not null,
  constraint agent_sessions_pkey primary key (tenant, session)
);

create sequence runnel.agent_session_changes;

create index agent_sessions_by_change on runnel.agent_sessions (tenant, change desc);

create table runnel.agent_session_entries (
  tenant text not null,
  session text collate "C" not null,
  at bigint not null,
  -- Of the append that wrote it: one whose answer was lost finds out that it was done.
  batch uuid not null,
  entry text not null,
  constraint agent_session_entries_pkey primary key (tenant, session, at),
  constraint agent_session_entries_session_fkey foreign key (tenant, session)
    references runnel.agent_sessions (tenant, session) on delete cascade
);
