import { z } from 'zod';
import { EngineError } from '../errors.js';
import { invalidSettings } from './invalid-settings.js';
import { type Script, scriptSchema } from './script.js';

/** What a model is used for. */
export type ModelKind = 'chat' | 'embedding' | 'rerank' | 'tts';

/** A provider as configured. */
export interface ProviderSettings {
  /** The factory, or `instance@Factory`; `undefined` for the one of `OPENAI_BASE_URL`. */
  readonly name: string | undefined;
  readonly baseUrl: string;
  readonly apiKey: string | undefined;
  readonly headers: Readonly<Record<string, string>>;
  /** Models known to be there, for names that come without a factory. */
  readonly models: readonly string[];
  readonly streamUsage: boolean;
}

/** Everything about models that the surroundings of a process decide. */
export interface ModelsConfiguration {
  /** By factory; names differ by more than case. */
  readonly providers: readonly ProviderSettings[];
  /** Where names without a known factory go; from `OPENAI_BASE_URL` and `OPENAI_API_KEY`. */
  readonly defaultProvider: ProviderSettings | undefined;
  /** The name used where none is given, per kind. */
  readonly defaults: Readonly<Partial<Record<ModelKind, string>>>;
  readonly script: Script | undefined;
  readonly visionModels: readonly string[];
  /** Tokens per model name. */
  readonly contextLengths: Readonly<Record<string, number>>;
  /** `LLM_MAX_RETRIES`, default 0. */
  readonly maxRetries: number;
  /** `LLM_BASE_DELAY` in milliseconds, default 2000. */
  readonly retryDelayMs: number;
  /** `LLM_TIMEOUT_SECONDS` in milliseconds: the longest silence of a provider, default 600000. */
  readonly idleTimeoutMs: number;
  /** `MAX_CONCURRENT_CHATS`, default 10. */
  readonly maxConcurrentChats: number;
}

const name = z.string().trim().min(1);

const factory = z
  .strictObject({
    base_url: z.url({ protocol: /^https?$/, error: 'must be an http or https URL' }),
    api_key: z.string().min(1).optional(),
    /** Name of the environment variable that holds the key. */
    api_key_env: name.optional(),
    headers: z.record(name, z.string()).default({}),
    models: z.array(name).default([]),
    /** Whether the server accepts `stream_options.include_usage`. */
    stream_usage: z.boolean().default(true),
  })
  .refine((value) => value.api_key === undefined || value.api_key_env === undefined, {
    error: 'has both api_key and api_key_env; keep one',
  });

/** The JSON file that `RUNNEL_MODELS` names. */
const modelsFileSchema = z.strictObject({
  factories: z.record(name, factory).default({}),
  defaults: z
    .strictObject({
      chat: name.optional(),
      embedding: name.optional(),
      rerank: name.optional(),
      tts: name.optional(),
    })
    .default({}),
  scripted: scriptSchema.optional(),
  vision_models: z.array(name).default([]),
  context_lengths: z.record(name, z.int().min(1)).default({}),
});

const environmentSchema = z.object({
  OPENAI_BASE_URL: z.url({ protocol: /^https?$/, error: 'must be an http or https URL' }).optional(),
  OPENAI_API_KEY: z.string().optional(),
  RUNNEL_MODELS: z.string().optional(),
  LLM_MAX_RETRIES: z.coerce.number().int().min(0).max(100).default(0),
  LLM_BASE_DELAY: z.coerce.number().min(0).max(3_600).default(2),
  LLM_TIMEOUT_SECONDS: z.coerce.number().min(0.001).max(86_400).default(600),
  MAX_CONCURRENT_CHATS: z.coerce.number().int().min(1).max(100_000).default(10),
});

/** Environment variables; an empty value counts as unset. */
export type Environment = Readonly<Record<string, string | undefined>>;

/**
 * Reads what a process is told about models: `OPENAI_BASE_URL`, `OPENAI_API_KEY`, `RUNNEL_MODELS`, `LLM_MAX_RETRIES`,
 * `LLM_BASE_DELAY` and `LLM_TIMEOUT_SECONDS` (both in seconds), `MAX_CONCURRENT_CHATS`.
 *
 * `readFile` gives the text of the file that `RUNNEL_MODELS` names.
 * Errors: `CONFIG_INVALID`, with every problem and its path; never with a key.
 */
