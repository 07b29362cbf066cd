/** The environment variables that the command line reads, for people. */

/** One environment variable. */
export interface Setting {
  readonly name: string;
  readonly default: string;
  readonly meaning: string;
}

/** How long things are kept; 0 days: for ever. */
export const RETENTIONS = [
  {
    what: 'runs',
    name: 'RUNNEL_KEEP_RUNS_DAYS',
    days: 30,
    meaning: 'days that runs are kept after their end; 0: for ever',
  },
  {
    what: 'events',
    name: 'RUNNEL_KEEP_EVENTS_DAYS',
    days: 30,
    meaning: 'days that events and checkpoints of runs are kept after their end; 0: as long as the runs',
  },
  {
    what: 'sessions',
    name: 'RUNNEL_KEEP_SESSIONS_DAYS',
    days: 0,
    meaning: 'days that conversations are kept after their last run; 0: for ever',
  },
  {
    what: 'files',
    name: 'RUNNEL_KEEP_FILES_DAYS',
    days: 0,
    meaning: 'days that files are kept; 0: for ever',
  },
] as const satisfies readonly (Omit<Setting, 'default'> & { readonly what: string; readonly days: number })[];

/** The variables that tools read, all of them: a tool sees nothing else of the environment. */
export const TOOL_VARIABLES: readonly Setting[] = [
  {
    name: 'TAVILY_API_KEY',
    default: 'unset',
    meaning: 'key of TavilySearch and TavilyExtract, for nodes that set none',
  },
  {
    name: 'QUERIT_API_KEY',
    default: 'unset',
    meaning: 'key of QueritSearch and QueritContents, for nodes that set none',
  },
  { name: 'SERPAPI_API_KEY', default: 'unset', meaning: 'key of Google (SerpApi), for nodes that set none' },
  { name: 'BGPT_API_KEY', default: 'unset', meaning: 'key of BGPT, for nodes that set none' },
  { name: 'DEEPL_AUTH_KEY', default: 'unset', meaning: 'key of DeepL, for nodes that set none' },
  { name: 'JIN10_SECRET_KEY', default: 'unset', meaning: 'key of Jin10, for nodes that set none' },
  {
    name: 'KEENABLE_API_URL',
    default: 'https://api.keenable.ai',
    meaning: 'where KeenableSearch asks; https, or http on this machine',
  },
  {
    name: 'SANDBOX_ARTIFACT_EXPIRE_DAYS',
    default: '7',
    meaning: 'days that files made by scripts of CodeExec can be fetched; 0: for ever',
  },
];

