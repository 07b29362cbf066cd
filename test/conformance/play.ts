import { lastValueFrom, tap } from 'rxjs';
import { createEgressClient } from '../../src/adapters/egress/egress-client.js';
import { checkCanvas } from '../../src/canvas/load-canvas.js';
import type { WireEvent } from '../../src/canvas/ragflow-events.js';
import { toWireEvents } from '../../src/canvas/ragflow-events.js';
import { runTurn, type Session, type Turn } from '../../src/canvas/turn.js';
import type { Registry } from '../../src/components/component.js';
import { readFileValue } from '../../src/components/file-inputs.js';
import type { Files, Services, StoredFile } from '../../src/components/services.js';
import type { RunEvent } from '../../src/graph/events.js';
import type { RunOutcome } from '../../src/graph/run-options.js';
import { createModels, type Models } from '../../src/models/router.js';
import { modelsFromEnvironment } from '../../src/settings/read-settings.js';
import {
  bytesOf,
  type ConformanceCase,
  type ModelCall,
  mimeTypeOf,
  type RunSpec,
  type RunTrace,
  replaceText,
  type Trace,
} from './case.js';
import { FIXTURE_ORIGIN, startFixtureServer } from './fixture-server.js';
import { NodeLedger } from './node-ledger.js';
import { createTrigger, traceOfEvents } from './wire-trace.js';

/** Milliseconds after which a run of a case counts as stuck; the slowest answer of the fixture server takes 2.5 s. */
const RUN_TIMEOUT_MS = 15_000;

export interface PlayOptions {
  /** Node types by name. @default the built-in ones */
  readonly registry?: Registry;
  /** Receives the events of each run of the case. */
  readonly listener?: (event: RunEvent, run: number) => void;
}

/** Everything of a case that its runs share. */
interface Stage {
  readonly services: Services;
  /** Model calls so far. */
  readonly calls: ModelCall[];
}

/** Plays all runs of a case through the public API, against a scripted model and, where the case uses HTTP, a real server. */
export async function playCase(given: ConformanceCase, options: PlayOptions = {}): Promise<Trace> {
  if (given.http === undefined) return playRuns(given, options);
  const server = await startFixtureServer(given.http);
  try {
    const { dsl, runs } = given;
    const trace = await playRuns({ ...given, ...replaceText({ dsl, runs }, FIXTURE_ORIGIN, server.origin) }, options);
    return replaceText(trace, server.origin, FIXTURE_ORIGIN);
  } finally {
    await server.close();
  }
}

async function playRuns(given: ConformanceCase, options: PlayOptions): Promise<Trace> {
  const { document, plan, issues } = checkCanvas(given.dsl, options);
  if (document === undefined || plan === undefined) {
    return { loadError: issues.map(({ path, message }) => `${path}: ${message}`).join('\n') };
  }
  const calls: ModelCall[] = [];
  const models = await scriptedModels(given, calls);
  try {
    const http = createEgressClient({ allowPrivateNetwork: true });
    const stage: Stage = { services: { models, http, files: filesOf(given) }, calls };
    const runs: RunTrace[] = [];
    let session: Session | undefined;
    for (const [at, spec] of given.runs.entries()) {
      const listener = (event: RunEvent) => options.listener?.(event, at);
      const played = await playRun({ document, plan, issues }, spec, session, { ...stage, listener });
      runs.push(played.trace);
      // A session must survive being stored.
      session = JSON.parse(JSON.stringify(played.session)) as Session;
    }
    return { runs };
  } finally {
    await models.close();
  }
}

async function playRun(
  canvas: Parameters<typeof runTurn>[0],
  spec: RunSpec,
  session: Session | undefined,
  { services, calls, listener }: Stage & { readonly listener: (event: RunEvent) => void },
): Promise<{ readonly trace: RunTrace; readonly session: Session }> {
  const abort = new AbortController();
  const shouldCancel = createTrigger(spec.cancel_after_event);
  const ledger = new NodeLedger();
  const events: WireEvent[] = [];
  const firstCall = calls.length;
  let end: { readonly session: Session; readonly outcome: RunOutcome } | undefined;
  const run$ = runTurn(canvas, await turnOf(spec, services), {
    services,
    signal: abort.signal,
    timeoutMs: RUN_TIMEOUT_MS,
    ...(session === undefined ? {} : { session }),
    onSession: (next, outcome) => {
      end = { session: next, outcome };
    },
  }).pipe(
    tap((event) => {
      ledger.take(event);
      listener(event);
    }),
    toWireEvents({ plan: canvas.plan, messageId: 'message', sessionId: 'session' }),
    tap((event) => {
      events.push(event);
      if (shouldCancel(event)) abort.abort();
    }),
  );
  await lastValueFrom(run$);
  if (end === undefined) throw new Error('the run ended without handing over its session');
  const trace: RunTrace = {
    outcome: OUTCOMES[end.outcome.status],
    ...traceOfEvents(events),
    nodes: ledger.trace(end.outcome),
    globals: globalsOf(end.session),
    model_calls: calls.slice(firstCall),
    ...(end.outcome.error === undefined ? {} : { error: end.outcome.error.message }),
  };
  return { trace, session: end.session };
}

const OUTCOMES = {
  succeeded: 'finished',
  waiting: 'waiting',
  failed: 'failed',
  cancelled: 'canceled',
} as const satisfies Record<RunOutcome['status'], RunTrace['outcome']>;

async function turnOf({ query, user_id, inputs, files = [] }: RunSpec, services: Services): Promise<Turn> {
  return {
    query,
    userId: user_id,
    ...(inputs === undefined ? {} : { inputs }),
    files: await Promise.all(files.map((file) => readFileValue(file, services))),
  };
}

function globalsOf({ variables }: Session): RunTrace['globals'] {
  const shown = Object.entries(variables).filter(
    ([key]) => (key.startsWith('sys.') || key.startsWith('env.')) && key !== 'sys.date',
  );
  return Object.fromEntries(shown);
}

/** One model for the whole case: its rules count through all runs. */
async function scriptedModels({ model }: ConformanceCase, calls: ModelCall[]): Promise<Models> {
  const configuration = await modelsFromEnvironment({ LLM_BASE_DELAY: '0' }, () => {
    throw new Error('no file is named');
  });
  return createModels(
    { ...configuration, script: model ?? undefined },
    {
      onScriptedCall: ({ system, messages, tools }) => calls.push({ system, messages: [...messages], tools }),
    },
  );
}

/** The files of a case, and what its components save. */
function filesOf({ files = [] }: ConformanceCase): Files {
  const stored = new Map<string, StoredFile>();
  for (const file of files) {
    stored.set(file.id, { id: file.id, name: file.name, mimeType: mimeTypeOf(file), bytes: bytesOf(file) });
  }
  return {
    read: async (id) => stored.get(id),
    save: async (file) => {
      const id = `saved-${stored.size}`;
      stored.set(id, { id, ...file });
      return id;
    },
  };
}
