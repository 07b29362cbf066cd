import type { Json } from '../../../json.js';
import { artifactType } from '../artifact-rules.js';
import type { CodeLimit, CodeResult } from '../code-runner.js';
import { isTooDeep, MAX_DEPTH } from '../json-depth.js';
import type { JobEnd } from './interpreter.js';

/** Exit codes of the executor's contract for what a script did not end by itself. */
const EXIT_CODES: Readonly<Record<CodeLimit, number>> = { time: -124, memory: -137, output: -1 };

/** What a script came to, in the words of the executor's contract. */
export function resultOf(end: JobEnd, timeoutMs: number): CodeResult {
  const { report, timeUsedMs, stdout, stderr } = end;
  const base = { stdout, timeUsedMs: Math.round(10 * timeUsedMs) / 10, artifacts: [] };
  if (report === undefined) {
    return { ...base, ...exceeded('time', stderr, `the script ran longer than ${timeoutMs / 1000} seconds`) };
  }
  const { ending, memoryBytes, artifacts } = report;
  const known = { ...base, memoryUsedKb: memoryBytes / 1024 };
  switch (ending.type) {
    case 'limit':
      return { ...known, ...exceeded(ending.limit, stderr, LIMITS[ending.limit]) };
    case 'crashed':
      return { ...known, ...crash(ending.text, stderr) };
    case 'raised':
      if (ending.isMemory) return { ...known, ...exceeded('memory', stderr, LIMITS.memory) };
      return { ...known, ...failure(append(stderr, ending.text), 1) };
    case 'exited':
      if (ending.code !== 0) return { ...known, ...failure(append(stderr, `Exit code ${ending.code}`), ending.code) };
      break;
    case 'returned':
      if (!isJson(ending.json)) return { ...known, ...failure(append(stderr, 'The result is not valid JSON.'), 1) };
      if (isTooDeep(ending.json)) {
        return { ...known, ...failure(append(stderr, `The result is nested deeper than ${MAX_DEPTH} levels.`), 1) };
      }
  }
  return {
    ...known,
    status: 'success',
    stderr,
    exitCode: 0,
    artifacts: artifacts.map((file) => ({ ...file, mimeType: artifactType(file.name) ?? 'application/octet-stream' })),
    ...(ending.type === 'returned' ? { result: { value: JSON.parse(ending.json) as Json } } : {}),
  };
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

const LIMITS: Readonly<Record<CodeLimit, string>> = {
  time: 'the script ran too long',
  memory: 'the script needs more memory than it may have',
  output: 'the script printed or returned more than it may',
};

function exceeded(limit: CodeLimit, stderr: string, detail: string) {
  return { status: 'resource_limit_exceeded', exitCode: EXIT_CODES[limit], limit, stderr, detail } as const;
}

/** A trap of the interpreter: nearly always its stack, used up by recursion. */
function crash(text: string, stderr: string) {
  const detail = `the interpreter stopped (${text})`;
  return { status: 'program_error', exitCode: -1, stderr: append(stderr, detail), detail } as const;
}

function failure(stderr: string, exitCode: number) {
  return { status: 'program_error', exitCode, stderr } as const;
}

function append(text: string, more: string): string {
  return text === '' || text.endsWith('\n') ? `${text}${more}` : `${text}\n${more}`;
}
