import type { Log } from '../../logger.js';
import type { Models } from '../../models/router.js';
import type { TargetState } from '../../models/routing/open-routes.js';
import type { MetricRegistry } from '../../telemetry/metric-registry.js';

/** The breakers of models as they were when they were asked last. */
export class BreakerStates {
  readonly #models: Pick<Models, 'routes'>;
  readonly #log: Log;
  #targets: readonly TargetState[] = [];

  constructor(models: Pick<Models, 'routes'>, registry: MetricRegistry, log: Log) {
    this.#models = models;
    this.#log = log;
    registry.gauge('runnel_model_breakers', 'Targets of model routes: 1 for the state that each is in.', () =>
      this.#targets.map(({ target, state }) => ({ labels: { target, state }, value: 1 })),
    );
  }

  /** Asks again; gives what was known before when that fails. */
  async refresh(): Promise<readonly TargetState[]> {
    try {
      this.#targets = (await (await this.#models.routes?.())?.states()) ?? [];
    } catch (error) {
      this.#log.warn({ err: error }, 'the states of models could not be read');
    }
    return this.#targets;
  }
}
