/** The routes of a process, as its configuration names them. */
import { createHash } from 'node:crypto';
import { asyncScheduler, type SchedulerLike } from 'rxjs';
import { EngineError } from '../../errors.js';
import type { Log } from '../../logger.js';
import { didYouMean } from '../../nearest-name.js';
import type { ChatModel } from '../chat-model.js';
import { type ModelsConfiguration, type ProviderSettings, ROUTE_PREFIX } from '../configuration.js';
import { resolveModel } from '../resolve-model.js';
import { admission, type BreakerState, callsIn } from './breaker.js';
import type { BreakerStore } from './breaker-store.js';
import { Breakers } from './breakers.js';
import { FirstPacketTimes } from './first-packet-times.js';
import { createModelRoute, type ModelRoute } from './model-route.js';
import type { RouteTarget } from './route-target.js';

/** A target of a route, as it is at a moment. */
export interface TargetState {
  /** As the configuration names it. */
  readonly target: string;
  readonly model: string;
  readonly provider?: string;
  /** Purposes of the routes that use it. */
  readonly routes: readonly string[];
  readonly state: BreakerState['phase'] | 'paused';
  /** Why it is open. */
  readonly reason?: string;
  /** When a probe may be made, or the pause ends; milliseconds since 1970. */
  readonly until?: number;
  /** Calls that ended within the last 60 s. */
  readonly succeeded: number;
  readonly failed: number;
  /** 95th percentile of what it took to its last first packets here, in milliseconds. */
  readonly firstPacketMs?: number;
}

/** All routes of a process, and the breakers of their targets. */
export interface ModelRoutes {
  /** The route of a purpose. @throws EngineError MODEL_UNKNOWN */
  route(purpose: string): ModelRoute;
  /** The route that an id names, such as `route:chat`; for the id of a model a route with this one target. @throws EngineError MODEL_UNKNOWN */
  routeTo(llmId: string): ModelRoute;
  /** The targets of all routes, each once. */
  states(): Promise<readonly TargetState[]>;
  /** Opens a target until it is closed, or closes it. @throws EngineError NOT_FOUND, STORE_UNAVAILABLE */
  force(target: string, state: 'open' | 'closed'): Promise<TargetState>;
  /** Shares the breakers with other processes from now on. */
  share(store: BreakerStore): void;
  close(): void;
}

/** Models that requests name themselves and that are remembered, with how fast they were. */
const MAX_SINGLES = 1_000;

/** What routes are made with. */
export interface OpenRoutesOptions {
  /** The model of a provider without retries and seats; without a provider the built-in one. */
  readonly modelOf: (provider: ProviderSettings | undefined) => ChatModel;
  readonly random?: (() => number) | undefined;
  readonly scheduler?: SchedulerLike | undefined;
  readonly log?: Log | undefined;
  /** See `BreakersOptions`. */
  readonly onChange?: ((target: string, state: BreakerState) => void) | undefined;
}

/**
 * Makes all routes of a configuration. A model that several routes name has one breaker.
 *
 * @throws EngineError MODEL_UNKNOWN for a target that cannot be resolved.
 */
