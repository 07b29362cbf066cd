-- Counts of chunks by the keys of their documents: joined with a table of changes, of which no size is known, all documents of the tenant were read each time.
create or replace function runnel.count_chunks() returns trigger language plpgsql as $$
declare c record;
begin
  for c in
    select tenant, document, case tg_op when 'INSERT' then count(*) else -count(*) end as chunks,
      case tg_op when 'INSERT' then sum(tokens) else -sum(tokens) end as tokens
    from changed group by tenant, document order by tenant, document
  loop
    update runnel.knowledge_documents d set chunk_count = d.chunk_count + c.chunks, token_count = d.token_count + c.tokens
    where d.tenant = c.tenant and d.id = c.document;
  end loop;
  return null;
end $$;

create or replace function runnel.count_changed_chunks() returns trigger language plpgsql as $$
declare c record;
begin
  for c in
    select tenant, document, sum(tokens) as tokens from (
      select tenant, document, tokens from new_chunks union all select tenant, document, -tokens from old_chunks
    ) changed group by tenant, document having sum(tokens) <> 0 order by tenant, document
  loop
    update runnel.knowledge_documents d set token_count = d.token_count + c.tokens
    where d.tenant = c.tenant and d.id = c.document;
  end loop;
  return null;
end $$;
