/** The one table of settings: what is listed here is parsed, shown by `--help` and written into `docs/configuration.md`. */
import { z } from 'zod';
import { DEFAULT_LIMITS } from '../hosting/host-options.js';
import { DEFAULT_QUOTAS, QUOTA_WORDS, type QuotaName } from '../records/quotas.js';
import { JOB_LIMITS } from '../threads/threads.js';
import { type AddressRange, type ApiKey, parseApiKeys } from './access.js';
import { client, telemetry, tools } from './other-settings.js';
import {
  addressRanges,
  anyUrl,
  baseUrls,
  clockSeconds,
  domains,
  memorySize,
  origins,
  runtimes,
  sandboxEndpoint,
  sandboxProvider,
  scriptTime,
} from './parsers.js';
import {
  bytes,
  count,
  DAY_MS,
  family,
  flag,
  MIB,
  milliseconds,
  optional,
  parsed,
  type Setting,
  seconds,
  switched,
  text,
  url,
  whole,
} from './setting.js';

/** Where a server listens, who may call it, how much it takes. */
const server = {
  host: text(
    'RUNNEL_HOST',
    'localhost',
    'address to listen on; localhost: 127.0.0.1 and ::1; "::": every address, of IPv4 too. Without RUNNEL_API_KEYS only loopback is allowed',
  ),
  port: whole('RUNNEL_PORT', [9380, 0, 65_535], 'port to listen on; 0 takes any that is free'),
  apiKeys: parsed<readonly ApiKey[]>(
    'RUNNEL_API_KEYS',
    'comma-separated "key" or "tenant=key", a key of at least 16 characters; without a tenant it belongs to tenant "local"',
    [],
    parseApiKeys,
    { shown: 'unset: no login, loopback only', isSecret: true },
  ),
  adminKey: {
    name: 'RUNNEL_ADMIN_KEY',
    shown: 'unset: administration is off',
    meaning: 'key of the administrator, at least 16 characters',
    schema: z
      .string()
      .regex(/^[\x21-\x7e]{16,}$/, 'must have at least 16 characters and no blanks')
      .optional(),
    isSecret: true,
  },
  requestsPerMinute: whole(
    'RUNNEL_REQUESTS_PER_MINUTE',
    [6_000, 1, 10_000_000],
    'requests that one key may make, of all servers together with REDIS_URL; applies with API keys',
  ),
  refusalsPerMinute: whole(
    'RUNNEL_REFUSALS_PER_MINUTE',
    [100, 1, 10_000_000],
    'wrong keys, and wrong ids of webhooks, that one address may send; then what is not known from there is refused with 429, without a look-up',
  ),
  strangersPerAddress: whole(
    'RUNNEL_STRANGERS_PER_ADDRESS',
    [2_000, 1, 1_000_000],
    'connections of one address without a request that a valid key speaks for, idle ones included; one more closes the oldest of them',
  ),
  trustedProxies: parsed<readonly AddressRange[]>(
    'RUNNEL_TRUSTED_PROXIES',
    'comma-separated addresses or CIDR ranges of proxies whose X-Forwarded-For names the client: for the addresses of webhooks, and for limits per address; and whose X-Forwarded-Proto and X-Forwarded-Host name the server in links of reports',
    [],
    addressRanges,
    { shown: 'unset: none' },
  ),
  studio: switched(
    'RUNNEL_STUDIO',
    'the page that browsers get at "/"; off: there is none, and "/" answers them like programs',
  ),
  runtimes: parsed<readonly string[]>(
    'RUNNEL_CANVAS_RUNTIMES',
    'names of engines that an administrator may give a tenant to; only "runnel" is this server',
    ['runnel', 'go', 'python'],
    runtimes,
    { shown: 'runnel,go,python' },
  ),
  defaultRuntime: text(
    'RAGFLOW_CANVAS_DEFAULT_RUNTIME',
    'runnel',
    'the engine of tenants that have none assigned; applies with RUNNEL_ADMIN_KEY',
  ),
  corsOrigins: parsed<readonly string[]>(
    'RUNNEL_CORS_ORIGINS',
    'comma-separated origins that may call the API from a browser; "*" for any, which needs RUNNEL_API_KEYS',
    [],
    origins,
    { shown: 'unset: same origin only' },
  ),
  durability: {
    name: 'RUNNEL_DURABILITY',
    shown: 'sync',
    meaning:
      'when a finished node is stored so that its run survives a crash: "sync" before its successors start, "async" soon after, "exit" only at the end',
    schema: z.enum(['sync', 'async', 'exit'], { error: 'must be sync, async or exit' }).default('sync'),
  },
  leaseMs: whole(
    'RUNNEL_LEASE_MS',
    [DEFAULT_LIMITS.leaseMs, 200, 10 * 60_000],
    'how long a process may be silent before others recover its runs',
  ),
  runTimeoutMs: milliseconds(
    'RUNNEL_RUN_TIMEOUT_MS',
    DEFAULT_LIMITS.runTimeoutMs,
    'a run that takes longer fails with RUN_TIMEOUT',
  ),
  maxSteps: whole(
    'RUNNEL_MAX_STEPS',
    [DEFAULT_LIMITS.maxSteps, 1, 1_000_000_000],
    'a run that takes more steps (nodes that finished, rounds of bodies) fails with RUN_STEPS_EXCEEDED, which names the cycle',
  ),
  runLogBytes: bytes(
    'RUNNEL_RUN_LOG_BYTES',
    DEFAULT_LIMITS.runLogBytes,
    'a run whose events take more fails with RUN_LOG_FULL',
  ),
  runUnstoredBytes: bytes(
    'RUNNEL_RUN_UNSTORED_BYTES',
    DEFAULT_LIMITS.runUnstoredBytes,
    'a run with more events that are not stored yet is paused: no node begins, and answers of models are not read on',
  ),
  runHistoryBytes: whole(
    'RUNNEL_RUN_HISTORY_BYTES',
    [DEFAULT_LIMITS.runHistoryBytes, 0, 1024 * MIB],
    'bytes of events after which a run stores another snapshot of its state, if that is no larger: a recovery reads about that much',
  ),
  runDetailBytes: whole(
    'RUNNEL_RUN_DETAIL_BYTES',
    [DEFAULT_LIMITS.runDetailBytes, 0, MIB],
    'bytes of what a model was asked that the log of a run has of each call, for those who look at the run; 0: nothing',
  ),
  detachGraceMs: whole(
    'RUNNEL_DETACH_GRACE_MS',
    [DEFAULT_LIMITS.detachGraceMs, 0, DAY_MS],
    'a run without any client for so long is cancelled; 0: never',
  ),
  maxRuns: whole(
    'RUNNEL_MAX_RUNS',
    [DEFAULT_LIMITS.maxRuns, 1, 1_000_000],
    'runs in progress at once, and trials of components; of several tenants each may start another while it has fewer than three times as many as are free: one alone gets three quarters, two get three sevenths each',
  ),
  runConcurrency: whole(
    'RUNNEL_RUN_CONCURRENCY',
    [DEFAULT_LIMITS.runConcurrency, 1, 10_000],
    'nodes of one run that may work at once',
  ),
  chatsPerSecond: whole(
    'RUNNEL_CHATS_PER_SECOND',
    [1_000, 0, 10_000_000],
    'chats that a tenant may begin in a second, of all servers together with REDIS_URL; 0: any number. This and the next four apply with API keys',
  ),
  userChatsPerSecond: whole(
    'RUNNEL_CHATS_PER_USER',
    [10, 0, 1_000_000],
    'chats within any second with one `user_id` of a tenant; 0: any number',
  ),
  sessionChatsPerSecond: whole(
    'RUNNEL_CHATS_PER_SESSION',
    [5, 0, 1_000_000],
    'chats within any second in one session; 0: any number',
  ),
  waitingChats: whole(
    'RUNNEL_CHATS_WAITING',
    [100, 0, 1_000_000],
    'chats that wait in line for each of these three; one more is refused with 429',
  ),
  chatWaitMs: whole('RUNNEL_CHAT_WAIT_MS', [2_000, 0, 60_000], 'a chat that has waited so long is refused with 429'),
  shutdownGraceMs: whole(
    'RUNNEL_SHUTDOWN_GRACE_MS',
    [10_000, 0, DAY_MS],
    'the server ends within so long after SIGTERM, at least 6000; runs may continue until 6000 before that, then they are released, so that another process or the next start resumes them',
  ),
  jsonBytes: bytes('RUNNEL_JSON_BYTES', 16 * MIB, 'largest JSON body'),
  uploadBytes: bytes('RUNNEL_UPLOAD_BYTES', 64 * MIB, 'largest upload, all its files together'),
  uploadFiles: whole('RUNNEL_UPLOAD_FILES', [200, 1, 1_000], 'files of one upload'),
  uploadsBytes: bytes(
    'RUNNEL_UPLOADS_BYTES',
    1024 * MIB,
    'all uploads that a process receives at once, of one of several tenants half and of its chat pages a quarter; what is more is asked to try again later',
  ),
  bodiesBytes: bytes(
    'RUNNEL_BODIES_BYTES',
    512 * MIB,
    'all bodies above 64 KiB that a process reads into memory at once: JSON, calls of webhooks, imports; shared out like uploads',
  ),
  pageUploadBytes: bytes('RUNNEL_PAGE_UPLOAD_BYTES', 16 * MIB, 'largest upload with the key of a chat page'),
  pageUploadsPerMinute: whole(
    'RUNNEL_PAGE_UPLOADS_PER_MINUTE',
    [60, 1, 10_000_000],
    'uploads with one key of chat pages, a quarter of them from one address, of all servers together with REDIS_URL',
  ),
  pageFileDays: count(
    'RUNNEL_PAGE_FILE_DAYS',
    7,
    'days that files of chat pages and webhooks are stored; 0: as long as other files',
  ),
  documentBytes: bytes('RUNNEL_DOCUMENT_BYTES', 2 * MIB, 'largest document that can be saved, published or imported'),
  answersBytes: bytes(
    'RUNNEL_ANSWERS_BYTES',
    64 * MIB,
    'answers that clients have not taken yet, of a process; larger ones than 64 KiB wait for room, and after 10 seconds are asked to try again later',
  ),
  frameBytes: bytes('RUNNEL_WS_FRAME_BYTES', MIB, 'largest WebSocket frame of a client'),
  clientQueueBytes: bytes(
    'RUNNEL_CLIENT_QUEUE_BYTES',
    DEFAULT_LIMITS.clientQueueBytes,
    'events that may wait for one slow client before it is closed and has to resume',
  ),
  slowClientMs: milliseconds('RUNNEL_SLOW_CLIENT_MS', 30_000, 'a client that reads nothing for so long is closed'),
  ssePingMs: milliseconds('RUNNEL_SSE_PING_MS', 15_000, 'pause between comments that keep an event stream alive'),
  heartbeatMs: milliseconds('RUNNEL_WS_HEARTBEAT_MS', 20_000, 'pause between pings to a WebSocket client'),
  idleMs: milliseconds(
    'RUNNEL_WS_IDLE_MS',
    600_000,
    'a WebSocket without a run and without a frame is closed after it',
  ),
  maxConnections: whole(
    'RUNNEL_WS_MAX_CONNECTIONS',
    [10_000, 1, 1_000_000],
    'WebSocket connections at once, and event streams that follow runs; of several tenants each may have another while it has fewer than three times as many as are free',
  ),
  framesPerSecond: whole(
    'RUNNEL_WS_FRAMES_PER_SECOND',
    [20, 1, 1_000_000],
    'frames a WebSocket client may send, "ack" aside; applies with API keys',
  ),
  runsPerMinute: whole(
    'RUNNEL_WS_RUNS_PER_MINUTE',
    [30, 1, 1_000_000],
    'runs a WebSocket client may start, which is more than people start by hand; applies with API keys',
  ),
};