export async function modelsFromEnvironment(
  env: Environment,
  readFile: (path: string) => Promise<string>,
): Promise<ModelsConfiguration> {
  const set = Object.fromEntries(Object.entries(env).filter(([, value]) => value !== undefined && value !== ''));
  const parsed = environmentSchema.safeParse(set);
  if (!parsed.success) throw invalidSettings('The environment', parsed.error);
  const settings = parsed.data;
  const file =
    settings.RUNNEL_MODELS === undefined ? undefined : await readModelsFile(settings.RUNNEL_MODELS, readFile);
  const { factories, defaults, scripted, vision_models, context_lengths } = file ?? modelsFileSchema.parse({});
  return {
    providers: Object.entries(factories).map(([name, value]) => providerOf(name, value, set)),
    defaultProvider: defaultProviderOf(settings.OPENAI_BASE_URL, settings.OPENAI_API_KEY),
    defaults: withoutUndefined(defaults),
    script: scripted,
    visionModels: vision_models,
    contextLengths: context_lengths,
    maxRetries: settings.LLM_MAX_RETRIES,
    retryDelayMs: settings.LLM_BASE_DELAY * 1_000,
    idleTimeoutMs: Math.ceil(settings.LLM_TIMEOUT_SECONDS * 1_000),
    maxConcurrentChats: settings.MAX_CONCURRENT_CHATS,
  };
}

async function readModelsFile(
  path: string,
  readFile: (path: string) => Promise<string>,
): Promise<z.output<typeof modelsFileSchema>> {
  const what = `The file ${JSON.stringify(path)} of RUNNEL_MODELS`;
  const text = await readFile(path).catch((cause: unknown) => {
    const why = cause instanceof Error ? cause.message : String(cause);
    throw new EngineError('CONFIG_INVALID', `${what} cannot be read: ${why}`, { cause });
  });
  const parsed = modelsFileSchema.safeParse(parseJson(text, what));
  if (!parsed.success) throw invalidSettings(what, parsed.error);
  const twin = sameButForCase(Object.keys(parsed.data.factories));
  if (twin !== undefined) {
    throw new EngineError('CONFIG_INVALID', `${what} has two factories named "${twin}" but for case; keep one.`);
  }
  return parsed.data;
}

function parseJson(text: string, what: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    // Without the parser's message: it quotes the text, and the text holds keys.
    throw new EngineError('CONFIG_INVALID', `${what} is not valid JSON.`);
  }
}

function sameButForCase(names: readonly string[]): string | undefined {
  const seen = new Set<string>();
  return names.find((name) => seen.size === seen.add(name.toLowerCase()).size);
}

function providerOf(name: string, from: z.output<typeof factory>, env: Environment): ProviderSettings {
  return {
    name,
    baseUrl: from.base_url,
    apiKey: from.api_key ?? keyFrom(env, from.api_key_env, name),
    headers: from.headers,
    models: from.models,
    streamUsage: from.stream_usage,
  };
}

function keyFrom(env: Environment, variable: string | undefined, factoryName: string): string | undefined {
  if (variable === undefined) return undefined;
  const key = env[variable];
  if (key !== undefined) return key;
  throw new EngineError(
    'CONFIG_INVALID',
    `RUNNEL_MODELS: factories.${factoryName}.api_key_env names ${JSON.stringify(variable)}, which is not set.`,
  );
}

function defaultProviderOf(baseUrl: string | undefined, apiKey: string | undefined): ProviderSettings | undefined {
  if (baseUrl === undefined && apiKey === undefined) return undefined;
  return {
    name: undefined,
    baseUrl: baseUrl ?? 'https://api.openai.com/v1',
    apiKey,
    headers: {},
    models: [],
    streamUsage: true,
  };
}

function withoutUndefined<T extends object>(value: T): { [K in keyof T]: Exclude<T[K], undefined> } {
  const entries = Object.entries(value).filter(([, entry]) => entry !== undefined);
  return Object.fromEntries(entries) as { [K in keyof T]: Exclude<T[K], undefined> };
}
