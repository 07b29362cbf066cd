/** The published canvases of a tenant as tools of runs: each call is a run of its plan within the run that calls. */
import { concatMap, defer, EMPTY, from, type Observable, of, throwError } from 'rxjs';
import { type ToolResult, toolResult } from '../adapters/tool-event.js';
import { runTurn } from '../canvas/turn.js';
import type { CanvasToolEvent, CanvasTools } from '../components/services.js';
import { removeThinking } from '../components/speaking/think-text.js';
import { EngineError, shownMessage } from '../errors.js';
import type { RunEvent } from '../graph/events.js';
import { isJsonObject, type Json, type JsonObject } from '../json.js';
import { type AgentStore, listAgentSummaries } from '../records/agents.js';
import { agentToolOf, findAgentTool, formOf, requireArguments } from './agent-tools.js';
import { type OpenCanvas, projectionOf } from './canvases.js';
import { Transcript } from './transcript.js';

/** What canvases are found and opened with. */
export interface CanvasToolsOptions {
  readonly agents: AgentStore;
  readonly openCanvas: OpenCanvas;
}

/** Canvases that are listed, those that were changed last. */
const MAX_LISTED = 64;
/** Agents that are looked at for them. */
const MAX_LOOKED = 500;

/** Makes them for a tenant. */
export function canvasToolsOf({ agents, openCanvas }: CanvasToolsOptions, tenant: string): CanvasTools {
  return {
    async list() {
      const newest = { offset: 0, limit: MAX_LOOKED, orderBy: 'updatedAt', descending: true } as const;
      const { items } = await listAgentSummaries(agents, tenant, newest);
      const published = items.filter((agent) => agent.published !== undefined).slice(0, MAX_LISTED);
      const found = await Promise.all(published.map(({ id }) => agents.find(tenant, id)));
      return found.flatMap((agent) =>
        agent?.published === undefined ? [] : [agentToolOf(agent, agent.published.dsl)],
      );
    },
    call: (name, args, context) =>
      defer(() => from(findAgentTool(agents, tenant, name))).pipe(
        concatMap((agent) => {
          if (agent?.published === undefined) return throwError(() => noCanvas(name));
          const { dsl } = agent.published;
          const form = formOf(dsl);
          requireArguments(form, args);
          const inputs = Object.fromEntries(Object.entries(args).filter(([field]) => form.has(field)));
          const canvas = openCanvas(dsl);
          const { token: key, services, now, random } = context;
          // It has no session, so nothing of it is remembered; and it calls no canvas, so none can call itself.
          const { chats: _, steers: __, canvases: ___, ...own } = services;
          const session = { id: key, agent: agent.id, isNew: true };
          const about = { messageId: key, sessionId: key, startedAt: now() };
          const transcript = new Transcript({ projection: projectionOf(about, canvas.plan), storesTrace: false });
          const turn = { query: args.query ?? '', inputs };
          return runTurn(canvas, turn, { services: { ...own, session }, run: key, now, random }).pipe(
            concatMap((event) => {
              transcript.add(event);
              return toolEvents(event, name, transcript);
            }),
          );
        }),
      ),
  };
}

function toolEvents(event: RunEvent, name: string, transcript: Transcript): Observable<CanvasToolEvent> {
  switch (event.type) {
    case 'node-usage': {
      const { promptTokens, completionTokens, totalTokens } = event;
      return of({ type: 'usage', promptTokens, completionTokens, totalTokens });
    }
    case 'run-settled':
      return of(resultOf(transcript));
    case 'run-failed': {
      const message = `Canvas "${name}" failed: ${shownMessage(event.error)}`;
      return throwError(() => new EngineError('TOOL_FAILED', message));
    }
    case 'run-interrupted':
      return throwError(() => new EngineError('TOOL_FAILED', `Canvas "${name}" asks its user, who is not there.`));
    default:
      return EMPTY;
  }
}

/** What the canvas said, else what its nodes gave as data; with what it cites. */
function resultOf({ content, structured, reference }: Transcript): ToolResult {
  const said = removeThinking(content);
  const all = Object.values(structured);
  const data: Json | undefined = all.length === 1 ? all[0] : all.length === 0 ? undefined : { ...structured };
  const text = said.trim() === '' && data !== undefined ? JSON.stringify(data) : said;
  const { chunks } = reference;
  const references = isJsonObject(chunks) ? { chunks: chunks as Record<string, JsonObject>, doc_aggs: {} } : undefined;
  return toolResult(text, { content: text }, references === undefined ? {} : { references });
}

function noCanvas(name: string): EngineError {
  return new EngineError('NOT_FOUND', `There is no published canvas "${name}" any more.`);
}
