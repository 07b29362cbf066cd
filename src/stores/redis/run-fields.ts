/** A run as the hash `agent:run:{id}` has it: RAGFlow's fields for its own clients, and the whole record. */
import { z } from 'zod';
import type { ErrorCode } from '../../errors.js';
import type { RunUsage } from '../../graph/events.js';
import { NO_USAGE } from '../../graph/state.js';
import { isJsonObject } from '../../json.js';
import { type RunLaunch, type RunRecord, type RunStatus, runSchema } from '../../records/runs.js';
import { jsonText, readReply } from './read-reply.js';

/** RAGFlow's numbers, in their order. */
export const STATUS_NUMBERS: Readonly<Record<RunStatus, number>> = {
  running: 0,
  succeeded: 1,
  failed: 2,
  cancelled: 3,
  waiting: 4,
};

/** Version of `record`: it lacks what the hash has in fields of its own, and what is empty. A reader refuses newer ones. */
const FORMAT = 3;
/** Of these the first has a `record` that is whole, the second one that lacks no empty part. */
const OLD_FORMATS = [1, 2] as const;

/** Fields of a hash that {@link readRun} is given, in this order. */
export const READ_FIELDS = ['record', 'canvas_id', 'session_id', 'message_id', 'started_at'] as const;

// Loose, so that what another version of the same format adds is not lost when it is written again.
const recordSchema = runSchema.extend({ version: z.literal([...OLD_FORMATS, FORMAT]) }).loose();
const recordText = jsonText(z.looseObject({}));

/** Fields and values, one after another. @param before the record that it replaces, whose identity is written already */
export function fieldsOf(run: RunRecord, before?: RunRecord): readonly (string | number)[] {
  const fields: (string | number)[] = [
    ...(before === undefined ? identityOf(run) : []),
    ...['status', STATUS_NUMBERS[run.status]],
    ...['record', recordOf(run)],
  ];
  // Empty before and after, nearly always.
  if (before === undefined || before.status === 'waiting' || run.status === 'waiting') {
    fields.push('interrupt_id', run.status === 'waiting' ? run.messageId : '');
  }
  if (run.finishedAt !== undefined && run.status !== 'waiting') fields.push('finished_at', run.finishedAt);
  if (run.status === 'cancelled') fields.push('cancel_requested', 1);
  if (run.error !== undefined) fields.push('failure_reason', `${stageOf(run.error.code)}: ${run.error.message}`);
  return fields;
}

/** What {@link identityOf} has, and the id, which names the hash. */
const ELSEWHERE: readonly string[] = ['id', 'agentId', 'sessionId', 'messageId', 'startedAt'];

function recordOf(run: RunRecord): string {
  const record: Record<string, unknown> = { version: FORMAT };
  for (const field in run) if (!ELSEWHERE.includes(field)) record[field] = run[field as keyof RunRecord];
  if (isNone(run.usage)) delete record.usage;
  if (run.launch !== undefined) record.launch = launchOf(run.launch);
  // Half a character is nothing that a field can hold.
  if (!isWhole(run.sessionId)) record.sessionId = run.sessionId;
  if (!isWhole(run.messageId)) record.messageId = run.messageId;
  return JSON.stringify(record);
}

function isNone({ promptTokens, completionTokens, totalTokens, calls }: RunUsage): boolean {
  return promptTokens === 0 && completionTokens === 0 && totalTokens === 0 && calls === 0;
}

/** Parts of a launch that are left out, as the other ones of its turn, while they are empty. */
const EMPTY_LAUNCH = { isDetached: false, headers: {} };
const EMPTY_TURN = { inputs: {}, files: [], variables: {}, history: [] };

/** A launch without what is empty, which would be a sixth of what a start writes. */
function launchOf(launch: RunLaunch): object {
  const { isDetached, headers, turn, ...others } = launch;
  return {
    ...others,
    ...(isDetached && { isDetached }),
    ...(!isEmpty(headers) && { headers }),
    ...(turn !== undefined && { turn: turnOf(turn) }),
  };
}

function turnOf({ inputs, files, variables, history, ...others }: NonNullable<RunLaunch['turn']>): object {
  return {
    ...others,
    ...(!isEmpty(inputs) && { inputs }),
    ...(files.length > 0 && { files }),
    ...(!isEmpty(variables) && { variables }),
    ...(history.length > 0 && { history }),
  };
}

function isEmpty(given: object): boolean {
  for (const _ in given) return false;
  return true;
}

/** What every supported Node has, and the library of types that is used does not know yet. */
function isWhole(text: string): boolean {
  return (text as string & { readonly isWellFormed: () => boolean }).isWellFormed();
}

/** What stays the same in all records of a run. */
function identityOf(run: RunRecord): readonly (string | number)[] {
  return [
    ...['canvas_id', run.agentId],
    ...['session_id', run.sessionId],
    ...['message_id', run.messageId],
    ...['parent_run_id', run.parentRun ?? ''],
    ...['started_at', run.startedAt],
    ...(run.documentVersion === undefined ? [] : ['version', run.documentVersion]),
    ...(run.userId === undefined ? [] : ['user_id', run.userId]),
  ];
}

/** Reads the {@link READ_FIELDS} of a hash. @throws EngineError INTERNAL when they are of no known form. */
export function readRun(id: string, values: readonly (string | null)[]): RunRecord {
  const [text, agentId, sessionId, messageId, startedAt] = values;
  const what = `The record of run "${id}"`;
  const record = readReply(recordText, text, what);
  const fields = { id, agentId, sessionId, messageId, startedAt: Number(startedAt), usage: NO_USAGE };
  const { version: _, ...run } = readReply(recordSchema, { ...fields, ...record, ...launchIn(record) }, what);
  return run;
}

/** The launch of a record with what was left out of it. */
function launchIn({ launch }: Record<string, unknown>): object {
  if (!isJsonObject(launch)) return {};
  const { turn } = launch;
  return { launch: { ...EMPTY_LAUNCH, ...launch, ...(isJsonObject(turn) && { turn: { ...EMPTY_TURN, ...turn } }) } };
}

/** The stage at which a run failed, in RAGFlow's words. */
function stageOf(code: ErrorCode): string {
  if (code.startsWith('DOCUMENT_')) return 'decode';
  if (code.startsWith('FILE_')) return 'parse files';
  if (code.startsWith('PLAN_')) return 'compile';
  return 'invoke';
}
