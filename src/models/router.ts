import { mergeMap, type Observable, type SchedulerLike } from 'rxjs';
import type { Dispatcher } from 'undici';
import { EngineError } from '../errors.js';
import type { Log } from '../logger.js';
import { didYouMean } from '../nearest-name.js';
import { fromAbortable } from '../operators/from-abortable.js';
import { invalidOption, requireList, requireObject } from '../operators/invalid-option.js';
import type { ChatModel, ChatRequest } from './chat-model.js';
import { type ModelKind, type ModelsConfiguration, type ProviderSettings, ROUTE_PREFIX } from './configuration.js';
import { type Connection, type ConnectionOptions, createConnection } from './connection.js';
import type { ProviderDefinition } from './define-provider.js';
import { createLimiter, type Limiter, withLimit } from './limiter.js';
import { providers } from './providers/index.js';
import { defaultProviderFor, hasProviders, type ResolvedModel, resolveModel } from './resolve-model.js';
import { type RetryPolicy, withRetries } from './retry-policy.js';
import type { BreakerStore } from './routing/breaker-store.js';
import type { ModelRoute, RouteLimits } from './routing/model-route.js';
import type { ModelRoutes, OpenRoutesOptions } from './routing/open-routes.js';
import type { RouteDelta } from './routing/route-target.js';
import { createScriptedModel, type ScriptedModelOptions } from './scripted.js';
import {
  type AskOptions,
  createEmbedder,
  createReranker,
  createSpeechModel,
  type Embedder,
  type Reranker,
  type SpeechModel,
} from './single-answer.js';

/** A chat model, ready to be called. */
export interface ChatChoice {
  /** Retries as the request or the configuration says, within the limit of concurrent calls. */
  readonly model: ChatModel;
  /** What to put into a request's `model`. */
  readonly name: string;
  /** Its provider, as the configuration names it. @default unknown */
  readonly provider?: string;
  readonly supportsImages: boolean;
  /** Tokens; undefined when the configuration does not say. */
  readonly contextLength: number | undefined;
}

/** What is configured, fit for a log: no keys, no headers. */
export interface ModelsDescription {
  readonly isScripted: boolean;
  /** Where names without a known factory go. */
  readonly defaultProvider: ProviderDescription | undefined;
  readonly providers: readonly ProviderDescription[];
  readonly defaults: Readonly<Partial<Record<ModelKind, string>>>;
  /** Embedding model of datasets that name none; empty for none. @default that of `defaults` */
  readonly datasetModel?: string | undefined;
  readonly maxConcurrentChats: number;
  /** Models that see pictures. @default not known */
  readonly visionModels?: readonly string[];
  /** Tokens by model name. @default not known */
  readonly contextLengths?: Readonly<Record<string, number>>;
  /** What a million tokens cost, by model id. @default no price is known */
  readonly prices?: ModelsConfiguration['prices'];
  /** Targets of the routes, by purpose. @default there are none */
  readonly routes?: Readonly<Record<string, readonly string[]>>;
}

/** A provider, fit for a log. */
export interface ProviderDescription {
  readonly name: string;
  readonly baseUrl: string;
  readonly hasKey: boolean;
  readonly models: readonly string[];
  /** Kinds of models that its server can have. @default not known */
  readonly uses?: readonly ModelKind[];
}

/** All models of a process. An id that cannot be resolved is `MODEL_UNKNOWN`. */
export interface Models {
  /** An id such as `route:chat` is a route of the configuration: its targets answer in their order, see `createModelRoute`. */
  chat(llmId: string): ChatChoice;
  /**
   * Answers by a route, or by one model behind its breaker, for readers that know `retract`. The request's `model` does not matter.
   *
   * Errors: those of `ModelRoute.answer`, and `MODEL_UNKNOWN`.
   */
  answer?(llmId: string, request: ChatRequest, limits?: RouteLimits): Observable<RouteDelta>;
  /** The routes and the states of their targets; loaded with the first call. */
  routes?(): Promise<ModelRoutes>;
  /** Shares the breakers of targets with other processes from now on. */
  shareBreakers?(store: BreakerStore, log?: Log): void;
  /** The same models for the calls of one tenant: tenants take turns at the seats for chats. @default all share one queue */
  forTenant?(tenant: string): Models;
  embedder(modelId?: string): Embedder;
  reranker(modelId?: string): Reranker;
  speech(modelId?: string): SpeechModel;
  describe(): ModelsDescription;
  /** Chats that run, and that wait for a seat. @default not known */
  load?(): { readonly running: number; readonly waiting: number };
  /** Whether no server is configured, so that every chat is answered by the scripted model. */
  readonly isScripted: boolean;
  /** Ends all connections, also those in use. */
  close(): Promise<void>;
}

