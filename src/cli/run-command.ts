/** `runnel run`: one turn of a canvas in the terminal. */

import { randomUUID } from 'node:crypto';
import { existsSync } from 'node:fs';
import path from 'node:path';
import { identity, lastValueFrom, tap } from 'rxjs';
import { type Canvas, loadCanvas } from '../canvas/load-canvas.js';
import { RagflowProjection } from '../canvas/ragflow-events.js';
import { runTurn, type Session, type Turn } from '../canvas/turn.js';
import type { Services } from '../components/services.js';
import { EngineError } from '../errors.js';
import type { RunOutcome } from '../graph/run-options.js';
import { createTimeoutResolver } from '../graph/timeouts.js';
import { passThrough, readTraceContext } from '../graph/trace-context.js';
import { readSettings } from '../settings/read-settings.js';
import { watchedBy } from '../telemetry/run-watch.js';
import type { Telemetry } from '../telemetry/telemetry.js';
import { readSdkPlan } from '../telemetry/telemetry.js';
import { type Command, EXIT, parse } from './command.js';
import { createLocalFiles } from './local-files.js';
import { type OpenServices, openServices, type ServiceSettings } from './open-services.js';
import { type Show, showAnswer, showEvents, showProgress } from './printers.js';
import { readSource } from './read-source.js';
import { parseInputs, parseVariables } from './run-inputs.js';
import { Screen } from './screen.js';
import { type KeptSession, readSession, writeSession } from './session-file.js';
import type { Terminal } from './terminal.js';

/** How long somebody at a terminal waits for the last spans, in milliseconds. */
const LAST_SPANS_MS = 1_000;

export const runCommand: Command = {
  usage:
    'run <canvas.json> [--query TEXT] [--inputs JSON] [--user ID] [--session FILE] [--env NAME=VALUE …] [--events]',
  summary: 'run a canvas once and print its answer as it comes',
  help: `  <canvas.json>      the canvas, version 1 or 2; "-" reads it from the standard input
  --query TEXT       what the user says
  --inputs JSON      values of Begin's fields, or answers to the form that the session waits at:
                     {"city": "Oslo"} or {"city": {"type": "line", "value": "Oslo"}}
  --user ID          id of the user (sys.user_id)
  --session FILE     keeps the conversation in FILE, so that the next call goes on with it;
                     a run that failed or was cancelled leaves FILE as it was
  --env NAME=VALUE   sets the variable env.NAME; may be repeated. A variable that the canvas declares as
                     number, boolean, object or array takes JSON
  --events           prints every event as one line of JSON instead of the answer

The answer goes to the standard output, everything else to the standard error. Ctrl-C cancels the run.
Models: OPENAI_BASE_URL and OPENAI_API_KEY, or RUNNEL_MODELS, or else a models.json beside the canvas; without them the
built-in scripted model answers with an echo.
Exit codes: 0 finished, 1 failed, 2 bad usage or invalid document, 3 waiting for user input, 130 interrupted.`,
  run,
};

async function run(args: readonly string[], terminal: Terminal): Promise<number> {
  const { values, positionals } = parse(
    runCommand,
    args,
    {
      query: { type: 'string' },
      inputs: { type: 'string' },
      user: { type: 'string' },
      session: { type: 'string' },
      env: { type: 'string', multiple: true },
      events: { type: 'boolean' },
    },
    { least: 1, most: 1 },
  );
  const inputs = values.inputs === undefined ? {} : parseInputs(values.inputs);
  const settings = readSettings(terminal.env, 'stores', 'models', 'nodes', 'tools');
  const timeouts = createTimeoutResolver({ environment: terminal.env });
  const [file = ''] = positionals;
  const canvas = loadCanvas(await readSource(file, terminal), { timeouts });
  const turn: Turn = {
    query: values.query ?? '',
    inputs,
    variables: parseVariables(values.env ?? [], canvas.document),
    ...(values.user === undefined ? {} : { userId: values.user }),
  };
  const kept = await readSession(values.session);
  const screen = new Screen(terminal);
  for (const issue of canvas.issues) screen.remark(`warning: ${issue.path}: ${issue.message}`);
  const talking = await openTalkingServices(findModels(file, settings, terminal, screen), screen);
  const folder = path.join(settings.stores.dataDir, 'files');
  const services = { ...talking, files: createLocalFiles(folder, { write: (text) => screen.remark(text.trimEnd()) }) };
  const show = values.events === true ? showEvents(screen) : showAnswer(screen, values.session);
  const telemetry = await openTracing(terminal, screen);
  try {
    const played = await play({ canvas, turn, kept, services, telemetry, terminal, screen, show });
    const { session, outcome } = played;
    const isKept = outcome.status === 'succeeded' || outcome.status === 'waiting';
    if (values.session !== undefined && isKept) await writeSession(values.session, kept.id, session);
    return report(played, screen);
  } finally {
    screen.end();
    await services.close();
    await telemetry?.close();
  }
}

