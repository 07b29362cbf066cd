import type { Models } from '../../models/router.js';
import type { MetricRegistry, Point } from '../../telemetry/metric-registry.js';

/** How much a server has to do at a moment. */
export interface ServerLoad {
  readonly runs: number;
  /** Event streams over HTTP. */
  readonly streams: number;
  readonly webSockets: number;
  /** Runs that clients follow over WebSockets; an event stream follows exactly one. */
  readonly followedOverWebSockets: number;
  /** Events that wait: for the log, and for clients. */
  readonly queues: { readonly log: number; readonly clients: number };
  /** Chats that wait until they may begin. */
  readonly waitingChats: number;
  readonly indexes: { readonly open: number; readonly passages: number };
}

/** Adds the numbers that only a server has to its metrics. */
export function addServerGauges(registry: MetricRegistry, models: Pick<Models, 'load'>, read: () => ServerLoad): void {
  registry.gauge('runnel_runs_active', 'Runs in progress.', () => read().runs);
  registry.gauge('runnel_open_sockets', 'Connections of clients that follow runs.', () => {
    const { streams, webSockets } = read();
    return pointsBy('kind', { sse: streams, websocket: webSockets });
  });
  registry.gauge('runnel_run_subscriptions', 'Clients that follow a run, counted by run.', () => {
    const { streams, followedOverWebSockets } = read();
    return streams + followedOverWebSockets;
  });
  registry.gauge(
    'runnel_queue_depth',
    'What waits: events for the log and for clients, calls for a model, chats.',
    () => {
      const { queues, waitingChats: chats } = read();
      const { log, clients } = queues;
      return pointsBy('queue', { log, clients, models: models.load?.().waiting ?? 0, chats });
    },
  );
  registry.gauge('runnel_search_indexes', 'Search indexes in memory.', () => read().indexes.open);
  registry.gauge('runnel_search_passages', 'Passages that these indexes find.', () => read().indexes.passages);
  registry.gauge('runnel_model_calls', 'Calls of chat models at work and in the queue.', () => {
    const { running, waiting } = models.load?.() ?? { running: 0, waiting: 0 };
    return pointsBy('state', { running, waiting });
  });
}

/** A value for each value of one label. */
function pointsBy(label: string, values: Readonly<Record<string, number>>): readonly Point[] {
  return Object.entries(values).map(([name, value]) => ({ labels: { [label]: name }, value }));
}