/** Parts that a process may provide itself. */
export interface ModelsOptions {
  /** Shared with other model calls. @default one of `maxConcurrentChats` */
  readonly limiter?: Limiter | undefined;
  /** Connections, for proxies and tests; `close()` leaves it open. @default an Agent of its own */
  readonly dispatcher?: Dispatcher | undefined;
  /** The built-in model in place of the one made from the configuration's script. */
  readonly scripted?: ChatModel | undefined;
  /** Receives calls of the built-in model. */
  readonly onScriptedCall?: ScriptedModelOptions['onCall'];
  /** Source of jitter between retries, in [0, 1). @default Math.random */
  readonly random?: (() => number) | undefined;
  /** Where retries and scripted delays wait. @default RxJS's timers */
  readonly scheduler?: SchedulerLike | undefined;
}

/** A provider's settings made into clients, once. */
interface Connected {
  readonly definition: ProviderDefinition;
  readonly connection: Connection;
  /** Without retries and seats. */
  readonly chat: ChatModel;
}

/**
 * Makes the models of a process: finds the provider of each name, retries, and limits how many chats run at once.
 *
 * The limit holds a seat per attempt, none while waiting between attempts. Nothing is connected before the first call.
 *
 * @throws EngineError `CONFIG_INVALID` for a bad script, `OPTION_INVALID` for bad settings.
 */
