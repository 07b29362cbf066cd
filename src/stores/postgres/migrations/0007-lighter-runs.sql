-- What a run costs the log of the database. Rows of events and snapshots are written in the statement that moves their log, so a trigger
-- that deletes them with it does what a foreign key did, without a look-up and a lock for every row. So do the logs of deleted runs.
create or replace function runnel.delete_of_log() returns trigger language plpgsql as $$
begin
  delete from runnel.events where log = old.id;
  delete from runnel.snapshots where log = old.id;
  return null;
end $$;
create or replace trigger logs_deleted after delete on runnel.logs for each row execute function runnel.delete_of_log();

create or replace function runnel.delete_of_run() returns trigger language plpgsql as $$
begin
  delete from runnel.logs where tenant = old.tenant and run = old.id;
  return null;
end $$;
create or replace trigger runs_deleted after delete on runnel.runs for each row execute function runnel.delete_of_run();

alter table runnel.events drop constraint if exists events_log_fkey;
alter table runnel.snapshots drop constraint if exists snapshots_log_fkey;
alter table runnel.logs drop constraint if exists logs_run_fkey;
-- Without those nothing looks for a log by its number.
alter table runnel.logs drop constraint if exists logs_pkey;

-- The first snapshot is part of the log, which is written at the same time.
alter table runnel.logs add column if not exists begins int, add column if not exists beginning json;
update runnel.logs l set begins = s.seq, beginning = s.checkpoint from (
  select distinct on (log) log, seq, checkpoint from runnel.snapshots order by log, seq
) s where s.log = l.id and l.begins is null;
delete from runnel.snapshots s using runnel.logs l where l.id = s.log and l.begins = s.seq;

-- There are as many leases as runs at work, and an index on the time would have each renewal write the other one anew, too.
drop index if exists runnel.leases_expires_at;

-- The end of a run changes no column of an index, so with room on its page it writes to none, and of its rows only what has changed.
create index if not exists runs_started_at_idx on runnel.runs (started_at);
drop index if exists runnel.runs_finished_at_idx;
create index if not exists sessions_tenant_agent_created_at_position_idx on runnel.sessions (tenant, agent, created_at, position);
drop index if exists runnel.sessions_tenant_agent_updated_at_position_idx;
alter table runnel.runs set (fillfactor = 60);
alter table runnel.sessions set (fillfactor = 40);
alter table runnel.logs set (fillfactor = 50);