/** Where data is stored, and for how long. */
const stores = {
  dataDir: text(
    'RUNNEL_DATA_DIR',
    './.runnel',
    'the embedded database and files; `runnel run` puts files that a canvas makes there as well',
  ),
  databaseUrl: optional(
    'DATABASE_URL',
    'a Postgres server; processes that share it share RUNNEL_DATA_DIR, too, for files',
    { shown: 'unset: the embedded database', isSecret: true },
  ),
  redisUrl: optional(
    'REDIS_URL',
    'a Redis for runs with their events and checkpoints, and for messages between processes',
    { shown: 'unset: the database', isSecret: true },
  ),
  keepRunsDays: count('RUNNEL_KEEP_RUNS_DAYS', 30, 'days that runs are stored after their end; 0: for ever'),
  keepEventsDays: count(
    'RUNNEL_KEEP_EVENTS_DAYS',
    30,
    'days that events and checkpoints of runs are stored after their end; 0: as long as the runs',
  ),
  keepSessionsDays: count(
    'RUNNEL_KEEP_SESSIONS_DAYS',
    0,
    'days that conversations are stored after their last run; 0: for ever',
  ),
  keepFilesDays: count('RUNNEL_KEEP_FILES_DAYS', 0, 'days that files are stored; 0: for ever'),
  quotaAgents: quota('agents', 'agents of a tenant'),
  quotaVersions: quota('versions', 'published versions of an agent'),
  quotaSessions: quota('sessions', 'sessions of a tenant'),
  quotaTokens: quota('tokens', 'keys that a tenant makes for itself'),
  quotaFiles: quota('files', 'files of a tenant: those of users, of chat pages and of agents'),
  quotaFileBytes: quota('fileBytes', 'bytes of all files of a tenant'),
  quotaPageFiles: quota('pageFiles', 'files that callers of chat pages and webhooks may store for a tenant'),
  quotaPageFileBytes: quota('pageFileBytes', 'bytes of those files'),
  pruneEveryHours: count(
    'RUNNEL_PRUNE_EVERY_HOURS',
    24,
    'how often the server deletes what has expired; 0: only `runnel prune` does',
  ),
};

