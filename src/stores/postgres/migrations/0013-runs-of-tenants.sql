-- Runs of all agents of a tenant are listed, newest first, by what does not change in them.
alter table runnel.runs add column if not exists version text collate "C";
alter table runnel.runs add column if not exists user_id text collate "C";
alter table runnel.runs add column if not exists kind text collate "C";
create index if not exists runs_tenant_started_at_position_idx on runnel.runs (tenant, started_at, position);