export function createModels(configuration: ModelsConfiguration, options: ModelsOptions = {}): Models {
  requireList('createModels', 'providers', configuration?.providers, 'in what modelsFromEnvironment(…) gives');
  requireObject('createModels', 'options', options, 'an object');
  const { limiter = createLimiter({ maxConcurrent: configuration.maxConcurrentChats }), scheduler } = options;
  const retry: RetryPolicy = {
    maxRetries: configuration.maxRetries,
    delayMs: configuration.retryDelayMs,
    ...(options.random && { random: options.random }),
    ...(scheduler && { scheduler }),
  };
  const prepared = (model: ChatModel, tenant?: string): ChatModel =>
    withRetries(withLimit(model, limiter, tenant), retry);
  const scripted =
    options.scripted ?? createScriptedModel(configuration.script, { onCall: options.onScriptedCall, scheduler });
  const connections = openLater();
  const { dispatcher = connections.open } = options;

  const connected = new Map<ProviderSettings, Connected>();
  for (const settings of allProviders(configuration)) {
    const definition = definitionOf(settings);
    const connection = openConnection(definition, settings, { dispatcher, idleTimeoutMs: configuration.idleTimeoutMs });
    connected.set(settings, { definition, connection, chat: definition.chat(connection, settings) });
  }
  const connectionOf = ({ provider }: ResolvedModel): Connected | undefined => provider && connected.get(provider);

  const askOptions = (kind: ModelKind, modelId: string): AskOptions => {
    const resolved = resolveModel(configuration, kind, modelId);
    // Only chat resolves to no provider.
    const { definition, connection } = connectionOf(resolved) as Connected;
    return { definition, connection, model: resolved.name, retry };
  };

  const routes = openRoutesLater(configuration, {
    modelOf: (provider) => (provider && connected.get(provider)?.chat) ?? scripted,
    random: options.random,
    scheduler,
  });
  const through = <T>(id: string, work: (route: ModelRoute) => Observable<T>): Observable<T> =>
    fromAbortable(routes.open).pipe(mergeMap((opened) => work(opened.routeTo(id))));
  const single = (llmId: string, tenant?: string): ChatChoice => {
    const resolved = resolveModel(configuration, 'chat', llmId);
    const { name } = resolved;
    return {
      model: prepared(connectionOf(resolved)?.chat ?? scripted, tenant),
      name,
      provider: resolved.provider === undefined ? 'scripted' : (resolved.provider.name ?? 'default'),
      supportsImages: configuration.visionModels.some((vision) => vision === name || vision === llmId),
      contextLength: lengthOf(configuration.contextLengths, llmId) ?? lengthOf(configuration.contextLengths, name),
    };
  };
  const routed = (id: string, tenant?: string): ChatChoice => {
    const choices = targetsOf(configuration, id).map((target) => single(target));
    const lengths = choices.flatMap(({ contextLength = [] }) => contextLength);
    return {
      model: {
        chat: (request) => through(id, (route) => route.asModel({ seats: limiter.limit(tenant) }).chat(request)),
      },
      name: id,
      provider: 'route',
      // Whichever of them answers has to see and to read it all.
      supportsImages: choices.every(({ supportsImages }) => supportsImages),
      contextLength: lengths.length === 0 ? undefined : Math.min(...lengths),
    };
  };
  for (const purpose of Object.keys(configuration.routes ?? {})) routed(ROUTE_PREFIX + purpose);

  const modelsOf = (tenant?: string): Models => ({
    isScripted: !hasProviders(configuration),
    forTenant: modelsOf,
    chat(llmId) {
      const id = chatId(configuration, llmId);
      return id.startsWith(ROUTE_PREFIX) ? routed(id, tenant) : single(id, tenant);
    },
    answer: (llmId, request, limits) =>
      through(chatId(configuration, llmId), (route) =>
        route.answer(request, { ...limits, seats: limiter.limit(tenant) }),
      ),
    routes: routes.open,
    shareBreakers: routes.share,
    embedder: (modelId = '') => createEmbedder(askOptions('embedding', modelId)),
    reranker: (modelId = '') => createReranker(askOptions('rerank', modelId)),
    speech: (modelId = '') => createSpeechModel(askOptions('tts', modelId)),
    describe: () => describe(configuration),
    load: () => ({ running: limiter.running, waiting: limiter.waiting }),
    // Destroyed and not closed: a provider that hangs must not delay the end of the process.
    close: async () => {
      await routes.close();
      await connections.close();
    },
  });
  return modelsOf();
}

/** Routes, made at the first request to one: few processes have any. */
function openRoutesLater(configuration: ModelsConfiguration, options: Omit<OpenRoutesOptions, 'log'>) {
  let opened: Promise<ModelRoutes> | undefined;
  let shared: { readonly store: BreakerStore; readonly log: Log | undefined } | undefined;
  const make = async (): Promise<ModelRoutes> => {
    const { openRoutes } = await import('./routing/open-routes.js');
    const made = openRoutes(configuration, { ...options, log: shared?.log });
    if (shared !== undefined) made.share(shared.store);
    return made;
  };
  return {
    open(): Promise<ModelRoutes> {
      opened ??= make();
      return opened;
    },
    share(store: BreakerStore, log?: Log): void {
      shared = { store, log };
      void opened?.then((routes) => routes.share(store));
    },
    async close(): Promise<void> {
      (await opened)?.close();
    },
  };
}

/** The id of a chat model: what is asked for, else the default model, else the route "chat". */
function chatId({ defaults, routes = {} }: ModelsConfiguration, llmId: string): string {
  const id = llmId.trim() || (defaults.chat ?? '');
  return id === '' && Object.hasOwn(routes, 'chat') ? `${ROUTE_PREFIX}chat` : id;
}

