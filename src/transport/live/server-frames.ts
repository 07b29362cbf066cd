/** What the server sends on a live connection, as text. */

import type { EventFrame } from '../../hosting/event-frame.js';
import { escapeJson } from '../../json.js';
import type { RunRecord, RunStatus } from '../../records/runs.js';
import { failureOf } from '../envelope.js';
import type { RequestId } from './client-frames.js';

/** Unacknowledged events after which a client that acknowledges is left waiting; their bytes are bounded by what its socket takes. */
export const WINDOW = 256;

/** The same for a client that takes events in batches: some milliseconds of a fast one. */
export const BATCH_WINDOW = 8_192;

/** Seconds for which the events of an ended run can be counted on. */
export const RESUME_TTL_SECONDS = 600;

/** How a client reads the events of a run. */
export interface LiveView {
  /** Whether it gets every event by itself, however slow it is. */
  readonly isExact: boolean;
  /** Whether it has all earlier events, and fills in itself what they have. @default false */
  readonly isLean?: boolean;
  /** The JSON of an event; undefined when the view does not show it. */
  readonly show: (frame: EventFrame) => string | undefined;
}

/** How clients of agents read events. */
export const AGENT_VIEWS = {
  ragflow: { isExact: false, show: ({ ragflow }) => ragflow },
  engine: { isExact: true, show: ({ engine }) => engine },
} as const satisfies Record<string, LiveView>;

/** How clients read the engine's events that fill in themselves what earlier events have. */
export const LEAN_VIEW: LiveView = { isExact: true, isLean: true, show: ({ lean }) => lean };

/** What the server sends beside events. */
export type ServerFrame =
  | {
      type: 'ready';
      connection_id: string;
      /** Absent on connections that are for no agent. */
      agent_id?: string;
      heartbeat_s: number;
      window: number;
      resume_ttl_s: number;
    }
  | { type: 'accepted'; req: RequestId; run_id: string; session_id: string; message_id: string }
  | { type: 'attached'; req: RequestId; run_id: string; from_seq: number; status: RunStatus }
  /** An input is stored, and the agents of its run will be told. */
  | { type: 'kept'; req: RequestId; run_id: string; id: string }
  | { type: 'detached'; req: RequestId; run_id: string; seq: number }
  | { type: 'done'; run_id: string; session_id: string; seq: number; status: RunStatus }
  | { type: 'gap'; run_id: string; missing_from: number; missing_to: number }
  /** What a run came to, in place of events that are gone. */
  | {
      type: 'snapshot';
      run_id: string;
      content: string;
      reference: unknown;
      pending_inputs: unknown;
      status: RunStatus;
    }
  /** Runs of the tenant's agents may have changed; the lists of runs say how. */
  | { type: 'runs' }
  | { type: 'pong'; t: unknown; server_time: number }
  | {
      type: 'error';
      req?: RequestId;
      run_id?: string | undefined;
      code: number;
      message: string;
      data?: object;
      fatal: boolean;
    };

export function doneFrame({ id, sessionId, status }: RunRecord, seq: number): ServerFrame {
  return { type: 'done', run_id: id, session_id: sessionId, seq, status };
}

/** The refusal of a request, or the failure of a run. */
export function errorFrame(
  thrown: unknown,
  about: { readonly req?: RequestId; readonly run_id?: string },
): ServerFrame {
  const { code, message = '', data } = failureOf(thrown).body;
  const details = typeof data === 'object' && data !== null ? { data } : {};
  return { type: 'error', req: about.req, run_id: about.run_id, code, message, ...details, fatal: false };
}

/** The fields of one event. It is put in as it is: it was serialised once for all clients. Undefined when the view does not show it. */
export function eventFields(frame: EventFrame, view: LiveView): string | undefined {
  const { seq, fromSeq } = frame;
  const json = view.show(frame);
  if (json === undefined) return undefined;
  const from = fromSeq === undefined ? '' : `"from_seq":${fromSeq},`;
  return `${from}"seq":${seq},"event":${json}`;
}

/** A frame of one event, from its fields. */
export const eventFrame = (run: string, fields: string): string =>
  `{"type":"event","run_id":"${escapeJson(run)}",${fields}}`;

/** Why a live connection is closed. */
export const CLOSE = {
  normal: 1000,
  goingAway: 1001,
  internal: 1011,
  restart: 1012,
  tryLater: 1013,
  badFrame: 4400,
  unauthenticated: 4401,
  noAgent: 4404,
  authTimeout: 4408,
  tooSlow: 4429,
} as const;
