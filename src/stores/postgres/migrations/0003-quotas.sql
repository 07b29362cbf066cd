-- How much each tenant stores of what has a quota, moved by triggers in the statement that stores or deletes it, whatever deletes it. Who wants
-- to store more locks the row first, so of two that want the last place one waits, and sees what the other has stored.
create table runnel.usage (
  tenant text not null,
  name text collate "C" not null,
  -- What the quota is for, such as an agent; empty where it is for the tenant.
  owner text not null default '',
  count bigint not null,
  bytes bigint not null default 0,
  constraint usage_pkey primary key (tenant, name, owner)
);

-- Files of callers who may be anyone have a quota of their own.
alter table runnel.files add column from_page boolean not null default false;

-- Files that expire are found by their time, so that they make room at once.
alter table runnel.files add column expires_at bigint;
update runnel.files set expires_at = (record ->> 'expiresAt')::float8::bigint where record ->> 'expiresAt' is not null;
create index files_expires_at on runnel.files (tenant, expires_at) where expires_at is not null;

create function runnel.count_agents() returns trigger language plpgsql as $$
begin
  insert into runnel.usage as u (tenant, name, count)
  select tenant, 'agents', case tg_op when 'INSERT' then count(*) else -count(*) end from changed group by tenant order by tenant
  on conflict (tenant, name, owner) do update set count = u.count + excluded.count;
  return null;
end $$;
create trigger count_inserted after insert on runnel.agents referencing new table as changed
  for each statement execute function runnel.count_agents();
create trigger count_deleted after delete on runnel.agents referencing old table as changed
  for each statement execute function runnel.count_agents();

create function runnel.count_tokens() returns trigger language plpgsql as $$
begin
  insert into runnel.usage as u (tenant, name, count)
  select tenant, 'tokens', case tg_op when 'INSERT' then count(*) else -count(*) end from changed group by tenant order by tenant
  on conflict (tenant, name, owner) do update set count = u.count + excluded.count;
  return null;
end $$;
create trigger count_inserted after insert on runnel.tokens referencing new table as changed
  for each statement execute function runnel.count_tokens();
create trigger count_deleted after delete on runnel.tokens referencing old table as changed
  for each statement execute function runnel.count_tokens();

create function runnel.count_versions() returns trigger language plpgsql as $$
begin
  insert into runnel.usage as u (tenant, name, owner, count)
  select tenant, 'versions', agent, case tg_op when 'INSERT' then count(*) else -count(*) end
  from changed group by tenant, agent order by tenant, agent
  on conflict (tenant, name, owner) do update set count = u.count + excluded.count;
  if tg_op = 'DELETE' then
    -- Agents come and go; a row of nothing would outlive its agent.
    delete from runnel.usage u using changed c
    where u.tenant = c.tenant and u.name = 'versions' and u.owner = c.agent and u.count = 0;
  end if;
  return null;
end $$;
create trigger count_inserted after insert on runnel.versions referencing new table as changed
  for each statement execute function runnel.count_versions();
create trigger count_deleted after delete on runnel.versions referencing old table as changed
  for each statement execute function runnel.count_versions();

create function runnel.count_files() returns trigger language plpgsql as $$
begin
  insert into runnel.usage as u (tenant, name, count, bytes)
  select tenant, counted.name,
    case tg_op when 'INSERT' then count(*) else -count(*) end,
    case tg_op when 'INSERT' then sum(size) else -sum(size) end
  from changed join (values ('files'), ('pageFiles')) as counted(name) on counted.name = 'files' or from_page
  group by tenant, counted.name order by tenant, counted.name
  on conflict (tenant, name, owner) do update set count = u.count + excluded.count, bytes = u.bytes + excluded.bytes;
  return null;
end $$;
create trigger count_inserted after insert on runnel.files referencing new table as changed
  for each statement execute function runnel.count_files();
create trigger count_deleted after delete on runnel.files referencing old table as changed
  for each statement execute function runnel.count_files();

create function runnel.count_replaced_files() returns trigger language plpgsql as $$
begin
  insert into runnel.usage as u (tenant, name, count, bytes)
  select tenant, counted.name, sum(change), sum(change * size)
  from (
    select tenant, from_page, size, 1 as change from new_files union all
    select tenant, from_page, size, -1 from old_files
  ) changed join (values ('files'), ('pageFiles')) as counted(name) on counted.name = 'files' or from_page
  group by tenant, counted.name order by tenant, counted.name
  on conflict (tenant, name, owner) do update set count = u.count + excluded.count, bytes = u.bytes + excluded.bytes;
  return null;
end $$;
create trigger count_replaced after update on runnel.files referencing old table as old_files new table as new_files
  for each statement execute function runnel.count_replaced_files();

-- What is stored already.
insert into runnel.usage (tenant, name, owner, count, bytes)
select tenant, 'agents', '', count(*), 0 from runnel.agents group by tenant
union all
select tenant, 'tokens', '', count(*), 0 from runnel.tokens group by tenant
union all
select tenant, 'versions', agent, count(*), 0 from runnel.versions group by tenant, agent
union all
select tenant, 'files', '', count(*), sum(size) from runnel.files group by tenant;