/** Models and their providers. */
const models = {
  openaiBaseUrl: url('OPENAI_BASE_URL', 'the default provider: any OpenAI-compatible server'),
  openaiApiKey: optional('OPENAI_API_KEY', 'its key; alone it means https://api.openai.com/v1', { isSecret: true }),
  modelsFile: optional(
    'RUNNEL_MODELS',
    'JSON file with factories, keys, default models and the script of the built-in model',
  ),
  maxRetries: whole(
    'LLM_MAX_RETRIES',
    [0, 0, 100],
    'attempts after the first when a model fails, for nodes that set none',
  ),
  retryDelayMs: seconds('LLM_BASE_DELAY', [2, 0, 3_600], 'seconds before the first retry; doubled each time'),
  idleTimeoutMs: seconds('LLM_TIMEOUT_SECONDS', [600, 0.001, 86_400], 'longest silence of a provider, in seconds'),
  maxConcurrentChats: whole('MAX_CONCURRENT_CHATS', [10, 1, 100_000], 'model calls at once'),
};

/** What nodes use: the network, browsers, databases, datasets, the sandbox; and how long they may take. */
const nodes = {
  allowPrivateNetwork: flag(
    'RUNNEL_ALLOW_PRIVATE_NETWORK',
    'lets URLs of documents and models reach private and loopback addresses',
  ),
  chromium: optional(
    'RUNNEL_CHROMIUM',
    'path of Chromium or Chrome, for Browser nodes; its sandbox is off for root and in containers alone',
    { shown: 'the first in the usual places' },
  ),
  researchDayTokens: dayLimit('TOKENS', 'tokens that the researches of a tenant may take'),
  researchDayCalls: dayLimit('CALLS', 'calls of models that the researches of a tenant may make'),
  researchDayWebRequests: dayLimit('WEB_REQUESTS', 'requests to the web that the researches of a tenant may make'),
  researchDayMoney: parsed(
    'RUNNEL_RESEARCH_DAY_MONEY',
    'what the researches of a tenant may cost in a day (UTC), in the currency of the prices of RUNNEL_MODELS; 0: any amount',
    0,
    (given) => {
      const value = Number(given);
      const isAmount = given.trim() !== '' && Number.isFinite(value) && value >= 0;
      return isAmount ? { value } : { problem: 'must be a number of at least 0' };
    },
    { shown: '0' },
  ),
  maxBrowsers: whole(
    'RUNNEL_MAX_BROWSERS',
    [2, 1, Number.POSITIVE_INFINITY],
    'browsers at once; up to 32 nodes wait for one',
  ),
  browserDomains: parsed<readonly string[]>(
    'RUNNEL_BROWSER_DOMAINS',
    'domains that browsers may load pages from, with commas between them; what is below them is included',
    [],
    domains,
    { shown: 'all' },
  ),
  turnFiles: whole('RUNNEL_TURN_FILES', [10, 0, 1_000], 'files that a turn or a form may give'),
  maxParsers: whole(
    'RUNNEL_PARSERS',
    [2, 1, 256],
    'files, pages and documents that are read or written at once, each in a thread; others wait',
  ),
  maxParsersPerTenant: whole('RUNNEL_PARSERS_PER_TENANT', [1, 1, 256], 'of these, those of one tenant'),
  parserTimeoutMs: milliseconds(
    'RUNNEL_PARSER_TIMEOUT_MS',
    JOB_LIMITS.timeoutMs,
    'a file that takes longer to read is refused; spreadsheets, web pages and documents that are written may take four times as long',
  ),
  parserHeapBytes: bytes(
    'RUNNEL_PARSER_HEAP_BYTES',
    JOB_LIMITS.heapBytes,
    'a file that takes more memory to read is refused; spreadsheets, web pages and documents that are written may take four times as much',
  ),
  layoutUrl: parsed<string | undefined>(
    'DEEPDOC_URL',
    'a server that sees the layout of pages, such as http://deepdoc:11234; pages of PDFs are drawn by Chromium and sent to it',
    undefined,
    anyUrl,
  ),
  layoutUrlBefore: parsed('TENSORRT_DLA_SVR', 'the same by its older name', undefined, anyUrl),
  toolBaseUrls: parsed<Readonly<Record<string, string>>>(
    'RUNNEL_TOOL_BASE_URLS',
    'JSON object from names of tools to base URLs, to point their fixed services elsewhere',
    {},
    baseUrls,
    { isSecret: true },
  ),
  trinoUsesTls: flag('TRINO_USE_TLS', 'asks Trino over https, which passwords need'),
  datasetsDir: optional(
    'RUNNEL_DATASETS_DIR',
    'what Retrieval searches: each folder is a dataset, each file in it a document; those of a tenant with a name lie in a folder @<tenant>',
    { shown: 'datasets in RUNNEL_DATA_DIR' },
  ),
  seedDirs: parsed<readonly string[]>(
    'RUNNEL_SEED_DIR',
    "folders, with commas between them, that `runnel serve` makes datasets of when it starts: each folder in one is a dataset of every tenant, those in a folder @<tenant> are that tenant's; what is unchanged is not read again",
    [],
    (given) => ({ value: given.split(',').flatMap((one) => (one.trim() === '' ? [] : [one.trim()])) }),
    { shown: 'unset: none' },
  ),
  termsFile: optional(
    'RUNNEL_TERMS',
    'JSON file with pairs of terms that mean the same, such as [["泵", "pump"]]: searches of knowledge bases find both',
  ),
  embeddings: text(
    'RUNNEL_EMBEDDINGS',
    'auto',
    'model of new datasets that name none: "auto" is the default of RUNNEL_MODELS, and without one MiniLM in this process, for datasets in English and where its packages are installed (docs/installing.md); "minilm" is MiniLM in any case, "off" none; else a model of RUNNEL_MODELS',
  ),
  ragflowBaseUrl: parsed('RAGFLOW_BASE_URL', 'a RAGFlow server that Retrieval asks instead', undefined, anyUrl),
  ragflowApiKey: optional('RAGFLOW_API_KEY', 'its key', { isSecret: true }),
  mcpServersFile: optional(
    'RUNNEL_MCP_SERVERS',
    'JSON file with the MCP servers whose tools agents may call; see docs/mcp.md',
  ),
  speechTtlSeconds: whole(
    'RAGFLOW_TTS_CACHE_TTL_SECONDS',
    [604_800, Number.NEGATIVE_INFINITY, Number.POSITIVE_INFINITY],
    'seconds that spoken sentences are remembered; 0 switches it off',
  ),
  timeoutSeconds: parsed<number | undefined>(
    'COMPONENT_EXEC_TIMEOUT',
    'seconds a node may take, when its type says nothing else; COMPONENT_EXEC_TIMEOUT_<TYPE> wins over both',
    undefined,
    (given) => ({ value: clockSeconds(given) }),
    { shown: '600' },
  ),
  timeoutSecondsByType: family(
    'COMPONENT_EXEC_TIMEOUT_<TYPE>',
    'seconds a node of one type may take, such as COMPONENT_EXEC_TIMEOUT_LLM; what is no whole number above 0 is ignored',
    clockSeconds,
  ),
  sandboxProvider: parsed<'embedded' | 'self_managed'>(
    'SANDBOX_PROVIDER_TYPE',
    'where CodeExec runs scripts: "embedded" in this process, "self_managed" at an executor service',
    'embedded',
    sandboxProvider,
    { shown: 'embedded' },
  ),
  sandboxEndpoint: parsed(
    'SANDBOX_HOST',
    'host, host:port (9385) or URL of the executor service',
    'http://sandbox-executor-manager:9385',
    sandboxEndpoint,
    { shown: 'sandbox-executor-manager' },
  ),
  scriptTimeoutMs: parsed('SANDBOX_TIMEOUT', 'longest time of a script, such as 1m30s', 10_000, scriptTime, {
    shown: '10s',
  }),
  scriptMemoryBytes: parsed('SANDBOX_MAX_MEMORY', 'memory of a script in the embedded sandbox', 256 * MIB, memorySize, {
    shown: '256m',
  }),
  artifactDays: count(
    'SANDBOX_ARTIFACT_EXPIRE_DAYS',
    7,
    'days that files made by scripts of CodeExec can be fetched; 0: for ever',
  ),
};

/** Every setting, by what it is about, in the order in which they are listed. A new setting is one entry here. */
export const SETTINGS = { server, stores, models, nodes, tools, client, telemetry } satisfies Record<
  string,
  Record<string, Setting<unknown>>
>;

/** Titles of the groups, for people. */
export const TITLES: Readonly<Record<keyof typeof SETTINGS, string>> = {
  server: 'Server',
  stores: 'What is stored',
  models: 'Models',
  nodes: 'Nodes',
  tools: 'Tools',
  client: 'Command line',
  telemetry: 'Telemetry',
};

/** How much of a kind the researches of a tenant may spend in a day. */
function dayLimit(name: string, what: string): Setting<number> {
  const meaning = `${what} in a day (UTC); 0: any number`;
  return whole(`RUNNEL_RESEARCH_DAY_${name}`, [0, 0, Number.MAX_SAFE_INTEGER], meaning);
}

/** How much of a kind may be stored. */
function quota(name: QuotaName, what: string): Setting<number> {
  return whole(QUOTA_WORDS[name].setting, [DEFAULT_QUOTAS[name], 0, Number.MAX_SAFE_INTEGER], `${what}; 0: any number`);
}
