-- What a run costs the log of the database. Rows of events and snapshots are written in the statement that moves their log, so a trigger
-- that deletes them with it does what a foreign key did, without a look-up and a lock for every row. So do the logs of deleted runs.
create function runnel.delete_of_log() returns trigger language plpgsql as $$
begin
  delete from runnel.events where log = old.id;
  delete from runnel.snapshots where log = old.id;
  return null;
end $$;
create trigger logs_deleted after delete on runnel.logs for each row execute function runnel.delete_of_log();

create function runnel.delete_of_run() returns trigger language plpgsql as $$
begin
  delete from runnel.logs where tenant = old.tenant and run = old.id;
  return null;
end $$;
create trigger runs_deleted after delete on runnel.runs for each row execute function runnel.delete_of_run();

alter table runnel.events drop constraint events_log_fkey;
alter table runnel.snapshots drop constraint snapshots_log_fkey;
alter table runnel.logs drop constraint logs_run_fkey;

-- There are as many leases as runs at work, and an index on the time would have each renewal write the other one anew, too.
drop index runnel.leases_expires_at;

-- The end of a run changes no column of an index, so with room on its page it writes to none.
create index if not exists runs_started_at_idx on runnel.runs (started_at);
drop index if exists runnel.runs_finished_at_idx;
alter table runnel.runs set (fillfactor = 60);
