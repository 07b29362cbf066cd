/** A run as the hash `agent:run:{id}` has it: RAGFlow's fields for its own clients, and the whole record. */
import { z } from 'zod';
import type { ErrorCode } from '../../errors.js';
import { type RunRecord, type RunStatus, runSchema } from '../../records/runs.js';
import { jsonText, readReply } from './read-reply.js';

/** RAGFlow's numbers, in their order. */
export const STATUS_NUMBERS: Readonly<Record<RunStatus, number>> = {
  running: 0,
  succeeded: 1,
  failed: 2,
  cancelled: 3,
  waiting: 4,
};

/** Version of `record`; a reader refuses any other. */
const FORMAT = 1;

// Loose, so that what another version of the same format adds is not lost when it is written again.
const recordSchema = runSchema.extend({ version: z.literal(FORMAT) }).loose();

/** Fields and values, one after another. @param before the record that it replaces, whose identity is written already */
export function fieldsOf(run: RunRecord, before?: RunRecord): readonly (string | number)[] {
  const fields: (string | number)[] = [
    ...(before === undefined ? identityOf(run) : []),
    ...['status', STATUS_NUMBERS[run.status]],
    ...['interrupt_id', run.status === 'waiting' ? run.messageId : ''],
    ...['record', JSON.stringify({ version: FORMAT, ...run })],
  ];
  if (run.finishedAt !== undefined && run.status !== 'waiting') fields.push('finished_at', run.finishedAt);
  if (run.status === 'cancelled') fields.push('cancel_requested', 1);
  if (run.error !== undefined) fields.push('failure_reason', `${stageOf(run.error.code)}: ${run.error.message}`);
  return fields;
}

/** What stays the same in all records of a run. */
function identityOf(run: RunRecord): readonly (string | number)[] {
  return [
    ...['canvas_id', run.agentId],
    ...['session_id', run.sessionId],
    ...['message_id', run.messageId],
    ...['parent_run_id', run.parentRun ?? ''],
    ...['started_at', run.startedAt],
  ];
}

/** Reads the field `record`. @throws EngineError INTERNAL when it is of no known form. */
export function readRun(text: string): RunRecord {
  const { version: _, ...run } = readReply(jsonText(recordSchema), text, 'The record of a run');
  return run;
}

/** The stage at which a run failed, in RAGFlow's words. */
function stageOf(code: ErrorCode): string {
  if (code.startsWith('DOCUMENT_')) return 'decode';
  if (code.startsWith('FILE_')) return 'parse files';
  if (code.startsWith('PLAN_')) return 'compile';
  return 'invoke';
}
