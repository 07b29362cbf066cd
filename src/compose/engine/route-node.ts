/** A node that passes its input on to the routes that it chooses: by the whole value, or by the first chunks of it. */
import { Observable } from 'rxjs';
import { EngineError } from '../../errors.js';
import type { NodeActivation, NodeResult } from '../../graph/activation.js';
import type { NodeEvent } from '../../graph/node-events.js';
import { Chunks } from '../../graph/typed.js';
import { nearestName } from '../../nearest-name.js';
import { Interrupt } from '../interrupt.js';
import type { RouteBlueprint } from '../step.js';
import type { RunContext } from './context.js';
import { chunkInput, type Inlet, pathAt, wholeInput } from './inputs.js';
import { isThenable } from './later.js';
import { StepAt, type StepPlace } from './step-at.js';
import { settledChunks, settledValue } from './stream-out.js';

/** Chunks that may wait for a decision. */
const MAX_PREFIX = 65_536;

/** What a router is made of. */
export interface RouteNodeParts {
  readonly route: RouteBlueprint;
  readonly inlet: Inlet;
  readonly place: StepPlace;
  /** Ids of nodes of the plan by label; filled by the compiler. */
  readonly targets: ReadonlyMap<string, readonly string[]>;
}

/** The work of a router. */
export class RouteNode {
  readonly #parts: RouteNodeParts;

  constructor(parts: RouteNodeParts) {
    this.#parts = parts;
  }

  activate(at: NodeActivation): NodeResult {
    const { chunks } = at.services as RunContext;
    if (this.#parts.route.choosePrefix !== undefined)
      return this.#byPrefix(at, chunkInput(this.#parts.inlet, at, chunks));
    return this.#byValue(at);
  }

  #byValue(at: NodeActivation): NodeResult {
    const { inlet, route, place } = this.#parts;
    const context = at.services as RunContext;
    const value = wholeInput(inlet, at, context.chunks);
    const inside = new StepAt(at, context, place);
    const labels = route.choose?.(value as never, inside);
    // The value goes on as it came, so that what was a stream stays one.
    const { arrival } = at;
    const isAsItCame = inlet.input === undefined && arrival?.next === undefined && arrival?.value instanceof Chunks;
    const passed = isAsItCame ? arrival.value : value;
    const settle = (chosen: unknown) => settledValue(passed, { next: this.#targetsOf(at, chosen) });
    if (!isThenable(labels)) return settle(labels);
    // Its chooser may run a step that asks.
    return inside.later(labels, settle);
  }

  /**
   * ```text
   * chunks    a--b--c--d--|       (chosen at b)
   * chosen    ---(ab)-c--d--|
   * ```
   */
  #byPrefix(at: NodeActivation, chunks: Observable<unknown>): NodeResult {
    return new Observable<NodeEvent>((subscriber) => {
      const prefix: unknown[] = [];
      let next: readonly string[] | undefined;
      const end = () => {
        subscriber.next(settledChunks(at, { next: next ?? [] }));
        subscriber.complete();
      };
      const decide = (isLast: boolean): void => {
        const labels = this.#parts.route.choosePrefix?.(prefix as never[], isLast);
        if (labels === undefined) {
          this.#requireDecision(at, prefix.length, isLast);
          return;
        }
        next = this.#targetsOf(at, labels);
        at.open({ next, onUnread: end });
        for (let index = 0; index < prefix.length && !subscriber.closed; index += 1) at.write(prefix[index]);
        prefix.length = 0;
      };
      const attempt = (action: () => void): void => {
        try {
          action();
        } catch (error) {
          subscriber.error(error);
        }
      };
      return chunks.subscribe({
        next: (chunk) =>
          attempt(() => {
            if (next !== undefined) {
              at.write(chunk);
              return;
            }
            prefix.push(chunk);
            decide(false);
          }),
        error: (error: unknown) => subscriber.error(error),
        complete: () =>
          attempt(() => {
            if (next === undefined) decide(true);
            if (!subscriber.closed) end();
          }),
      });
    });
  }

  #requireDecision(at: NodeActivation, length: number, isLast: boolean): void {
    if (!isLast && length < MAX_PREFIX) return;
    const node = pathAt(at);
    if (isLast) {
      const message = `Branch "${node}" chose no route although all ${length} chunks had come; let its chooser give a label when "isLast" is true.`;
      throw new EngineError('NODE_TARGET_UNKNOWN', message, { node });
    }
    const message = `Branch "${node}" has not chosen a route after ${MAX_PREFIX} chunks; let its chooser decide earlier.`;
    throw new EngineError('LIMIT_REACHED', message, { node });
  }

  /** @throws EngineError NODE_TARGET_UNKNOWN naming the routes that there are. */
  #targetsOf(at: NodeActivation, chosen: unknown): readonly string[] {
    const { targets } = this.#parts;
    const only = typeof chosen === 'string' ? targets.get(chosen) : undefined;
    if (only !== undefined) return only;
    const labels = Array.isArray(chosen) ? (chosen as readonly unknown[]) : [chosen];
    const ids = labels.flatMap((label) => {
      const found = typeof label === 'string' ? targets.get(label) : undefined;
      if (found !== undefined) return found;
      const node = pathAt(at);
      if (label instanceof Interrupt) {
        const message = `Branch "${node}" was given a question by its chooser, which cannot ask; ask in a step before it.`;
        throw new EngineError('NODE_PROTOCOL', message, { node });
      }
      const near = typeof label === 'string' ? nearestName(label, [...targets.keys()]) : undefined;
      const hint = near === undefined ? '' : ` Did you mean "${near}"?`;
      const message = `Branch "${node}" chose ${JSON.stringify(label) ?? String(label)}, which is none of its routes: ${[...targets.keys()].map((name) => `"${name}"`).join(', ')}.${hint}`;
      throw new EngineError('NODE_TARGET_UNKNOWN', message, { node });
    });
    return [...new Set(ids)];
  }
}
