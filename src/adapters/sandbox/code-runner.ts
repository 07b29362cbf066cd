/** The port that runs code of an author or a model, whatever implements it. */

import type { Observable } from 'rxjs';
import type { Json, JsonObject } from '../../json.js';
import type { TraceContext } from '../../trace-context.js';

/** Languages by the names that the wire of executors uses. */
export type CodeLanguage = 'python' | 'nodejs';

/** One script with a function `main`. */
export interface CodeRequest {
  readonly language: CodeLanguage;
  readonly source: string;
  /** Arguments of `main`: keywords in Python, one object in JavaScript. */
  readonly args: JsonObject;
  /** Milliseconds that it may run; never more than the runner allows. @default that of the runner */
  readonly timeoutMs?: number;
  /** What a request to another machine passes on. @default nothing */
  readonly trace?: TraceContext;
}

/** How a script ended. Everything but `success` is a failure of the script or of where it ran. */
export const CODE_STATUSES = [
  'success',
  'program_error',
  'resource_limit_exceeded',
  'unauthorized_access',
  'program_runner_error',
] as const;
/** One of {@link CODE_STATUSES}. */
export type CodeStatus = (typeof CODE_STATUSES)[number];

/** What a script may exceed. */
export const CODE_LIMITS = ['time', 'memory', 'output'] as const;
/** What a script had too much of. */
export type CodeLimit = (typeof CODE_LIMITS)[number];

/** A file that a script left in `artifacts/`. */
export interface CodeArtifact {
  readonly name: string;
  readonly mimeType: string;
  readonly bytes: Uint8Array;
}

/** What came of a script. A script that fails is a result, too. */
export interface CodeResult {
  readonly status: CodeStatus;
  readonly stdout: string;
  readonly stderr: string;
  readonly exitCode: number;
  /** The runner's own message about a failure. */
  readonly detail?: string;
  readonly limit?: CodeLimit;
  /** What was tried without being allowed, such as `file_access`. */
  readonly unauthorized?: string;
  readonly timeUsedMs: number;
  readonly memoryUsedKb?: number;
  readonly artifacts: readonly CodeArtifact[];
  /** What `main` returned; absent when it returned nothing that JSON can hold. */
  readonly result?: { readonly value: Json };
}

/** Runs scripts isolated from this process and its machine. */
export interface CodeRunner {
  /**
   * Cold: one subscription is one run, which emits one result. Unsubscribing kills the script at once.
   *
   * Errors: `SANDBOX_FAILED` when it could not be run at all, `LIMIT_REACHED` when too many scripts wait, `OPTION_INVALID`.
   */
  run(request: CodeRequest): Observable<CodeResult>;
  /** The same for the scripts of one tenant; absent where tenants do not wait for each other. */
  forTenant?(tenant: string): CodeRunner;
  /** Ends all scripts and gives back everything that is held; later runs fail. */
  close(): Promise<void>;
}

const LANGUAGES: Readonly<Record<string, CodeLanguage>> = {
  python: 'python',
  python3: 'python',
  javascript: 'nodejs',
  nodejs: 'nodejs',
  node: 'nodejs',
  js: 'nodejs',
};

/** A language by any of the names that documents and models use; undefined for one that cannot be run. */
export function languageOf(name: string): CodeLanguage | undefined {
  const key = name.trim().toLowerCase();
  return Object.hasOwn(LANGUAGES, key) ? LANGUAGES[key] : undefined;
}
