/** `runnel run`: one turn of a canvas in the terminal. */

import { existsSync } from 'node:fs';
import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { identity, lastValueFrom, tap } from 'rxjs';
import { type Canvas, loadCanvas } from '../canvas/load-canvas.js';
import { RagflowProjection } from '../canvas/ragflow-events.js';
import { runTurn, type Session, type Turn } from '../canvas/turn.js';
import type { Files, Services } from '../components/services.js';
import type { Document } from '../dsl/document.js';
import { EngineError } from '../errors.js';
import type { RunOutcome } from '../graph/run-options.js';
import { createId } from '../hosting/ids.js';
import { isJsonObject, type Json, type JsonObject, jsonExcess, parseJson } from '../json.js';
import { readSettings, unknownSettings } from '../settings/read-settings.js';
import { watchedBy } from '../telemetry/run-watch.js';
import { openTelemetry, readSdkPlan, type Telemetry } from '../telemetry/telemetry.js';
import { passThrough, readTraceContext } from '../trace-context.js';
import { type Command, EXIT, parse, readVersion } from './command.js';
import { type OpenServices, openServices, type ServiceSettings, timeoutsOf } from './open-services.js';
import { type Show, showAnswer, showEvents, showProgress } from './printers.js';
import { readSource } from './read-source.js';
import { Screen } from './screen.js';
import { readSession, type StoredSession, writeSession } from './session-file.js';
import type { Output, Terminal } from './terminal.js';

/** How long the command waits at its end for the last spans, in milliseconds. */
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
  --session FILE     stores the conversation in FILE, so that the next call continues it;
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
  const timeouts = timeoutsOf(settings.nodes);
  const [file = ''] = positionals;
  const canvas = loadCanvas(await readSource(file, terminal), { timeouts });
  const turn: Turn = {
    query: values.query ?? '',
    inputs,
    variables: parseVariables(values.env ?? [], canvas.document),
    ...(values.user === undefined ? {} : { userId: values.user }),
  };
  const stored = await readSession(values.session);
  const screen = new Screen(terminal);
  for (const problem of unknownSettings(terminal.env)) screen.remark(`warning: ${problem}`);
  for (const issue of canvas.issues) screen.remark(`warning: ${issue.path}: ${issue.message}`);
  const opened = await openRunServices(findModels(file, settings, terminal, screen), screen);
  const folder = path.join(settings.stores.dataDir, 'files');
  const services = { ...opened, files: createLocalFiles(folder, { write: (text) => screen.remark(text.trimEnd()) }) };
  const show = values.events === true ? showEvents(screen) : showAnswer(screen, values.session);
  const telemetry = await openTracing(terminal, screen);
  try {
    const played = await play({ canvas, turn, stored, services, telemetry, terminal, screen, show });
    const { session, outcome } = played;
    const isStored = outcome.status === 'succeeded' || outcome.status === 'waiting';
    if (values.session !== undefined && isStored) await writeSession(values.session, stored.id, session);
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
  readonly stored: StoredSession;
  readonly services: Services;
  readonly telemetry: Telemetry | undefined;
  readonly terminal: Terminal;
  readonly screen: Screen;
  readonly show: Show;
}

interface Played {
  readonly session: Session;
  readonly outcome: RunOutcome;
  /** The last node whose failure was not handled. */
  readonly failedNode: string | undefined;
}

/** Runs the turn to its end and prints it. */
async function play(what: Play): Promise<Played> {
  const { canvas, turn, stored, services, telemetry, terminal, screen, show } = what;
  const [run, messageId] = [createId(), createId()];
  let ended: { session: Session; outcome: RunOutcome } | undefined;
  let failedNode: string | undefined;
  let projection: RagflowProjection | undefined;
  const trace = readTraceContext({ traceparent: terminal.env.TRACEPARENT, tracestate: terminal.env.TRACESTATE });
  const watch = telemetry?.watch({ id: run, plan: canvas.plan, sessionId: stored.id, trace });
  const events$ = runTurn(canvas, turn, {
    run,
    signal: terminal.signal,
    services: { ...services, session: { id: stored.id }, trace: telemetry?.trace ?? passThrough(trace) },
    onSession: (session, outcome) => {
      ended = { session, outcome };
    },
    ...(stored.session === undefined ? {} : { session: stored.session }),
  });
  await lastValueFrom(
    events$.pipe(
      watch === undefined ? identity : watchedBy(watch),
      tap(showProgress(screen, canvas.plan)),
      tap((event) => {
        if (event.type === 'node-failed' && (event.then === 'run' || event.then === 'body')) failedNode = event.node;
      }),
      tap((event) => {
        projection ??= new RagflowProjection({
          plan: canvas.plan,
          messageId,
          sessionId: stored.id,
          startedAt: event.at,
        });
        show(event, projection);
      }),
    ),
    { defaultValue: undefined },
  );
  if (ended === undefined) throw new EngineError('INTERNAL', `Run "${run}" ended without an outcome.`);
  return { ...ended, failedNode };
}

