-- Which part of a graph has changed: contributions are in one of 64 shards, by their document. The revision of a shard is raised in the transaction of the change; without a row it is 0.
create function runnel.graph_shard(document text) returns int language sql immutable strict parallel safe
as $$ select get_byte(decode(substr(md5(document), 1, 2), 'hex'), 0) & 63 $$;

create table runnel.graph_shards (
  tenant text not null,
  dataset text collate "C" not null,
  shard int not null,
  revision bigint not null,
  constraint graph_shards_pkey primary key (tenant, dataset, shard),
  constraint graph_shards_dataset_fkey foreign key (tenant, dataset) references runnel.knowledge_datasets on delete cascade
) with (fillfactor = 50);
create index knowledge_documents_shard on runnel.knowledge_documents (tenant, dataset, runnel.graph_shard(id), id);

-- Whether there is a graph is not asked: one that is begun at the same time would miss the change. What is discarded was raised then, for good.
create function runnel.raise_shard(of_tenant text, of_document text) returns void language sql as $$
  insert into runnel.graph_shards as h (tenant, dataset, shard, revision)
  select d.tenant, d.dataset, runnel.graph_shard(d.id), 1 from runnel.knowledge_documents d
  where d.tenant = of_tenant and d.id = of_document and not d.is_discarded
  on conflict (tenant, dataset, shard) do update set revision = h.revision + 1
$$;

create function runnel.raise_shard_of_document() returns trigger language plpgsql as $$
begin
  perform runnel.raise_shard(new.tenant, new.id);
  return null;
end $$;
create trigger shards_of_enabled after update of is_enabled on runnel.knowledge_documents for each row
  when (old.is_enabled is distinct from new.is_enabled) execute function runnel.raise_shard_of_document();

-- By row: chunks whose text is not the same have another id, unless a user wrote it, so that they are few.
create function runnel.raise_shard_of_chunk() returns trigger language plpgsql as $$
begin
  perform runnel.raise_shard(new.tenant, new.document);
  return null;
end $$;
create trigger shards_of_changed after update of text, is_available on runnel.knowledge_chunks for each row
  when (old.text is distinct from new.text or old.is_available is distinct from new.is_available)
  execute function runnel.raise_shard_of_chunk();

-- In the order of shards, and behind the count of chunks, which holds the documents: locks are taken in one order everywhere.
create function runnel.raise_shards_of_deleted() returns trigger language plpgsql as $$
declare c record;
begin
  for c in
    select tenant, document from changed group by tenant, document order by tenant, runnel.graph_shard(document), document
  loop
    perform runnel.raise_shard(c.tenant, c.document);
  end loop;
  return null;
end $$;
create trigger shards_of_deleted after delete on runnel.knowledge_chunks referencing old table as changed
  for each statement execute function runnel.raise_shards_of_deleted();
