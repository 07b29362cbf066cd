import { z } from 'zod';
import { EngineError } from '../errors.js';
import { jsonErrorPlace, jsonExcess, parseJson } from '../json.js';
import { invalidSettings } from './invalid-settings.js';
import { providers } from './providers/index.js';
import { type Script, scriptSchema } from './scripted.js';

/** What a model is used for. */
export type ModelKind = 'chat' | 'embedding' | 'rerank' | 'tts';

/** A provider as configured. */
export interface ProviderSettings {
  /** The factory, or `instance@Factory`; `undefined` for the one of `OPENAI_BASE_URL`. */
  readonly name: string | undefined;
  /** The kind of server: that of a definition in `src/models/providers`. */
  readonly kind: string;
  readonly baseUrl: string;
  readonly apiKey: string | undefined;
  readonly headers: Readonly<Record<string, string>>;
  /** Models known to be there, for names that come without a factory. */
  readonly models: readonly string[];
  readonly streamUsage: boolean;
}

/** A route as configured: models in an order, of which the best one that works answers. */
export interface RouteSettings {
  /** Ids of chat models, the best first. */
  readonly targets: readonly string[];
  /** See `RouteLimits`. */
  readonly afterTokens?: 'restart' | 'continue' | 'fail' | undefined;
  readonly attempts?: number | undefined;
  readonly maxCost?: number | undefined;
}

/** What a million tokens of a model cost, in any currency that all prices and ceilings share. */
export interface PriceSettings {
  readonly prompt: number;
  readonly completion: number;
}

/** The configuration of all models of a process. */
export interface ModelsConfiguration {
  /** By factory; names differ by more than case. */
  readonly providers: readonly ProviderSettings[];
  /** Where names without a known factory go; from `OPENAI_BASE_URL` and `OPENAI_API_KEY`. */
  readonly defaultProvider: ProviderSettings | undefined;
  /** The name used where none is given, per kind. */
  readonly defaults: Readonly<Partial<Record<ModelKind, string>>>;
  /** Embedding model of datasets that name none; empty for none. @default that of `defaults` */
  readonly datasetModel?: string | undefined;
  readonly script: Script | undefined;
  readonly visionModels: readonly string[];
  /** Tokens per model name. */
  readonly contextLengths: Readonly<Record<string, number>>;
  /** By purpose, such as `chat`; `route:chat` is its model id. @default none */
  readonly routes?: Readonly<Record<string, RouteSettings>>;
  /** By model id, as routes name it. @default calls cost nothing */
  readonly prices?: Readonly<Record<string, PriceSettings>>;
  /** Attempts after the first. */
  readonly maxRetries: number;
  /** Milliseconds before the first retry. */
  readonly retryDelayMs: number;
  /** Longest silence of a provider, in milliseconds. */
  readonly idleTimeoutMs: number;
  /** Model calls at once. */
  readonly maxConcurrentChats: number;
}

/** What the model id of a route begins with. */
export const ROUTE_PREFIX = 'route:';

const KINDS = providers.map(({ kind }) => kind);
/** The kind of a factory that says none, and of the default provider. */
const DEFAULT_KIND = KINDS[0] as string;

const name = z.string().trim().min(1);

const factory = z
  .strictObject({
    kind: z.enum(KINDS).default(DEFAULT_KIND),
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
    error: 'has both api_key and api_key_env; remove one',
  });

const routeTargets = z
  .array(name.refine((id) => !id.startsWith(ROUTE_PREFIX), { error: 'must be a model, not a route' }))
  .min(1)
  .refine((ids) => new Set(ids).size === ids.length, { error: 'names a model twice' });

const routeSettings = z.union([
  routeTargets,
  z.strictObject({
    targets: routeTargets,
    after_tokens: z.enum(['restart', 'continue', 'fail']).optional(),
    attempts: z.int().min(1).max(100).optional(),
    max_cost: z.number().min(0).optional(),
  }),
]);

const price = z.strictObject({ prompt: z.number().min(0), completion: z.number().min(0) });

/** The JSON file that `RUNNEL_MODELS` names. */
const modelsFileSchema = z.strictObject({
  factories: z.record(name, factory).default({}),
  defaults: z
    .strictObject({
      chat: name.exactOptional(),
      embedding: name.exactOptional(),
      rerank: name.exactOptional(),
      tts: name.exactOptional(),
    })
    .default({}),
  scripted: scriptSchema.optional(),
  vision_models: z.array(name).default([]),
  context_lengths: z.record(name, z.int().min(1)).default({}),
  /** Lists of model ids by purpose, the best first. */
  routes: z.record(z.string().regex(/^[a-z][a-z0-9_-]{0,63}$/, 'must be a lower-case word'), routeSettings).default({}),
  /** Per million tokens. */
  prices: z.record(name, price).default({}),
});

