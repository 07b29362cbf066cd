-- Sessions are listed by how their last runs stand. The name of the last run is what stands before the last "/" of `writer`.
alter table runnel.sessions add column if not exists status text collate "C";
update runnel.sessions s set status = r.status from runnel.runs r
where s.status is null and r.tenant = s.tenant and r.id = regexp_replace(s.writer, '/[^/]*$', '');
