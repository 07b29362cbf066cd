-- What else a server keeps: keys that tenants made, found by digests so that how long a look-up takes says nothing about them; the engines
-- of tenants; and one id by which these stores are told from others that share the same leases.

create table runnel.tokens (
  tenant text not null,
  token_digest text collate "C" not null,
  beta_digest text collate "C" not null,
  position bigint generated always as identity,
  record json not null,
  constraint tokens_pkey primary key (token_digest),
  constraint tokens_beta_key unique (beta_digest)
);
create index tokens_tenant on runnel.tokens (tenant, position);

create table runnel.canvas_runtimes (
  tenant text primary key,
  runtime text not null
);

create table runnel.home (
  id text not null default gen_random_uuid()::text
);
insert into runnel.home default values;
