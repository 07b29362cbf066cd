import type { Column, Resource } from '../../records/repository.js';
import { RESOURCES } from '../../records/resources.js';
import type { RunCommit } from '../../records/run-commit.js';
import { FIRST_EPOCH } from '../../records/run-log.js';
import { writerColumn } from '../memory-repository.js';
import type { Statements } from './database.js';
import { storedValue } from './record-text.js';
import { SQL_TYPES } from './repository.js';

/** A commit with its texts. */
export interface RunEntry {
  readonly commit: RunCommit;
  /** The session without its document, and the hash of that. */
  readonly session: string | undefined;
  readonly document: string | undefined;
  readonly record: string | undefined;
  /** Of all batches: a line per event, its name and its JSON. */
  readonly lines: readonly string[];
  /** Number of the first event. */
  readonly first: number;
  /** Whether the numbers of the events rise by one, and every snapshot is one of the last event before it. */
  readonly isOrdered: boolean;
  /** Stored when the log begins with this entry. */
  readonly begins: SnapshotText | undefined;
  readonly newest: SnapshotText | undefined;
  readonly bytes: number;
}

/** A snapshot as it is stored. */
export interface SnapshotText {
  readonly seq: number;
  readonly text: string;
}

/** What became of an entry. */
export interface Outcome {
  /** Which one. */
  readonly at: number;
  readonly isDone: boolean;
  /** Whether its lease is its own, and its session had the expected writer. */
  readonly isAllowed: boolean;
  readonly hasRun: boolean;
  /** Number of the last event that was there before; null without a log. */
  readonly last: number | null;
  /** The newest epoch of the log; null without one. */
  readonly epoch: number | null;
}

/** Between texts: no JSON text has a control character. */
const SEPARATOR = '\u001e';

const sessions = partsOf('s', RESOURCES.sessions as unknown as Resource<unknown>);
const runs = partsOf('r', RESOURCES.runs as unknown as Resource<unknown>);

/** Pieces of a statement that stores records of a resource, whose columns have a prefix in the list of entries. */
function partsOf(prefix: string, { name, columns, writer }: Resource<unknown>) {
  const names = Object.keys(columns);
  const given = names.map((column) => `${prefix}_${column}`);
  return {
    /** Name and type of each column in the list. */
    fields: Object.fromEntries(
      given.map((field, at) => [field, SQL_TYPES[(columns[names[at] as string] as Column<unknown>).type]]),
    ),
    listed: names.join(', '),
    values: given.map((column) => `d.${column}`).join(', '),
    assigned: names.map((column, at) => `${column} = d.${given[at]}`).join(', '),
    writer: writerColumn({ name, ...(writer !== undefined && { writer }) }),
    columns: names.map((column, at) => [given[at] as string, columns[column] as Column<unknown>] as const),
  };
}

/**
 * What an entry of the list has, with types. What is absent is null, so an entry names only what it needs; in the list a name is a number in
 * base 36, because names would be a third of it.
 */
const FIELDS: Readonly<Record<string, string>> = {
  tenant: 'text',
  run: 'text',
  // Absent for the first one.
  epoch: 'int',
  first: 'int',
  last: 'int',
  ends: 'boolean',
  acquires: 'text',
  owner: 'text',
  data: 'json',
  ttl: 'float8',
  releases: 'text',
  releaser: 'text',
  session: 'text',
  // Absent for a session that is new.
  session_writer: 'text',
  document: 'text',
  session_text: 'int',
  // Absent for a run that is new.
  run_writer: 'text',
  run_text: 'int',
  events_text: 'int',
  begins: 'int',
  begins_text: 'int',
  newest: 'int',
  newest_text: 'int',
  ...sessions.fields,
  ...runs.fields,
};

/** The name of each field in the list. */
const SHORT = Object.fromEntries(Object.keys(FIELDS).map((name, at) => [name, at.toString(36)]));

/** A column of a record, and its name in the list: it is not looked up for each record. */
interface ListedColumn {
  readonly short: string;
  readonly column: Column<unknown>;
}

const SESSION_COLUMNS = listedOf(sessions.columns);
const RUN_COLUMNS = listedOf(runs.columns);

function listedOf(columns: typeof sessions.columns): readonly ListedColumn[] {
  return columns.map(([field, column]) => ({ short: SHORT[field] as string, column }));
}

/**
 * Stores what many runs did in one statement: `$1` is the list of entries, `$2` their JSON texts, to which the list refers by number. (In
 * the list itself, Postgres would read the characters in them that it cannot keep as a text of its own.)
 *
 * An entry is stored when its lease is free or its own, its session has the expected writer, its epoch is that of the log, and its first
 * event follows the log's last one, whose number moves in the same statement: so the numbers of a run have no gaps, and of two writers one
 * is refused. A snapshot without events must be one of the log's last event. Of the snapshots of a run the first and the newest stay, the first
 * one in the log. What an earlier attempt has inserted already is left as it is; should that attempt still be under way, a key is broken,
 * and the next attempt finds it.
 */
