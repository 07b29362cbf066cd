/** A call of an agent's tool: one turn of a new session, from its arguments to its result. */
import { bufferTime, filter, fromEvent, lastValueFrom, map, type Observable, of, takeUntil } from 'rxjs';
import { type OfferedTool, offeredTools } from '../../components/offered-tools.js';
import { removeThinking } from '../../components/speaking/think-text.js';
import { EngineError, shownMessage } from '../../errors.js';
import { findAgentTool, formOf, requireArguments } from '../../hosting/agent-tools.js';
import type { EventFrame } from '../../hosting/event-frame.js';
import { createId } from '../../hosting/ids.js';
import type { StartedRun } from '../../hosting/start.js';
import { servicesOfTenant } from '../../hosting/tenant-services.js';
import { type Transcript, textOf } from '../../hosting/transcript.js';
import { isJsonObject, type Json, type JsonObject } from '../../json.js';
import type { RunRecord } from '../../records/runs.js';
import { readTraceContext } from '../../trace-context.js';
import { formQuestion } from '../runs/form-question.js';
import { readTurn } from '../runs/read-turn.js';
import type { ServerParts } from '../server-parts.js';
import type { CallToolResult } from './mcp-server-library.js';

/** One call. */
export interface AgentCall {
  readonly tenant: string;
  readonly tool: string;
  readonly args: JsonObject;
  /** Of the request: they say where the caller stands in a trace. */
  readonly headers: Readonly<Record<string, unknown>>;
  /** Cancels the run at once. */
  readonly signal: AbortSignal;
  /** Told how far the run is; absent: the caller did not ask. */
  readonly onProgress?: (progress: number, message: string) => void;
}

/** Milliseconds between two words about progress, and characters of one. */
const PROGRESS_MS = 100;
const MAX_PROGRESS = 2_000;

/**
 * Runs the published agent behind a tool and waits for its end.
 *
 * What the run says about itself, a failure or a question, is a result with `isError`. Rejects as `StartTurn` does, before
 * anything runs, and with NOT_FOUND for a name that is no tool.
 */
export async function callAgent(parts: ServerParts, call: AgentCall): Promise<CallToolResult> {
  const { tenant, tool, args, headers, signal, onProgress } = call;
  const agent = await findAgentTool(parts.stores.agents, tenant, tool);
  const offered = agent === undefined ? offeredTools.find(({ name }) => name === tool) : undefined;
  if (offered !== undefined) return callOffered(parts, offered, call);
  if (agent?.published === undefined) throw new EngineError('NOT_FOUND', `There is no tool ${JSON.stringify(tool)}.`);
  const form = formOf(agent.published.dsl);
  requireArguments(form, args);
  const inputs = Object.fromEntries(Object.entries(args).filter(([name]) => form.has(name)));
  const turn = readTurn({ query: args.query ?? '', inputs, release: true, name: tool }, headers);
  signal.throwIfAborted();
  const { live } = await parts.startTurn({ tenant, agentId: agent.id, fallback: 'published' }, turn);
  const presence = live.clients.attach();
  const stop = (): void => live.cancel();
  signal.addEventListener('abort', stop, { once: true });
  // It may have come while the run was started.
  if (signal.aborted) stop();
  if (onProgress !== undefined) presence.add(tellProgress(parts, tenant, live, onProgress));
  try {
    return resultOf(await live.ended, live.transcript);
  } finally {
    signal.removeEventListener('abort', stop);
    presence.unsubscribe();
  }
}

/** Arguments that do not fit are refused; what the tool says of itself, a failure too, is a result. */
async function callOffered(parts: ServerParts, tool: OfferedTool, call: AgentCall): Promise<CallToolResult> {
  const { tenant, args, headers, signal } = call;
  const services = servicesOfTenant(parts, tenant);
  const trace = readTraceContext(headers);
  try {
    const { text, outputs } = await lastValueFrom(
      tool.call(args, { services, key: createId(), trace, now: parts.now }).pipe(takeUntil(fromEvent(signal, 'abort'))),
    );
    const { json } = outputs;
    return { content: [{ type: 'text', text }], ...(isJsonObject(json) && { structuredContent: { ...json } }) };
  } catch (error) {
    signal.throwIfAborted();
    if (!EngineError.is(error) || error.code === 'TOOL_ARGUMENTS') throw error;
    return { content: [{ type: 'text', text: error.message }], isError: true };
  }
}

function tellProgress(
  { host, logger }: ServerParts,
  tenant: string,
  live: StartedRun,
  onProgress: (progress: number, message: string) => void,
) {
  let progress = 0;
  return progressOf(host.follow(tenant, live.identity.id, { after: 0, ready$: of(true) })).subscribe({
    next: (message) => {
      progress += 1;
      onProgress(progress, message);
    },
    error: (error: unknown) => logger.warn({ err: error, run: live.identity.id }, 'progress could not be told'),
  });
}

/** Names of nodes that start and the text of the answer; what comes within a short time is one message. */
function progressOf(frames$: Observable<EventFrame>): Observable<string> {
  return frames$.pipe(
    map(({ source, projection }) =>
      source.type === 'node-started' && source.resumed !== true && source.retractFrom === undefined
        ? `\n${projection.describe(source.node)?.name ?? source.node}\n`
        : textOf(source, projection),
    ),
    filter((words) => words !== ''),
    bufferTime(PROGRESS_MS),
    filter((words) => words.length > 0),
    map((words) => words.join('').trim().slice(-MAX_PROGRESS)),
  );
}

function resultOf(run: RunRecord, transcript: Transcript): CallToolResult {
  const { sessionId: session_id, id: run_id } = run;
  const _meta = { session_id, run_id };
  const failed = (text: string): CallToolResult => ({ content: [{ type: 'text', text }], isError: true, _meta });
  if (run.error !== undefined) return failed(shownMessage(run.error));
  if (run.status === 'cancelled') return failed('The run was cancelled.');
  if (run.status === 'waiting') return failed(questionOf(transcript.userInputs?.data ?? {}, run));
  const structuredContent = structuredOf(transcript);
  const said = removeThinking(transcript.content);
  const text = said === '' && structuredContent !== undefined ? JSON.stringify(structuredContent) : said;
  return { content: [{ type: 'text', text }], ...(structuredContent && { structuredContent }), _meta };
}

/** What one node gave, or what several gave by their ids. */
function structuredOf({ structured }: Transcript): Record<string, Json> | undefined {
  const all = Object.values(structured);
  if (all.length === 0) return undefined;
  return all.length === 1 && isJsonObject(all[0]) ? all[0] : { ...structured };
}

/** A form cannot be filled in through a tool: the reader continues with the session. */
function questionOf(form: JsonObject, { sessionId, agentId }: RunRecord): string {
  const body = `{"agent_id": "${agentId}", "session_id": "${sessionId}", "inputs": {…}}`;
  return formQuestion(form, `Go on with POST /api/v1/agents/chat/completions ${body}.`);
}
