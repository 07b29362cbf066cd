/** Scripts in this process: WebAssembly interpreters in threads, with slots, spares and results. */
import { readFile } from 'node:fs/promises';
import { availableParallelism } from 'node:os';
import { EngineError } from '../../../errors.js';
import { jsonExcess, parseJson } from '../../../json.js';
import { fromAbortable } from '../../../operators/from-abortable.js';
import { invalidOption, requireObject } from '../../../operators/invalid-option.js';
import { createSlots } from '../../../threads/slots.js';
import { artifactType } from '../artifact-rules.js';
import type { CodeLanguage, CodeLimit, CodeRequest, CodeResult, CodeRunner } from '../code-runner.js';
import {
  createInterpreterPool,
  type Interpreter,
  type InterpreterPool,
  type JobEnd,
  startInterpreter,
} from './interpreter.js';
import type { WasmModule } from './messages.js';
import { loadPython, loadQuickJs } from './modules.js';

/** Limits of scripts that run inside the process. */
export interface EmbeddedRunnerOptions {
  /** Milliseconds that a script may run; 1 to 3,600,000. @default 10,000 */
  readonly timeoutMs?: number;
  /** Bytes of memory of an interpreter; 32 MiB to 2 GiB. @default 256 MiB */
  readonly maxMemoryBytes?: number;
  /** Scripts that run at once, at least 1; others wait. @default as many as there are cores, 2 to 8 */
  readonly maxActive?: number;
  /** Scripts that may wait. @default 1,000 */
  readonly maxWaiting?: number;
  /** Scripts of one tenant that may wait. @default 100 */
  readonly maxWaitingPerTenant?: number;
  /** Interpreters of each language that are kept ready once one was used; 0 for none. @default 1 */
  readonly maxSpares?: number;
  /** Milliseconds after which unused ones are closed. @default 60,000 */
  readonly idleMs?: number;
  /** Bytes that a script may print to stdout, and to stderr. @default 1 MiB */
  readonly maxOutputBytes?: number;
  /** Bytes that a result may have as JSON. @default 4 MiB */
  readonly maxResultBytes?: number;
}

/** Bytes of a script and of its arguments as JSON. */
const MAX_INPUT_BYTES = 16 * 1024 * 1024;
const MIB = 1024 * 1024;
/** Memory of an interpreter that its thread may still hold when it runs the next one. */
const MAX_KEPT_BYTES = 32 * MIB;

/**
 * Scripts that share one thread. Python's interpreter ends with its script; JavaScript's is fresh for each, in a thread
 * that stays.
 */
const MAX_JOBS: Readonly<Record<CodeLanguage, number>> = { python: 1, nodejs: 100 };

interface LanguageParts {
  readonly file: URL;
  readonly boot: URL;
  readonly load: (maxMemoryBytes: number) => Promise<WasmModule>;
}

const PARTS: Readonly<Record<CodeLanguage, LanguageParts>> = {
  python: {
    file: new URL('./python/python-thread', import.meta.url),
    boot: new URL('./python/boot.py', import.meta.url),
    load: loadPython,
  },
  nodejs: {
    file: new URL('./javascript/javascript-thread', import.meta.url),
    boot: new URL('./javascript/prelude.js', import.meta.url),
    load: loadQuickJs,
  },
};

/**
 * Runs Python (CPython 3.12 as WASI) and JavaScript (QuickJS), each script in an interpreter of its own.
 *
 * An interpreter has the imports that we give it and no others: a file system in memory with a folder `artifacts`, whose
 * files come back, a clock, random numbers; no files, sockets, processes or environment of the machine. Memory, time,
 * output, files and results have bounds. A script that is stopped, or takes too long, loses its thread. Nothing starts
 * before the first script. Tenants take turns: a free place goes to the one that has the fewest.
 *
 * @throws EngineError OPTION_INVALID.
 */
export function createEmbeddedRunner(options: EmbeddedRunnerOptions = {}): CodeRunner {
  requireObject('createEmbeddedRunner', 'options', options, 'an object');
  const { timeoutMs = 10_000, maxMemoryBytes = 256 * MIB, maxOutputBytes = MIB, maxResultBytes = 4 * MIB } = options;
  const { maxActive = usualActive(), maxWaiting = 1_000, maxWaitingPerTenant = 100 } = options;
  const { maxSpares = 1, idleMs = 60_000 } = options;
  check('timeoutMs', timeoutMs, 1, 3_600_000);
  check('maxMemoryBytes', maxMemoryBytes, 32 * MIB, 2048 * MIB);
  check('maxActive', maxActive, 1, 1_000);
  check('maxSpares', maxSpares, 0, 1_000);
  check('maxOutputBytes', maxOutputBytes, 1, 256 * MIB);
  check('maxResultBytes', maxResultBytes, 1, 64 * MIB);
  const slots = createSlots({
    maxActive,
    maxWaiting,
    maxWaitingPerTenant,
    waiting: (isTenant) => `scripts ${isTenant ? 'of this tenant ' : ''}wait to be run`,
    closed: () => new EngineError('SANDBOX_FAILED', 'The sandbox for code was closed.'),
  });
  const limits = { maxMemoryBytes, maxOutputBytes, maxResultBytes };
  const open = (language: CodeLanguage): InterpreterPool =>
    createInterpreterPool({
      start: starterOf(PARTS[language], limits),
      maxSpares,
      maxJobs: MAX_JOBS[language],
      idleMs,
    });
  const pools = { python: open('python'), nodejs: open('nodejs') };

  const close = async (): Promise<void> => {
    slots.close();
    await Promise.all([pools.python.close(), pools.nodejs.close()]);
  };
  const runnerOf = (tenant: string): CodeRunner => ({
    run: (request) =>
      fromAbortable(async (signal) => {
        const job = { source: request.source, argsJson: JSON.stringify(request.args) };
        checkInput(job.source.length + job.argsJson.length);
        const giveBack = await slots.take(signal, tenant);
        try {
          return await runIn(pools[request.language], job, timeOf(request, timeoutMs), signal);
        } finally {
          giveBack();
        }
      }),
    forTenant: runnerOf,
    close,
  });
  return runnerOf('');
}

