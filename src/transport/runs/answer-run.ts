/** Answers with a run: its events as a stream, or its end as one envelope. */
import { concat, Observable } from 'rxjs';
import { z } from 'zod';
import { EngineError, shownMessage } from '../../errors.js';
import type { EventFrame } from '../../hosting/event-frame.js';
import type { StartedRun } from '../../hosting/start.js';
import type { Transcript } from '../../hosting/transcript.js';
import type { JsonObject } from '../../json.js';
import type { RunRecord } from '../../records/runs.js';
import type { Envelope } from '../envelope.js';
import { whenLeft } from '../http/client-left.js';
import { DONE, ragflowFrames, sendEventStream } from '../http/event-stream.js';
import type { HttpExchange } from '../http/route.js';
import type { ServerParts } from '../server-parts.js';
import { anyObject, string } from '../shapes.js';
import { usageShape } from './run-view.js';

/** The answer of a run to a client that does not stream. */
export const answerShape = z.looseObject({
  session_id: string,
  run_id: string,
  status: z.enum(['waiting', 'succeeded', 'failed', 'cancelled']),
  event: string
    .optional()
    .describe('Name of the event that it was made of: message_end, user_inputs, workflow_finished.'),
  message_id: string.optional(),
  task_id: string.optional(),
  created_at: z.number().int().optional().describe('Seconds since 1970.'),
  data: z
    .looseObject({
      content: string.describe('The whole text of the answer.'),
      reference: anyObject.describe('What it cites.'),
      structured: anyObject.optional(),
      trace: z.array(anyObject).optional().describe('With `return_trace`: what each node did.'),
      usage: usageShape.optional(),
      component_id: string.optional().describe('The component that ended the message.'),
      inputs: anyObject.optional().describe('Of the run, or the fields that it waits for.'),
      outputs: z.unknown().optional().describe('Of the last component.'),
      elapsed_time: z.number().optional().describe('Seconds.'),
      created_at: z.number().int().optional().describe('Seconds since 1970.'),
      tips: string.optional().describe('What the run asks for.'),
      cpn_id: string.optional().describe('The component that asks.'),
      forms: z.array(anyObject).optional().describe('The same for each component that asks.'),
    })
    .optional(),
});

/** Which frames of a run a client gets. */
export interface RunView {
  /** Number of the last event that the client has. @default 0 */
  readonly after?: number;
  /** Ids of runs whose events come first, whole. @default none */
  readonly before?: readonly string[];
  /** Whether the client gets every event by itself, however slow it is. @default false */
  readonly isExact?: boolean;
  /** The frames of an event as text; several, or none when the client does not get it. @default all events, RAGFlow's framing */
  readonly frames?: (frame: EventFrame) => readonly string[];
  /** The frames after the last event. @default `[DONE]` */
  readonly closing?: () => readonly string[];
}

const DONE_ONLY = (): readonly string[] => [DONE];

/** Answers with the events of a run: what was, then what comes, then the end mark. */
export function streamRun(exchange: HttpExchange, parts: ServerParts, run: string, view: RunView = {}): void {
  const { after = 0, before = [], isExact = false, frames = ragflowFrames, closing = DONE_ONLY } = view;
  const { host, config, logger } = parts;
  const { tenant } = exchange.state;
  let seq = after;
  const open = (ready$: Observable<boolean>): Observable<string> =>
    new Observable((subscriber) => {
      const show = (texts: readonly string[]): void => {
        for (let at = 0; at < texts.length; at += 1) subscriber.next(texts[at] as string);
      };
      parts.streams.count += 1;
      subscriber.add(() => {
        parts.streams.count -= 1;
      });
      const followed = before.map((earlier) => host.follow(tenant, earlier, { after: 0, ready$, isExact }));
      const frames$ = host.follow(tenant, run, { after, ready$, isExact });
      return (followed.length === 0 ? frames$ : concat(...followed, frames$)).subscribe({
        next: (frame) => {
          seq = frame.seq;
          show(frames(frame));
        },
        error: (error: unknown) => subscriber.error(error),
        complete: () => {
          show(closing());
          subscriber.complete();
        },
      });
    });
  exchange.set('X-Run-Id', run);
  sendEventStream(exchange, open, {
    pingMs: config.ssePingMs,
    slowMs: config.slowClientMs,
    whenCut: (reason) => {
      // Without a stack: at a stop there is one for each client, and nothing here is wrong.
      const why = EngineError.is(reason) ? { reason: reason.message } : { err: reason };
      logger.warn({ run, ...why, resumeAfter: seq }, 'a client was cut off; it can resume');
    },
  });
}

/** Streams a run, or waits for its end and gives the envelope. */
export async function answerWithRun(
  exchange: HttpExchange,
  parts: ServerParts,
  live: StartedRun,
  { streams, view }: { readonly streams: boolean; readonly view?: RunView },
): Promise<Envelope | undefined> {
  const { id } = live.identity;
  if (streams) {
    streamRun(exchange, parts, id, view);
    return undefined;
  }
  exchange.set('X-Run-Id', id);
  return answerOf(await awaitRun(exchange, live), live.transcript);
}

/** Whether a client asks for a stream by its headers. */
export function acceptsStream(exchange: HttpExchange): boolean {
  return exchange.accepts('json', 'text/event-stream') === 'text/event-stream';
}

/** Waits for the end of a run; while the caller waits too, it counts as a client of the run. */
export async function awaitRun(exchange: HttpExchange, live: StartedRun): Promise<RunRecord> {
  const presence = live.clients.attach();
  const forget = whenLeft(exchange, () => presence.unsubscribe());
  try {
    return await live.ended;
  } finally {
    forget();
    presence.unsubscribe();
  }
}

/**
 * The answer of a run to a client that does not stream.
 *
 * It looks like the end of the last message, else the form that the run waits with, else the end of the workflow; its data also has
 * the fields of the other two, so that usage and outputs are always there.
 */
export function answerOf(run: RunRecord, transcript: Transcript): Envelope {
  const { messageEnd, userInputs, finished, trace } = transcript;
  const ids = { session_id: run.sessionId, run_id: run.id, status: run.status };
  if (run.error !== undefined) return { code: 500, message: shownMessage(run.error), data: ids };
  const chosen = messageEnd ?? userInputs ?? finished;
  if (chosen === undefined) return { code: 0, data: ids };
  const data: JsonObject = {
    ...finished?.data,
    ...userInputs?.data,
    ...messageEnd?.data,
    content: transcript.content,
    reference: transcript.reference,
    ...(Object.keys(transcript.structured).length === 0 ? {} : { structured: transcript.structured }),
    ...(trace.length === 0 ? {} : { trace: traceOf(trace) }),
  };
  return { code: 0, data: { ...chosen, data, ...ids } };
}

/** What each node did, as RAGFlow lists it. */
export function traceOf(finished: readonly JsonObject[]): JsonObject[] {
  return finished.map((data) => ({ component_id: data.component_id ?? null, trace: [data] }));
}
