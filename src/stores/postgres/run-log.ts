import { EngineError } from '../../errors.js';
import type { LoggedEvent, RunLog } from '../../graph/service-ports.js';
import type { Database, Statements } from './database.js';
import { GroupWriter } from './group-writer.js';

/** Events of one run that follow each other. */
interface Piece {
  readonly tenant: string;
  readonly run: string;
  readonly events: readonly LoggedEvent[];
}

/** What became of a piece. */
interface Outcome {
  /** Which one. */
  readonly at: number;
  readonly isWritten: boolean;
  readonly hasRun: boolean;
  /** The last number that was there before; null without a log. */
  readonly before: number | null;
}

/**
 * Events of runs in Postgres, written in groups that hold events of many runs.
 *
 * The numbers of a run have no gaps and no event has two writers: whoever adds moves the log's last number from the one before its
 * first event, in the same statement. The run must have been saved before.
 */
export function createPostgresRunLog(database: Database): RunLog {
  const writer = new GroupWriter<Piece>({
    write: (pieces) => writeGroup(database, pieces),
    bytesOf: ({ events }) => events.reduce((sum, { json }) => sum + json.length, 0),
  });
  return {
    async append(tenant, run, events) {
      if (events.length > 0) await writer.add({ tenant, run, events });
    },
    read(tenant, run, after, { maxEvents, maxBytes }) {
      return database.repeat(async (sql) => {
        const rows = await sql<(LoggedEvent | Record<keyof LoggedEvent, null>)[]>`
          select e.seq, e.name as event, e.body as json
          from runnel.logs l
          left join lateral (
            select * from (
              select seq, name, body::text as body, sum(octet_length(body::text)) over (order by seq) as bytes
              from (
                select seq, name, body from runnel.events
                where log = l.id and seq > ${after} order by seq limit ${maxEvents}
              ) few
            ) sized
            where bytes <= ${maxBytes} or seq = ${after + 1}
          ) e on true
          where l.tenant = ${tenant} and l.run = ${run}
          order by e.seq`;
        if (rows.length === 0) return undefined;
        return rows.filter((row): row is LoggedEvent => row.seq !== null).map(({ seq, event, json }) => ({ seq, event, json }));
      });
    },
    async end(tenant, run) {
      await database.repeat(
        (sql) => sql`update runnel.logs set has_ended = true where tenant = ${tenant} and run = ${run}`,
      );
    },
    async delete(tenant, run) {
      await database.repeat((sql) => sql`delete from runnel.logs where tenant = ${tenant} and run = ${run}`);
    },
  };
}

/** Writes what many runs said in one statement; gives for each piece what was wrong with it. */
async function writeGroup(database: Database, pieces: readonly Piece[]): Promise<readonly (EngineError | undefined)[]> {
  const { joined, indexOf } = joinPieces(pieces);
  const logs = joined.map(({ tenant, run, events }, at) => {
    return { at, tenant, run, first: events[0]?.seq, last: events.at(-1)?.seq };
  });
  // Events are JSON already and go into the list as they are.
  const events = joined.flatMap((piece, at) =>
    piece.events.map(({ seq, event, json }) => {
      return `{"at":${at},"seq":${seq},"name":${JSON.stringify(event)},"body":${json}}`;
    }),
  );
  let attempt = 0;
  const outcomes = await database.repeat(async (sql) => {
    attempt += 1;
    const rows = await insertPieces(sql, JSON.stringify(logs), `[${events.join(',')}]`);
    // After a lost connection, what does not follow may be what the attempt before has written.
    return attempt === 1 ? rows : Promise.all(rows.map((row) => recheck(sql, row, joined[row.at] as Piece)));
  });
  const problems = new Map(outcomes.map((outcome) => [outcome.at, problemOf(joined[outcome.at] as Piece, outcome)]));
  return pieces.map((piece, at) => {
    const index = indexOf[at];
    return index === undefined ? outOfOrder(piece, 'an event that is about to be written') : problems.get(index);
  });
}

/** Joins what one run said in several pieces; a piece that does not follow has no index. */
function joinPieces(pieces: readonly Piece[]): {
  readonly joined: readonly Piece[];
  readonly indexOf: readonly (number | undefined)[];
} {
  const joined: { tenant: string; run: string; events: LoggedEvent[] }[] = [];
  const byRun = new Map<string, number>();
  const indexOf = pieces.map(({ tenant, run, events }) => {
    const key = JSON.stringify([tenant, run]);
    const known = byRun.get(key);
    const target = known === undefined ? { tenant, run, events: [] } : (joined[known] as (typeof joined)[number]);
    let next = target.events.at(-1)?.seq ?? (events[0]?.seq as number) - 1;
    for (const { seq } of events) {
      next += 1;
      if (seq !== next) return undefined;
    }
    for (const event of events) target.events.push(event);
    if (known !== undefined) return known;
    byRun.set(key, joined.length);
    return joined.push(target) - 1;
  });
  return { joined, indexOf };
}

function insertPieces(sql: Statements, logs: string, events: string): Promise<readonly Outcome[]> {
  return sql<Outcome[]>`
    with pieces as (
      select * from json_to_recordset(${logs}::json) as p(at int, tenant text, run text, first int, last int)
    ), moved as (
      update runnel.logs l set last_seq = p.last from pieces p
      where l.tenant = p.tenant and l.run = p.run and l.last_seq = p.first - 1
      returning l.id, p.at
    ), made as (
      insert into runnel.logs (tenant, run, last_seq)
      select p.tenant, p.run, p.last from pieces p join runnel.runs r on r.tenant = p.tenant and r.id = p.run
      where p.first = 1
      on conflict (tenant, run) do nothing
      returning id, tenant, run
    ), opened as (
      select id, at from moved union all select m.id, p.at from made m join pieces p using (tenant, run)
    ), written as (
      insert into runnel.events (log, seq, name, body)
      select o.id, e.seq, e.name, e.body
      from json_to_recordset(${events}::json) as e(at int, seq int, name text, body json) join opened o on o.at = e.at
    )
    select p.at, o.id is not null as "isWritten", r.id is not null as "hasRun", l.last_seq as before
    from pieces p
    left join opened o on o.at = p.at
    left join runnel.runs r on r.tenant = p.tenant and r.id = p.run
    left join runnel.logs l on l.tenant = p.tenant and l.run = p.run`;
}

/** Takes a piece as written when that is what the log holds. */
async function recheck(sql: Statements, outcome: Outcome, { tenant, run, events }: Piece): Promise<Outcome> {
  if (outcome.isWritten || outcome.before === null) return outcome;
  const first = events[0]?.seq as number;
  const rows = await sql<{ json: string }[]>`
    select e.body::text as json from runnel.logs l join runnel.events e on e.log = l.id
    where l.tenant = ${tenant} and l.run = ${run} and e.seq between ${first} and ${first + events.length - 1}
    order by e.seq`;
  const isSame = rows.length === events.length && rows.every(({ json }, at) => json === events[at]?.json);
  return { ...outcome, isWritten: isSame };
}

function problemOf(piece: Piece, { isWritten, hasRun, before }: Outcome): EngineError | undefined {
  if (isWritten) return undefined;
  if (!hasRun) return new EngineError('NOT_FOUND', `There is no run "${piece.run}" to log events of.`);
  return outOfOrder(piece, `event ${before ?? 0}`);
}

function outOfOrder({ run, events }: Piece, what: string): EngineError {
  return new EngineError('INTERNAL', `Event ${events[0]?.seq} of run "${run}" does not follow ${what}.`);
}
