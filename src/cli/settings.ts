/** The environment variables that the command line reads, for people. */

/** One environment variable. */
export interface Setting {
  readonly name: string;
  readonly default: string;
  readonly meaning: string;
}

/** What `run` and `serve` read about models and clocks; the server's own settings lie in `src/transport/config.ts`. */
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
  { name: 'RUNNEL_DATA_DIR', default: './.runnel', meaning: 'where `runnel run` puts files that a canvas makes' },
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
];

/** Settings as lines of a help text: name, default and, on a line of its own, the meaning. */
export function formatSettings(settings: readonly Setting[]): string {
  return settings.map(({ name, default: value, meaning }) => `  ${name} (${value})\n      ${meaning}`).join('\n');
}