interface Play {
  readonly canvas: Canvas;
  readonly turn: Turn;
  readonly kept: KeptSession;
  readonly services: Services;
  readonly telemetry: Telemetry | undefined;
  readonly terminal: Terminal;
  readonly screen: Screen;
  readonly show: Show;
}

interface Played {
  readonly session: Session;
  readonly outcome: RunOutcome;
  /** The node whose failure nothing handled last. */
  readonly failedNode: string | undefined;
}

/** Runs the turn to its end, showing it. */
async function play(what: Play): Promise<Played> {
  const { canvas, turn, kept, services, telemetry, terminal, screen, show } = what;
  const [run, messageId] = [newId(), newId()];
  let ended: { session: Session; outcome: RunOutcome } | undefined;
  let failedNode: string | undefined;
  let projection: RagflowProjection | undefined;
  const trace = readTraceContext({ traceparent: terminal.env.TRACEPARENT, tracestate: terminal.env.TRACESTATE });
  const watch = telemetry?.watch({ id: run, plan: canvas.plan, sessionId: kept.id, trace });
  const events$ = runTurn(canvas, turn, {
    run,
    signal: terminal.signal,
    services: { ...services, session: { id: kept.id }, trace: telemetry?.trace ?? passThrough(trace) },
    onSession: (session, outcome) => {
      ended = { session, outcome };
    },
    ...(kept.session === undefined ? {} : { session: kept.session }),
  });
  await lastValueFrom(
    events$.pipe(
      watch === undefined ? identity : watchedBy(watch),
      tap(showProgress(screen, canvas.plan)),
      tap((event) => {
        if (event.type === 'node-failed' && (event.then === 'run' || event.then === 'body')) failedNode = event.node;
      }),
      tap((event) => {
        projection ??= new RagflowProjection({ plan: canvas.plan, messageId, sessionId: kept.id, startedAt: event.at });
        show(event, projection);
      }),
    ),
    { defaultValue: undefined },
  );
  if (ended === undefined) throw new EngineError('INTERNAL', `Run "${run}" ended without an outcome.`);
  return { ...ended, failedNode };
}

/** Undefined, and nothing is loaded, unless somebody collects traces. */
async function openTracing({ env }: Terminal, screen: Screen): Promise<Telemetry | undefined> {
  if (readSdkPlan(env) === undefined) return undefined;
  const { openTelemetry } = await import('./open-telemetry.js');
  return openTelemetry(env, { warn: (_, message) => screen.remark(`warning: ${message}`) }, LAST_SPANS_MS);
}

/** A file of models, and the environment where it may look up keys. */
interface ModelsSource {
  readonly settings: ServiceSettings;
  readonly env: Terminal['env'] | undefined;
}

/**
 * Without `RUNNEL_MODELS`, a `models.json` beside the canvas applies. Such a file may come from anyone together with the canvas: it gets no
 * variables of the environment, as it could send a key to a server of its choice.
 */
function findModels(canvas: string, settings: ServiceSettings, { env }: Terminal, screen: Screen): ModelsSource {
  if (settings.models.modelsFile !== undefined || canvas === '-') return { settings, env };
  const modelsFile = path.join(path.dirname(canvas), 'models.json');
  if (!existsSync(modelsFile)) return { settings, env };
  screen.remark(`models: ${modelsFile}`);
  return { settings: { ...settings, models: { ...settings.models, modelsFile } }, env: undefined };
}

/** Services that report once when the built-in model answers because no provider is configured. */
async function openTalkingServices({ settings, env }: ModelsSource, screen: Screen): Promise<OpenServices> {
  let isSaid = false;
  const services = await openServices(settings, {
    env,
    onScriptedCall() {
      if (isSaid || services.hasScript || !services.models.isScripted) return;
      isSaid = true;
      screen.remark(
        'note: no model provider is configured (OPENAI_BASE_URL …), so the built-in scripted model answers',
      );
    },
  });
  return services;
}

function report({ outcome: { status, error }, failedNode }: Played, screen: Screen): number {
  screen.end();
  const where = failedNode === undefined ? '' : `${failedNode}: `;
  switch (status) {
    case 'succeeded':
      return EXIT.finished;
    case 'waiting':
      return EXIT.waiting;
    case 'cancelled':
      screen.remark('cancelled');
      return EXIT.interrupted;
    case 'failed':
      screen.remark(`error: ${where}${error?.message ?? 'the run failed'} [${error?.code ?? 'INTERNAL'}]`);
      return EXIT.failed;
  }
}

function newId(): string {
  return randomUUID().replaceAll('-', '');
}
