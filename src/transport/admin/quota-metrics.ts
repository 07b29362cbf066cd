import { EngineError } from '../../errors.js';
import type { Log } from '../../logger.js';
import {
  DEFAULT_QUOTAS,
  type QuotaDetails,
  type QuotaName,
  type Usage,
  type UsageStore,
} from '../../records/quotas.js';
import type { Counter, MetricRegistry } from '../../telemetry/metric-registry.js';

/** How long what the stores count is used for. */
const FRESH_MS = 5_000;

/** Bytes that are being received, and the most that may be. */
interface Received {
  readonly bytes: number;
  readonly maxBytes: number;
}

/** What of a server the metrics of quotas are read from. */
export interface QuotaSources {
  readonly registry: MetricRegistry;
  /** @default nothing has a quota */
  readonly usage: UsageStore | undefined;
  /** The most sessions that one tenant is known to have. */
  readonly sessions: () => number;
  /** Bytes that are being received, of files and of what is read into memory. */
  readonly uploads: Received;
  readonly bodies: Received;
  readonly log: Log;
  readonly now: () => number;
}

/** How much tenants store, in metrics; no tenant is named. */
export class QuotaMetrics {
  readonly #sources: QuotaSources;
  readonly #refusals: Counter;
  #most: Partial<Usage> = {};
  #readAt = Number.NEGATIVE_INFINITY;

  constructor(sources: QuotaSources) {
    const { registry, usage, uploads, bodies } = sources;
    this.#sources = sources;
    this.#refusals = registry.counter('runnel_quota_refusals_total', 'Requests refused for a quota of their tenant.', [
      'quota',
    ]);
    registry.gauge('runnel_received_bytes', 'Bytes that are being received: of uploads, of bodies in memory.', () => [
      { labels: { kind: 'uploads' }, value: uploads.bytes },
      { labels: { kind: 'bodies' }, value: bodies.bytes },
    ]);
    registry.gauge('runnel_received_bytes_limit', 'The most of them.', () => [
      { labels: { kind: 'uploads' }, value: uploads.maxBytes },
      { labels: { kind: 'bodies' }, value: bodies.maxBytes },
    ]);
    if (usage === undefined) return;
    const names = Object.keys(DEFAULT_QUOTAS) as QuotaName[];
    registry.gauge('runnel_quota_limit', 'What one tenant may store, versions one agent; 0: any number.', () =>
      names.map((name) => ({ labels: { quota: name }, value: usage.quotas[name] })),
    );
    registry.gauge('runnel_quota_used', 'What the tenant stores that stores the most of it.', () => {
      const used: Partial<Record<QuotaName, number>> = { ...this.#most, sessions: sources.sessions() };
      return names.flatMap((name) => {
        const value = used[name];
        return value === undefined ? [] : [{ labels: { quota: name }, value }];
      });
    });
  }

  /** Counts an error that is the refusal of a quota. */
  refused(error: unknown): void {
    if (!EngineError.is(error) || error.code !== 'QUOTA_EXCEEDED') return;
    this.#refusals.add(1, (error.details as QuotaDetails).quota.name);
  }

  /** Asks the stores before metrics are read, every five seconds at most; what they cannot say stays as it was. */
  async refresh(): Promise<void> {
    const { usage, log, now } = this.#sources;
    if (usage === undefined || now() - this.#readAt < FRESH_MS) return;
    this.#readAt = now();
    try {
      this.#most = await usage.most();
    } catch (error) {
      log.warn({ err: error }, 'what tenants store could not be counted for the metrics');
    }
  }
}