/** Undefined, and nothing is loaded, without a collector of traces. */
async function openTracing({ env }: Terminal, screen: Screen): Promise<Telemetry | undefined> {
  if (readSdkPlan(env) === undefined) return undefined;
  const log = { warn: (_: object, message: string) => screen.remark(`warning: ${message}`) };
  const { texts: showsTexts } = readSettings(env, 'telemetry').telemetry;
  return openTelemetry(env, { version: await readVersion(), log, closeMs: LAST_SPANS_MS, showsTexts });
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
async function openRunServices({ settings, env }: ModelsSource, screen: Screen): Promise<OpenServices> {
  let isReported = false;
  const services = await openServices(settings, {
    env,
    onScriptedCall() {
      if (isReported || services.hasScript || !services.models.isScripted) return;
      isReported = true;
      screen.remark(
        'note: no model provider is configured (OPENAI_BASE_URL …), so the built-in scripted model answers',
      );
    },
  });
  return services;
}

function report({ outcome: { status, error }, failedNode }: Played, screen: Screen): number {
  screen.end();
  // Many messages name their node.
  const where = failedNode === undefined || error?.message.includes(`"${failedNode}"`) ? '' : `${failedNode}: `;
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

/**
 * The value of `--inputs`.
 *
 * @throws EngineError USAGE when it is no JSON object.
 */
function parseInputs(text: string): JsonObject {
  const value = parseJson(text);
  const excess = jsonExcess(text);
  if (excess !== undefined) throw new EngineError('USAGE', `--inputs ${excess}.`);
  if (value !== undefined && isJsonObject(value)) return value;
  throw new EngineError('USAGE', `--inputs takes a JSON object such as {"city": "Oslo"}; received ${text}`);
}

/**
 * The values of `--env`, under `env.NAME` and of the type that the document declares for the variable (text when it declares none).
 *
 * @throws EngineError USAGE for what is not NAME=VALUE, or a value of another type.
 */
function parseVariables(pairs: readonly string[], { variables }: Pick<Document, 'variables'>): JsonObject {
  const entries = pairs.map((pair): [string, Json] => {
    const at = pair.indexOf('=');
    if (at < 1) throw new EngineError('USAGE', `--env takes NAME=VALUE; received ${JSON.stringify(pair)}`);
    const name = pair.slice(0, at);
    const declared = Object.hasOwn(variables, name) ? variables[name] : undefined;
    const type = declared !== undefined && isJsonObject(declared) ? declared.type : undefined;
    return [`env.${name}`, valueOfType(typeof type === 'string' ? type : '', name, pair.slice(at + 1))];
  });
  return Object.fromEntries(entries);
}

function valueOfType(type: string, name: string, text: string): Json {
  const isOfType = TYPES.find(([prefix]) => type.trim().toLowerCase().startsWith(prefix))?.[1];
  if (isOfType === undefined) return text;
  const value = parseJson(text);
  if (value !== undefined && isOfType(value)) return value;
  throw new EngineError(
    'USAGE',
    `--env ${name} takes a value of type ${type}, as JSON; received ${JSON.stringify(text)}`,
  );
}

/** Declared types that are not text, by how their names begin (`array<string>` …). */
const TYPES: readonly (readonly [prefix: string, isOfType: (value: Json) => boolean])[] = [
  ['number', (value) => typeof value === 'number'],
  ['boolean', (value) => typeof value === 'boolean'],
  ['object', isJsonObject],
  ['array', Array.isArray],
];

const ID = /^[0-9a-f]{32}$/;

/**
 * Stores each file as `<folder>/<id>/<name>` and writes its path to `err`.
 *
 * Ids are ours alone, and only the last part of a name is used, so that no canvas can write or read anywhere else.
 */
function createLocalFiles(folder: string, err: Output): Files {
  return {
    async read(id) {
      if (!ID.test(id)) return undefined;
      const [name] = await readdir(path.join(folder, id)).catch(() => []);
      if (name === undefined) return undefined;
      const bytes = await readFile(path.join(folder, id, name));
      return { id, name, mimeType: 'application/octet-stream', bytes };
    },
    async save({ name, bytes }) {
      const id = createId();
      const place = path.join(folder, id);
      await mkdir(place, { recursive: true });
      const file = path.join(place, safeName(name));
      await writeFile(file, bytes);
      err.write(`file: ${file}\n`);
      return id;
    },
  };
}

function safeName(name: string): string {
  const last = path.basename(name.replaceAll('\\', '/')).replace(/\p{Cc}/gu, '');
  return last === '' || last === '.' || last === '..' ? 'file' : last.slice(0, 200);
}