/** The settings of models, apart from their file. */
export interface ModelSettings
  extends Pick<ModelsConfiguration, 'maxRetries' | 'retryDelayMs' | 'idleTimeoutMs' | 'maxConcurrentChats'> {
  /** Base URL of the default provider. @default OpenAI's, when there is a key */
  readonly openaiBaseUrl?: string | undefined;
  readonly openaiApiKey?: string | undefined;
  /** Path of a JSON file with factories, defaults and a script. @default none */
  readonly modelsFile?: string | undefined;
}

/** How {@link readModels} reaches files and the variables that hold keys. */
export interface ReadModelsOptions {
  readonly readFile: (path: string) => Promise<string>;
  /** Where `api_key_env` is looked up. @default nowhere: a file that names a variable is refused */
  readonly env?: Readonly<Record<string, string | undefined>> | undefined;
}

/**
 * The configuration of all models: settings, and what their file says.
 *
 * Errors: `CONFIG_INVALID`, with every problem of the file and its path; never with a key.
 */
export async function readModels(settings: ModelSettings, options: ReadModelsOptions): Promise<ModelsConfiguration> {
  const { openaiBaseUrl, openaiApiKey, modelsFile, ...limits } = settings;
  const file = modelsFile === undefined ? undefined : await readModelsFile(modelsFile, options.readFile);
  const { factories, defaults, scripted, vision_models, context_lengths, routes, prices } =
    file ?? modelsFileSchema.parse({});
  return {
    providers: Object.entries(factories).map(([name, value]) => providerOf(name, value, options.env)),
    defaultProvider: defaultProviderOf(openaiBaseUrl, openaiApiKey),
    defaults,
    script: scripted,
    visionModels: vision_models,
    contextLengths: context_lengths,
    routes: Object.fromEntries(Object.entries(routes).map(([purpose, route]) => [purpose, routeOf(route)])),
    prices,
    ...limits,
  };
}

function routeOf(route: z.output<typeof routeSettings>): RouteSettings {
  if (Array.isArray(route)) return { targets: route };
  const { targets, after_tokens: afterTokens, attempts, max_cost: maxCost } = route;
  return { targets, afterTokens, attempts, maxCost };
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
  const value = parseJson(text);
  // Without the parser's message: it quotes the text, and the text holds keys.
  if (value === undefined) {
    const excess = jsonExcess(text);
    const why = excess ?? `is not valid JSON: ${jsonErrorPlace(text)}`;
    throw new EngineError('CONFIG_INVALID', `${what} ${why}.`);
  }
  const parsed = modelsFileSchema.safeParse(value);
  if (!parsed.success) throw invalidSettings(what, parsed.error);
  const twin = sameButForCase(Object.keys(parsed.data.factories));
  if (twin !== undefined) {
    throw new EngineError('CONFIG_INVALID', `${what} has two factories named "${twin}" but for case; remove one.`);
  }
  return parsed.data;
}

function sameButForCase(names: readonly string[]): string | undefined {
  const seen = new Set<string>();
  return names.find((name) => seen.size === seen.add(name.toLowerCase()).size);
}

function providerOf(
  name: string | undefined,
  from: z.output<typeof factory>,
  env?: ReadModelsOptions['env'],
): ProviderSettings {
  return {
    name,
    kind: from.kind,
    baseUrl: from.base_url,
    apiKey: from.api_key ?? keyFrom(env, from.api_key_env, name ?? ''),
    headers: from.headers,
    models: from.models,
    streamUsage: from.stream_usage,
  };
}

function keyFrom(env: ReadModelsOptions['env'], variable: string | undefined, factoryName: string): string | undefined {
  if (variable === undefined) return undefined;
  const key = env?.[variable];
  if (key !== undefined && key !== '') return key;
  const why = env === undefined ? 'but this file may read no variables; name it in RUNNEL_MODELS' : 'which is not set';
  throw new EngineError(
    'CONFIG_INVALID',
    `RUNNEL_MODELS: factories.${factoryName}.api_key_env names ${JSON.stringify(variable)}, ${why}.`,
  );
}

function defaultProviderOf(baseUrl: string | undefined, apiKey: string | undefined): ProviderSettings | undefined {
  if (baseUrl === undefined && apiKey === undefined) return undefined;
  const usual = factory.parse({ base_url: 'https://api.openai.com/v1' });
  return { ...providerOf(undefined, usual), baseUrl: baseUrl ?? usual.base_url, apiKey };
}