/** The targets of `route:…`. @throws EngineError MODEL_UNKNOWN */
function targetsOf({ routes = {} }: ModelsConfiguration, id: string): readonly string[] {
  const purpose = id.slice(ROUTE_PREFIX.length);
  const route = Object.hasOwn(routes, purpose) ? routes[purpose] : undefined;
  if (route !== undefined) return route.targets;
  const known = Object.keys(routes);
  throw new EngineError(
    'MODEL_UNKNOWN',
    `There is no route "${purpose}".${didYouMean(purpose, known)} Add it to "routes" in the file of RUNNEL_MODELS; there are: ${known.join(', ') || 'none'}.`,
  );
}

/** Connections of its own, made at the first call: most processes that run a canvas never call a provider. */
function openLater(): { readonly open: () => Promise<Dispatcher>; readonly close: () => Promise<void> } {
  let opened: Promise<Dispatcher> | undefined;
  let isClosed = false;
  const connect = async (): Promise<Dispatcher> => {
    // Loaded here, as the client takes a quarter of the start of a process that makes no calls. No limit of connections: the limiter
    // of model calls has one.
    const { Agent } = await import('undici');
    const dispatcher = new Agent({ connect: { timeout: 10_000 }, keepAliveTimeout: 10_000 });
    // A call may have waited for this while everything was closed.
    if (isClosed) await dispatcher.destroy();
    return dispatcher;
  };
  return {
    open() {
      opened ??= connect();
      return opened;
    },
    async close() {
      isClosed = true;
      await (await opened)?.destroy();
    },
  };
}

function definitionOf({ kind }: Pick<ProviderSettings, 'kind'>): ProviderDefinition {
  const definition = providers.find((one) => one.kind === kind);
  if (definition !== undefined) return definition;
  throw invalidOption('createModels', 'kind', `one of ${providers.map((one) => one.kind).join(', ')}`, kind);
}

/** The server of a provider; what the configuration sets as headers wins over the provider's own. */
export function openConnection(
  definition: ProviderDefinition,
  settings: Pick<ConnectionOptions, 'baseUrl' | 'apiKey' | 'headers'>,
  options: Omit<ConnectionOptions, 'baseUrl' | 'apiKey' | 'headers' | 'chatPath'>,
): Connection {
  // Of two names that differ in case alone a connection takes the later one.
  const headers = { ...definition.headers(settings.apiKey), ...settings.headers };
  return createConnection({ ...options, ...settings, headers, chatPath: definition.chatPath });
}

function allProviders({ providers, defaultProvider }: ModelsConfiguration): readonly ProviderSettings[] {
  return defaultProvider === undefined ? providers : [...providers, defaultProvider];
}

function lengthOf(lengths: Readonly<Record<string, number>>, name: string): number | undefined {
  return Object.hasOwn(lengths, name) ? lengths[name] : undefined;
}

function describe(configuration: ModelsConfiguration): ModelsDescription {
  const fallback = defaultProviderFor(configuration, 'chat');
  return {
    isScripted: !hasProviders(configuration),
    defaultProvider: fallback && describeProvider(fallback),
    providers: configuration.providers.map(describeProvider),
    defaults: configuration.defaults,
    datasetModel: configuration.datasetModel,
    maxConcurrentChats: configuration.maxConcurrentChats,
    visionModels: configuration.visionModels,
    contextLengths: configuration.contextLengths,
    ...(configuration.prices !== undefined && { prices: configuration.prices }),
    routes: Object.fromEntries(
      Object.entries(configuration.routes ?? {}).map(([purpose, { targets }]) => [purpose, targets]),
    ),
  };
}

function describeProvider(settings: ProviderSettings): ProviderDescription {
  const { name, baseUrl, apiKey, models } = settings;
  const { embed, rerank, speech } = definitionOf(settings);
  const url = new URL(baseUrl);
  return {
    name: name ?? 'default',
    // Without the query, which may hold a key.
    baseUrl: `${url.origin}${url.pathname}`,
    hasKey: apiKey !== undefined,
    models,
    uses: [
      'chat',
      ...(embed ? (['embedding'] as const) : []),
      ...(rerank ? (['rerank'] as const) : []),
      ...(speech ? (['tts'] as const) : []),
    ],
  };
}
