/** What the runs of this process may use, made from its environment. */
import { readFile } from 'node:fs/promises';
import { readDomains } from '../adapters/browser/guard-proxy.js';
import { createBrowsers } from '../adapters/browser/index.js';
import { createEgressClient } from '../adapters/egress/egress-client.js';
import { createMcpServers, type McpServers } from '../adapters/mcp/mcp-servers.js';
import { readMcpSettings } from '../adapters/mcp/mcp-settings.js';
import { createDatabases, ownDatabaseOf } from '../adapters/sql/databases.js';
import type { Services } from '../components/services.js';
import { rememberSpeech } from '../components/speaking/remember-speech.js';
import { EngineError } from '../errors.js';
import { type ModelsConfiguration, modelsFromEnvironment } from '../models/configuration.js';
import { createModels, type ModelsOptions } from '../models/router.js';
import { openCodeRunner, readCodeSettings } from './code-settings.js';
import { openRetriever } from './open-retriever.js';
import { readToolSettings } from './tool-settings.js';

/** A script of the built-in model. */
export type Script = NonNullable<ModelsConfiguration['script']>;

export interface ServicesOptions extends Pick<ModelsOptions, 'onScriptedCall'> {
  /** What the built-in model answers when the environment does not say. */
  readonly script?: Script | undefined;
}

/** Services, and whether the environment brought a script for the built-in model. */
export interface OpenServices extends Services {
  readonly hasScript: boolean;
  /** Ends what the services hold: connections, browsers, sandboxes. */
  close(): Promise<void>;
}

/**
 * Makes the models, the HTTP client, the settings of tools, the sandbox for code, the browsers, the ways to databases and MCP
 * servers; whoever calls this closes them.
 *
 * @throws EngineError CONFIG_INVALID.
 */
export async function openServices(
  env: Readonly<Record<string, string | undefined>>,
  options: ServicesOptions = {},
): Promise<OpenServices> {
  const { script, onScriptedCall } = options;
  const allowPrivateNetwork = readFlag(env, 'RUNNEL_ALLOW_PRIVATE_NETWORK');
  const http = createEgressClient({ allowPrivateNetwork });
  const tools = readToolSettings(env);
  const mcp = await openMcpServers(env, allowPrivateNetwork);
  const code = openCodeRunner(readCodeSettings(env), http, tools);
  const maxBrowsers = readWhole(env, 'RUNNEL_MAX_BROWSERS', 'browsers, at least 1', 1);
  const browsers = createBrowsers({
    allowPrivateNetwork,
    executable: env.RUNNEL_CHROMIUM?.trim(),
    allowedDomains: readDomainList(env, 'RUNNEL_BROWSER_DOMAINS'),
    ...(maxBrowsers !== undefined && { maxBrowsers }),
  });
  const databases = createDatabases({
    http,
    allowPrivateNetwork,
    trinoUsesTls: readFlag(env, 'TRINO_USE_TLS'),
    own: ownDatabaseOf(env.DATABASE_URL?.trim()),
  });
  const configuration = await modelsFromEnvironment(env, (path) => readFile(path, 'utf8'));
  const created = createModels({ ...configuration, script: configuration.script ?? script }, { onScriptedCall });
  const ttlSeconds = readWhole(env, 'RAGFLOW_TTS_CACHE_TTL_SECONDS', 'seconds');
  const models = rememberSpeech(created, ttlSeconds === undefined ? {} : { ttlSeconds });
  const retriever = openRetriever(env, http);
  return {
    models,
    http,
    tools,
    code,
    browsers,
    databases,
    retriever,
    ...(mcp && { mcp }),
    hasScript: configuration.script !== undefined,
    async close() {
      await Promise.all([mcp?.close(), code.close(), browsers.close(), models.close()]);
    },
  };
}

/** The servers of the file `RUNNEL_MCP_SERVERS`. */
async function openMcpServers(
  env: Readonly<Record<string, string | undefined>>,
  allowPrivateNetwork: boolean,
): Promise<McpServers | undefined> {
  const path = env.RUNNEL_MCP_SERVERS?.trim() ?? '';
  if (path === '') return undefined;
  const text = await readFile(path, 'utf8').catch((cause: unknown) => {
    throw new EngineError('CONFIG_INVALID', `RUNNEL_MCP_SERVERS: the file "${path}" cannot be read.`, { cause });
  });
  const servers = createMcpServers(readMcpSettings(text, `RUNNEL_MCP_SERVERS (${path})`), { allowPrivateNetwork });
  // Without keys everybody is this tenant; a server with keys asks anew for each.
  return servers.forTenant('local');
}

function readDomainList(env: Readonly<Record<string, string | undefined>>, name: string): readonly string[] {
  const domains = readDomains(env[name] ?? '');
  if (domains !== undefined) return domains;
  throw new EngineError(
    'CONFIG_INVALID',
    `${name} must be a list of domains such as "example.org,example.com"; received ${JSON.stringify(env[name])}.`,
  );
}

function readFlag(env: Readonly<Record<string, string | undefined>>, name: string): boolean {
  const text = env[name]?.trim().toLowerCase() ?? '';
  if (text === 'true' || text === '1') return true;
  if (text === '' || text === 'false' || text === '0') return false;
  throw new EngineError('CONFIG_INVALID', `${name} must be true or false; received ${JSON.stringify(env[name])}.`);
}

function readWhole(
  env: Readonly<Record<string, string | undefined>>,
  name: string,
  what: string,
  least = Number.NEGATIVE_INFINITY,
): number | undefined {
  const text = env[name]?.trim() ?? '';
  if (text === '') return undefined;
  if (/^-?\d+$/.test(text) && Number(text) >= least) return Number(text);
  throw new EngineError(
    'CONFIG_INVALID',
    `${name} must be a whole number of ${what}; received ${JSON.stringify(text)}.`,
  );
}
