-- Logs of agents' turns at work. The row of a turn is locked while its lines are stored, so that only the newest writer stores any.
create table runnel.agent_turn_logs (
  tenant text not null,
  session text collate "C" not null,
  turn text collate "C" not null,
  -- Number of the writer.
  epoch bigint not null,
  expires_at timestamptz not null,
  constraint agent_turn_logs_pkey primary key (tenant, session, turn)
);

create table runnel.agent_turn_lines (
  tenant text not null,
  session text collate "C" not null,
  turn text collate "C" not null,
  epoch bigint not null,
  at bigint not null,
  is_snapshot boolean not null,
  line text not null,
  constraint agent_turn_lines_pkey primary key (tenant, session, turn, epoch, at),
  constraint agent_turn_lines_turn_fkey foreign key (tenant, session, turn)
    references runnel.agent_turn_logs (tenant, session, turn) on delete cascade
);
