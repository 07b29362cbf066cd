-- The messages of a session go with it, also when its agent is deleted or it is pruned.
create or replace function runnel.delete_chat_threads() returns trigger language plpgsql as $$
begin
  delete from runnel.chat_threads t using gone where t.tenant = gone.tenant and t.session = gone.id;
  return null;
end $$;

drop trigger if exists sessions_chat_threads on runnel.sessions;
create trigger sessions_chat_threads after delete on runnel.sessions
  referencing old table as gone for each statement execute function runnel.delete_chat_threads();
