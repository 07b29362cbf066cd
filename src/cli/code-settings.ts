/** Which runner the operator chose, read from settings by the names that RAGFlow's use. */

import type { EgressClient } from '../adapters/egress/egress-client.js';
import { ARTIFACT_DAYS, artifactsKeptMs } from '../adapters/sandbox/artifacts.js';
import type { CodeRunner } from '../adapters/sandbox/code-runner.js';
import { createEmbeddedRunner } from '../adapters/sandbox/embedded/embedded-runner.js';
import { createRemoteRunner } from '../adapters/sandbox/remote-runner.js';
import { EngineError } from '../errors.js';
import type { ToolSettings } from '../tools/tool-services.js';
import { baseUrlOf } from '../tools/upstream.js';

/** Settings by name; see {@link readCodeSettings}. */
type Environment = Readonly<Record<string, string | undefined>>;

export interface CodeSettings {
  readonly provider: 'embedded' | 'self_managed';
  /** Of the executor service. */
  readonly endpoint: string;
  readonly timeoutMs: number;
  readonly maxMemoryBytes: number;
}

const DEFAULT_HOST = 'sandbox-executor-manager';
const PORT = 9385;

/** Providers that RAGFlow has and Runnel has not. */
const KNOWN_ELSEWHERE = new Set(['local', 'ssh', 'e2b', 'aliyun_codeinterpreter', 'tenki', 'ucloud_agent_sandbox']);

const UNITS_MS: Readonly<Record<string, number>> = { h: 3_600_000, m: 60_000, s: 1_000, ms: 1 };
const UNITS_BYTES: Readonly<Record<string, number>> = { '': 1, b: 1, k: 1024, m: 1024 ** 2, g: 1024 ** 3 };

/**
 * Reads `SANDBOX_PROVIDER_TYPE` (`embedded` or `self_managed`), `SANDBOX_HOST` (a name, `name:port` or a URL), `SANDBOX_TIMEOUT`
 * (`10s`, `1m30s`, or seconds) and `SANDBOX_MAX_MEMORY` (`256m`, `1g`, or bytes); checks what {@link artifactsKeptMs} reads later.
 *
 * @throws EngineError CONFIG_INVALID.
 */
export function readCodeSettings(env: Environment): CodeSettings {
  artifactsKeptMs(env[ARTIFACT_DAYS]);
  return {
    provider: readProvider(env.SANDBOX_PROVIDER_TYPE),
    endpoint: readEndpoint(env.SANDBOX_HOST),
    timeoutMs: readDuration('SANDBOX_TIMEOUT', env.SANDBOX_TIMEOUT, '10s'),
    maxMemoryBytes: readSize('SANDBOX_MAX_MEMORY', env.SANDBOX_MAX_MEMORY, '256m'),
  };
}

/**
 * Makes the runner that the settings name; nothing is started or asked before the first script. A base URL that the operator set for
 * `execute_code` takes the place of the service's.
 */
export function openCodeRunner(settings: CodeSettings, http: EgressClient, tools: ToolSettings = {}): CodeRunner {
  const { provider, timeoutMs, maxMemoryBytes } = settings;
  const endpoint = baseUrlOf({ component: 'CodeExec', name: 'execute_code' }, { tools }, settings.endpoint);
  return provider === 'embedded'
    ? createEmbeddedRunner({ timeoutMs, maxMemoryBytes })
    : createRemoteRunner({ http, endpoint, timeoutMs });
}

function readProvider(text = ''): CodeSettings['provider'] {
  const name = text.trim().toLowerCase();
  if (name === '' || name === 'embedded') return 'embedded';
  if (name === 'self_managed') return name;
  const problem = KNOWN_ELSEWHERE.has(name) ? 'is not available in Runnel' : 'is not known';
  throw invalid(
    `SANDBOX_PROVIDER_TYPE ${JSON.stringify(text)} ${problem}; use "embedded" (in this process) or "self_managed" (an executor service).`,
  );
}

function readEndpoint(text = ''): string {
  const host = text.trim() || DEFAULT_HOST;
  const url = /^https?:\/\//.test(host) ? host : `http://${host.includes(':') ? host : `${host}:${PORT}`}`;
  if (URL.canParse(url)) return url;
  throw invalid(`SANDBOX_HOST must be a host name, host:port or a URL; received ${JSON.stringify(text)}.`);
}

function readDuration(name: string, given: string | undefined, fallback: string): number {
  const text = given?.trim().toLowerCase() || fallback;
  const parts = [...text.matchAll(/(\d+)(ms|h|m|s)/g)];
  const isWhole = parts.map(([part]) => part).join('') === text;
  const ms = /^\d+$/.test(text)
    ? Number(text) * 1_000
    : parts.reduce((sum, [, count, unit]) => sum + Number(count) * (UNITS_MS[unit as string] as number), 0);
  if ((isWhole || /^\d+$/.test(text)) && ms >= 1 && ms <= 3_600_000) return ms;
  throw invalid(`${name} must be a time up to one hour, such as 10s or 1m30s; received ${JSON.stringify(given)}.`);
}

function readSize(name: string, given: string | undefined, fallback: string): number {
  const text = given?.trim().toLowerCase() || fallback;
  const [, count, unit = ''] = /^(\d+)([bkmg]?)b?$/.exec(text) ?? [];
  const bytes = Number(count) * (UNITS_BYTES[unit] as number);
  if (bytes >= 32 * 1024 ** 2 && bytes <= 2 * 1024 ** 3) return bytes;
  throw invalid(`${name} must be 32m to 2g, such as 256m; received ${JSON.stringify(given)}.`);
}

function invalid(message: string): EngineError {
  return new EngineError('CONFIG_INVALID', message);
}