function usualActive(): number {
  return Math.min(8, Math.max(2, availableParallelism()));
}

/** Starts interpreters of one compiled module; what could not be loaded is tried again by the next script. */
function starterOf(
  parts: LanguageParts,
  limits: Record<'maxMemoryBytes' | 'maxOutputBytes' | 'maxResultBytes', number>,
) {
  const loaded: { parts?: Promise<readonly [WasmModule, string]> } = {};
  return async (): Promise<Interpreter> => {
    loaded.parts ??= Promise.all([parts.load(limits.maxMemoryBytes), readFile(parts.boot, 'utf8')]);
    try {
      const [module, boot] = await loaded.parts;
      return startInterpreter({ ...limits, file: parts.file, module, boot });
    } catch (error) {
      delete loaded.parts;
      const why = error instanceof Error ? error.message : String(error);
      throw new EngineError('SANDBOX_FAILED', `The interpreter could not be loaded: ${why}.`, { cause: error });
    }
  };
}

async function runIn(
  pool: InterpreterPool,
  job: { readonly source: string; readonly argsJson: string },
  timeoutMs: number,
  signal: AbortSignal,
): Promise<CodeResult> {
  const interpreter = await pool.take();
  const stop = (): void => void interpreter.kill();
  signal.addEventListener('abort', stop, { once: true });
  let isSound = false;
  try {
    signal.throwIfAborted();
    const end = await interpreter.run(job, timeoutMs);
    isSound = isReusable(end);
    return resultOf(end, timeoutMs);
  } finally {
    signal.removeEventListener('abort', stop);
    if (isSound) pool.giveBack(interpreter);
    // Awaited, so that a slot is free only when its thread is gone.
    else await pool.discard(interpreter);
  }
}

/** A thread is reused when its script ended by itself and did not grow its memory, which only the end of the thread frees. */
function isReusable({ report }: JobEnd): boolean {
  if (report === undefined || report.memoryBytes > MAX_KEPT_BYTES) return false;
  return report.ending.type === 'returned' || report.ending.type === 'raised';
}

function timeOf({ timeoutMs }: CodeRequest, most: number): number {
  return timeoutMs === undefined || !(timeoutMs >= 1) ? most : Math.min(timeoutMs, most);
}

function checkInput(length: number): void {
  if (length <= MAX_INPUT_BYTES) return;
  throw new EngineError(
    'LIMIT_REACHED',
    `The script and its arguments have ${length} characters, of at most ${MAX_INPUT_BYTES}.`,
  );
}

function check(name: string, value: number, least: number, most: number): void {
  if (Number.isSafeInteger(value) && value >= least && value <= most) return;
  throw invalidOption('createEmbeddedRunner', name, `a whole number from ${least} to ${most}`, value);
}

/** Exit codes of the executor's contract for scripts that did not end by themselves. */
const EXIT_CODES: Readonly<Record<CodeLimit, number>> = { time: -124, memory: -137, output: -1 };

/** The result of a script in the terms of the executor's contract. */
function resultOf({ report, timeUsedMs, stdout, stderr }: JobEnd, timeoutMs: number): CodeResult {
  const base = {
    stdout,
    stderr,
    timeUsedMs: Math.round(10 * timeUsedMs) / 10,
    artifacts: [],
    ...(report && { memoryUsedKb: report.memoryBytes / 1024 }),
  };
  const exceeded = (limit: CodeLimit, detail: string): CodeResult => {
    return { ...base, status: 'resource_limit_exceeded', exitCode: EXIT_CODES[limit], limit, detail };
  };
  const failed = (why: string, exitCode = 1): CodeResult => {
    return { ...base, status: 'program_error', exitCode, stderr: append(stderr, why) };
  };
  if (report === undefined) return exceeded('time', `the script ran longer than ${timeoutMs / 1000} seconds`);
  const { ending } = report;
  if (ending.type === 'limit') return exceeded(ending.limit, LIMITS[ending.limit]);
  if (ending.type === 'crashed') {
    // A trap of the interpreter: nearly always its stack, used up by recursion.
    const detail = `the interpreter stopped (${ending.text})`;
    return { ...failed(detail, -1), detail };
  }
  if (ending.type === 'raised') return ending.isMemory ? exceeded('memory', LIMITS.memory) : failed(ending.text);
  if (ending.type === 'exited' && ending.code !== 0) return failed(`Exit code ${ending.code}`, ending.code);
  const value = ending.type === 'returned' ? parseJson(ending.json) : undefined;
  if (ending.type === 'returned' && value === undefined) {
    return failed(`The result ${jsonExcess(ending.json) ?? 'is not valid JSON'}.`);
  }
  const artifacts = report.artifacts.map((file) => ({
    ...file,
    mimeType: artifactType(file.name) ?? 'application/octet-stream',
  }));
  return { ...base, status: 'success', exitCode: 0, artifacts, ...(value !== undefined && { result: { value } }) };
}

const LIMITS: Readonly<Record<CodeLimit, string>> = {
  time: 'the script ran too long',
  memory: 'the script needs more memory than it may have',
  output: 'the script printed or returned more than it may',
};

function append(text: string, more: string): string {
  return text === '' || text.endsWith('\n') ? `${text}${more}` : `${text}\n${more}`;
}