export function openRoutes(configuration: ModelsConfiguration, options: OpenRoutesOptions): ModelRoutes {
  const { scheduler = asyncScheduler, random, log, onChange } = options;
  const { routes = {}, retryDelayMs } = configuration;
  const names = new Map<string, string>();
  const breakers = new Breakers({
    scheduler,
    log,
    onChange: (name, state) => onChange?.(names.get(name) ?? name, state),
  });
  const targets = new Map<string, RouteTarget>();
  const targetOf = (id: string): RouteTarget => {
    const known = targets.get(id);
    if (known !== undefined) return known;
    const target = createTarget(id, configuration, options);
    targets.set(id, target);
    names.set(target.breaker, id);
    return target;
  };
  const made = new Map(
    Object.entries(routes).map(([name, { targets: ids, ...limits }]) => [
      name,
      createModelRoute({ name, targets: ids.map(targetOf), breakers, retryDelayMs, random, scheduler, ...limits }),
    ]),
  );
  const purposesOf = (id: string): string[] => Object.keys(routes).filter((name) => routes[name]?.targets.includes(id));
  const stateOf = (target: RouteTarget): TargetState =>
    describe(target, breakers.of(target.breaker), purposesOf(target.id), scheduler.now());

  const singles = new Map<string, ModelRoute>();
  const single = (id: string): ModelRoute => {
    const known = singles.get(id);
    if (known !== undefined) return known;
    const target = targets.get(id) ?? createTarget(id, configuration, options);
    const route = createModelRoute({ name: id, targets: [target], breakers, retryDelayMs, random, scheduler });
    // Ids come from documents, so they have a bound; whose route is dropped only forgets how fast it was.
    if (singles.size >= MAX_SINGLES) singles.delete(singles.keys().next().value as string);
    singles.set(id, route);
    return route;
  };
  const find = (purpose: string): ModelRoute => {
    const route = made.get(purpose);
    if (route !== undefined) return route;
    const known = [...made.keys()];
    throw new EngineError(
      'MODEL_UNKNOWN',
      `There is no route "${purpose}".${didYouMean(purpose, known)} Routes are ${known.join(', ') || 'not configured'}; add it to "routes" in the file of RUNNEL_MODELS.`,
    );
  };

  return {
    route: find,
    routeTo: (id) => (id.startsWith(ROUTE_PREFIX) ? find(id.slice(ROUTE_PREFIX.length)) : single(id)),
    async states() {
      await new Promise<void>((resolve) => {
        const fresh$ = breakers.refreshed([...names.keys()]);
        if (fresh$ === undefined) resolve();
        else fresh$.subscribe({ complete: resolve });
      });
      return [...targets.values()].map(stateOf);
    },
    async force(id, state) {
      const target = targets.get(id);
      if (target === undefined) throw new EngineError('NOT_FOUND', `No route has the target "${id}".`);
      await breakers.force(target.breaker, state);
      return stateOf(target);
    },
    share: (store) => breakers.share(store),
    close() {
      breakers.close();
      for (const route of [...made.values(), ...singles.values()]) route.close();
    },
  };
}

function createTarget(id: string, configuration: ModelsConfiguration, { modelOf }: OpenRoutesOptions): RouteTarget {
  const { name, provider } = resolveModel(configuration, 'chat', id);
  return {
    id,
    breaker: `breaker:${id}#${digestOf(name, provider)}`,
    name,
    provider: provider === undefined ? 'scripted' : (provider.name ?? 'default'),
    model: modelOf(provider),
    price: configuration.prices?.[id],
    times: new FirstPacketTimes(),
  };
}

/** Changes with everything that decides where a call goes and with which key, so that a new key is tried at once. */
function digestOf(name: string, provider: ProviderSettings | undefined): string {
  const { kind, baseUrl, apiKey = '', headers = {} } = provider ?? { kind: 'scripted', baseUrl: '' };
  const text = JSON.stringify([name, kind, baseUrl, apiKey, headers]);
  return createHash('sha256').update(text).digest('base64url').slice(0, 8);
}

function describe(target: RouteTarget, breaker: BreakerState, routes: readonly string[], now: number): TargetState {
  const { phase, reason, until, pausedUntil } = breaker;
  const isPaused = admission(breaker, now) === 'paused';
  const end = isPaused ? pausedUntil : until;
  const firstPacketMs = target.times.percentile;
  return {
    target: target.id,
    model: target.name,
    ...(target.provider !== undefined && { provider: target.provider }),
    routes,
    state: isPaused ? 'paused' : phase,
    ...(reason !== undefined && { reason }),
    ...(end !== undefined && { until: end }),
    ...callsIn(breaker, now),
    ...(firstPacketMs !== undefined && { firstPacketMs }),
  };
}