const STATEMENT = `
  with changes as materialized (
    select ${Object.keys(FIELDS)
      .filter((name) => name !== 'epoch')
      .join(', ')}, coalesce(epoch, ${FIRST_EPOCH}) as epoch, at::int
    from rows from (json_to_recordset($1::json) as (
      ${Object.entries(FIELDS)
        .map(([name, type]) => `"${SHORT[name]}" ${type}`)
        .join(', ')}
    )) with ordinality as c(${Object.keys(FIELDS).join(', ')}, at)
  ), texts as materialized (
    select t.text, t.at from unnest(string_to_array($2, U&'\\001E')) with ordinality as t(text, at)
  ), leased as (
    insert into runnel.leases as l (tenant, name, owner, data, expires_at)
    select tenant, acquires, owner, data, clock_timestamp() + ttl * interval '1 millisecond' from changes
    where acquires is not null
    on conflict (tenant, name) do update set
      owner = excluded.owner, data = excluded.data, expires_at = excluded.expires_at
    where l.owner = excluded.owner or l.expires_at <= clock_timestamp()
    returning l.tenant, l.name
  ), held as materialized (
    select c.at from runnel.sessions s join changes c on s.tenant = c.tenant and s.id = c.session
    where s.${sessions.writer} in (c.session_writer, c.s_${sessions.writer})
    for update of s
  ), allowed as materialized (
    select c.*, h.at is not null as has_session,
      (c.acquires is null or l.name is not null)
      and (c.session_writer is null or h.at is not null or c.ends is true) as is_allowed
    from changes c
    left join leased l on l.tenant = c.tenant and l.name = c.acquires
    left join held h on h.at = c.at
  ), moved as materialized (
    update runnel.logs l set last_seq = c.last, has_ended = c.ends is true, begins = coalesce(l.begins, c.begins, c.newest),
      beginning = case
        when l.begins is null then coalesce(b.text, n.text)::json
        when l.begins = c.newest then n.text::json
        else l.beginning
      end
    from allowed c left join texts b on b.at = c.begins_text left join texts n on n.at = c.newest_text
    where l.tenant = c.tenant and l.run = c.run and l.last_seq = c.first - 1 and l.epoch = c.epoch and c.is_allowed
    returning l.id, c.at, l.begins as begun
  ), made as materialized (
    insert into runnel.logs (tenant, run, last_seq, has_ended, begins, beginning)
    select tenant, run, last, ends is true, coalesce(begins, newest), t.text::json
    from allowed c left join texts t on t.at = coalesce(c.begins_text, c.newest_text)
    where first = 1 and epoch = ${FIRST_EPOCH} and is_allowed
    and not exists (select from runnel.logs l where l.tenant = c.tenant and l.run = c.run) and (
      run_text is not null
      -- Locked, because a run without a log can be deleted meanwhile.
      or exists (select from runnel.runs r where r.tenant = c.tenant and r.id = c.run for key share)
    )
    returning id, tenant, run, begins as begun
  ), done as materialized (
    select c.*, m.id as log, m.begun from allowed c join moved m using (at)
    union all
    select c.*, m.id, m.begun from allowed c join made m using (tenant, run) where c.epoch = ${FIRST_EPOCH}
    union all
    select c.*, null, null from allowed c where c.first is null and c.is_allowed
  ), added_events as (
    insert into runnel.events (log, first, last, body)
    select d.log, d.first, d.last, t.text from done d join texts t on t.at = d.events_text
  ), dropped_snapshots as (
    delete from runnel.snapshots s using done d where s.log = d.log and s.seq < d.newest
  ), taken as (
    insert into runnel.snapshots (log, seq, checkpoint)
    select d.log, d.newest, t.text::json from done d join texts t on t.at = d.newest_text where d.newest <> d.begun
    on conflict (log, seq) do update set checkpoint = excluded.checkpoint
  ), new_sessions as (
    insert into runnel.sessions (tenant, id, ${sessions.listed}, document, record)
    select d.tenant, d.session, ${sessions.values}, d.document, t.text::json
    from done d join texts t on t.at = d.session_text where d.session_writer is null
    and not exists (select from runnel.sessions s where s.tenant = d.tenant and s.id = d.session)
  ), changed_sessions as (
    update runnel.sessions s set ${sessions.assigned}, document = d.document, record = t.text::json
    from done d join texts t on t.at = d.session_text
    where d.has_session and s.tenant = d.tenant and s.id = d.session
  ), new_runs as (
    insert into runnel.runs (tenant, id, ${runs.listed}, record)
    select d.tenant, d.run, ${runs.values}, t.text::json
    from done d join texts t on t.at = d.run_text where d.run_writer is null
    and not exists (select from runnel.runs r where r.tenant = d.tenant and r.id = d.run)
  ), changed_runs as (
    update runnel.runs r set ${runs.assigned}, record = t.text::json
    from done d join texts t on t.at = d.run_text
    where r.tenant = d.tenant and r.id = d.run and r.${runs.writer} in (d.run_writer, d.r_${runs.writer})
  ), released as (
    delete from runnel.leases l using done d where l.tenant = d.tenant and l.name = d.releases and l.owner = d.releaser
  )
  select c.at - 1 as at, d.at is not null as "isDone", c.is_allowed as "isAllowed",
    d.at is not null or c.run_text is not null
      or exists (select from runnel.runs r where r.tenant = c.tenant and r.id = c.run) as "hasRun",
    l.last_seq as last, l.epoch
  from allowed c
  left join done d on d.at = c.at
  left join runnel.logs l on d.at is null and l.tenant = c.tenant and l.run = c.run`;

