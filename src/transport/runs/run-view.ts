import type { JsonObject } from '../../json.js';
import type { RunRecord } from '../../records/stores.js';

/** A run as the API shows it. Times are milliseconds since 1970. */
export function runView(run: RunRecord): JsonObject {
  return {
    id: run.id,
    run_id: run.id,
    agent_id: run.agentId,
    session_id: run.sessionId,
    message_id: run.messageId,
    parent_run_id: run.parentRun ?? null,
    forked_at: run.forkedAt ?? null,
    status: run.status,
    error: run.error === undefined ? null : { code: run.error.code, message: run.error.message },
    started_at: run.startedAt,
    finished_at: run.finishedAt ?? null,
    elapsed_time: run.finishedAt === undefined ? null : (run.finishedAt - run.startedAt) / 1000,
    usage: usageView(run.usage),
    last_event_id: run.lastSeq,
  };
}

/** Tokens and calls of models as the API shows them. */
export function usageView({ promptTokens, completionTokens, totalTokens, calls }: RunRecord['usage']): JsonObject {
  return {
    prompt_tokens: promptTokens,
    completion_tokens: completionTokens,
    total_tokens: totalTokens,
    calls,
  };
}