/** What `run` and `serve` read about models, clocks and tools; the server's own settings lie in `src/transport/config.ts`. */
export const ENGINE_SETTINGS: readonly Setting[] = [
  { name: 'OPENAI_BASE_URL', default: 'unset', meaning: 'the default provider: any OpenAI-compatible server' },
  { name: 'OPENAI_API_KEY', default: 'unset', meaning: 'its key; alone it means https://api.openai.com/v1' },
  {
    name: 'RUNNEL_MODELS',
    default: 'unset',
    meaning: 'JSON file with factories, keys, default models and the script of the built-in model',
  },
  {
    name: 'LLM_MAX_RETRIES',
    default: '0',
    meaning: 'attempts after the first when a model fails, for nodes that set none',
  },
  { name: 'LLM_BASE_DELAY', default: '2', meaning: 'seconds before the first retry; doubled each time' },
  { name: 'LLM_TIMEOUT_SECONDS', default: '600', meaning: 'longest silence of a provider, in seconds' },
  { name: 'MAX_CONCURRENT_CHATS', default: '10', meaning: 'model calls at once' },
  {
    name: 'RUNNEL_ALLOW_PRIVATE_NETWORK',
    default: 'false',
    meaning: 'lets URLs of documents and models reach private and loopback addresses',
  },
  {
    name: 'RUNNEL_CHROMIUM',
    default: 'the first in the usual places',
    meaning: 'path of Chromium or Chrome, for Browser nodes; its sandbox is off for root and in containers alone',
  },
  { name: 'RUNNEL_MAX_BROWSERS', default: '2', meaning: 'browsers at once; up to 32 nodes wait for one' },
  {
    name: 'RUNNEL_BROWSER_DOMAINS',
    default: 'all',
    meaning: 'domains that browsers may load pages from, with commas between them; what is below them is included',
  },
  {
    name: 'RUNNEL_TOOL_BASE_URLS',
    default: 'unset',
    meaning: 'JSON object from names of tools to base URLs, to point their fixed services elsewhere',
  },
  { name: 'TRINO_USE_TLS', default: 'false', meaning: 'asks Trino over https, which passwords need' },
  {
    name: 'RUNNEL_DATASETS_DIR',
    default: 'datasets in RUNNEL_DATA_DIR',
    meaning:
      'what Retrieval searches: each folder is a dataset, each file in it a document; those of a tenant with a name lie in a folder @<tenant>',
  },
  { name: 'RAGFLOW_BASE_URL', default: 'unset', meaning: 'a RAGFlow server that Retrieval asks instead' },
  { name: 'RAGFLOW_API_KEY', default: 'unset', meaning: 'its key' },
  {
    name: 'RUNNEL_MCP_SERVERS',
    default: 'unset',
    meaning: 'JSON file with the MCP servers whose tools agents may call; see docs/mcp.md',
  },
  {
    name: 'RAGFLOW_TTS_CACHE_TTL_SECONDS',
    default: '604800',
    meaning: 'seconds that spoken sentences are remembered; 0 switches it off',
  },
  {
    name: 'COMPONENT_EXEC_TIMEOUT',
    default: '600',
    meaning: 'seconds a node may take, when its type says nothing else; COMPONENT_EXEC_TIMEOUT_<TYPE> wins over both',
  },
  {
    name: 'SANDBOX_PROVIDER_TYPE',
    default: 'embedded',
    meaning: 'where CodeExec runs scripts: "embedded" in this process, "self_managed" at an executor service',
  },
  {
    name: 'SANDBOX_HOST',
    default: 'sandbox-executor-manager',
    meaning: 'host, host:port (9385) or URL of the executor service',
  },
  { name: 'SANDBOX_TIMEOUT', default: '10s', meaning: 'longest time of a script, such as 1m30s' },
  { name: 'SANDBOX_MAX_MEMORY', default: '256m', meaning: 'memory of a script in the embedded sandbox' },
  ...TOOL_VARIABLES,
];

/** What `serve` and `prune` read about where things are kept, and for how long. */
export const STORE_SETTINGS: readonly Setting[] = [
  {
    name: 'RUNNEL_DATA_DIR',
    default: './.runnel',
    meaning: 'the embedded database and files; `runnel run` puts files that a canvas makes there as well',
  },
  {
    name: 'DATABASE_URL',
    default: 'unset: the embedded database',
    meaning: 'a Postgres server; processes that share it share RUNNEL_DATA_DIR, too, for files',
  },
  {
    name: 'REDIS_URL',
    default: 'unset: the database',
    meaning: 'a Redis for runs with their events and checkpoints, and for what processes tell each other',
  },
  ...RETENTIONS.map(({ name, days, meaning }) => ({ name, default: String(days), meaning })),
  {
    name: 'RUNNEL_PRUNE_EVERY_HOURS',
    default: '24',
    meaning: 'how often the server deletes what is kept no longer; 0: only `runnel prune` does',
  },
];

/** What else is read, by OpenTelemetry's standard names. */
export { TELEMETRY_SETTINGS } from '../telemetry/telemetry.js';

/** Settings as lines of a help text: name, default and, on a line of its own, the meaning. */
export function formatSettings(settings: readonly Setting[]): string {
  return settings.map(({ name, default: value, meaning }) => `  ${name} (${value})\n      ${meaning}`).join('\n');
}