/** Stores entries of different runs in one statement; see {@link STATEMENT}. */
export function writeEntries(sql: Statements, entries: readonly RunEntry[]): Promise<readonly Outcome[]> {
  const texts: string[] = [];
  const place = (text: string): number => texts.push(text);
  const list = entries.map((entry) => rowOf(entry, place));
  return sql.unsafe<Outcome[]>(STATEMENT, [JSON.stringify(list), texts.join(SEPARATOR)], { prepare: true });
}

/** A row of the list. Its properties are set one by one: spreading them into each other costs a fifth of what a run allocates. */
type Row = Record<string, unknown>;

function set(row: Row, name: string, value: unknown): void {
  if (value !== null) row[SHORT[name] as string] = value;
}

/** @param place takes a text, and gives its number from 1 */
function rowOf({ commit, ...entry }: RunEntry, place: (text: string) => number): Row {
  const { lines, first, isOrdered, begins, newest } = entry;
  const { tenant, run, epoch = FIRST_EPOCH, acquire, session, record, isLast = false, release } = commit;
  const row: Row = {};
  set(row, 'tenant', tenant);
  set(row, 'run', run);
  if (epoch !== FIRST_EPOCH) set(row, 'epoch', epoch);
  if (isLast) set(row, 'ends', true);
  if (lines.length > 0 || newest !== undefined) {
    // No log is that short: what is out of order in itself is refused like what does not follow.
    set(row, 'first', isOrdered ? first : -1);
    set(row, 'last', first + lines.length - 1);
  }
  if (acquire !== undefined) {
    set(row, 'acquires', acquire.name);
    set(row, 'owner', acquire.owner);
    set(row, 'data', acquire.data);
    set(row, 'ttl', acquire.ttlMs);
  }
  if (release !== undefined) {
    set(row, 'releases', release.name);
    set(row, 'releaser', release.owner);
  }
  if (session !== undefined) {
    set(row, 'session', session.after.id);
    if (session.before !== undefined) {
      set(row, 'session_writer', RESOURCES.sessions.columns[sessions.writer]?.of(session.before));
    }
    set(row, 'document', entry.document);
    setColumns(row, SESSION_COLUMNS, session.after);
    set(row, 'session_text', place(entry.session as string));
  }
  if (record !== undefined) {
    if (record.before !== undefined) set(row, 'run_writer', RESOURCES.runs.columns[runs.writer]?.of(record.before));
    setColumns(row, RUN_COLUMNS, record.after);
    set(row, 'run_text', place(entry.record as string));
  }
  if (lines.length > 0) set(row, 'events_text', place(lines.join('\n')));
  if (begins !== undefined) {
    set(row, 'begins', begins.seq);
    set(row, 'begins_text', place(begins.text));
  }
  if (newest !== undefined) {
    set(row, 'newest', newest.seq);
    set(row, 'newest_text', place(newest.text));
  }
  return row;
}

function setColumns(row: Row, columns: readonly ListedColumn[], record: unknown): void {
  for (let at = 0; at < columns.length; at += 1) {
    const { short, column } = columns[at] as ListedColumn;
    const value = storedValue(column, record);
    if (value !== null) row[short] = value;
  }
}

/** Whether the log has the events of an entry. */
export async function isWritten(sql: Statements, { commit, lines, first }: RunEntry): Promise<boolean> {
  if (lines.length === 0) return false;
  const [row] = await sql<{ body: string }[]>`
    select e.body from runnel.logs l join runnel.events e on e.log = l.id
    where l.tenant = ${commit.tenant} and l.run = ${commit.run} and e.first = ${first}`;
  return row?.body === lines.join('\n');
}
