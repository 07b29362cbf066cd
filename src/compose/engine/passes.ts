/** The passes of a map that has rules for them. */
import { concat, defer, EMPTY, filter, from, merge, mergeMap, NEVER, Observable, of, take, tap } from 'rxjs';
import type { NodeResult } from '../../graph/activation.js';
import { interrupt, type NodeEvent } from '../../graph/node-events.js';
import type { ConcatRule, PassRules, PassStanding } from '../step.js';
import { noOutput } from './containers.js';
import { wholeOf } from './inputs.js';
import type { StepAt } from './step-at.js';
import { settledValue } from './stream-out.js';

/** Something in the bodies waits for an answer. */
const WAITING = interrupt();

/**
 * The body once for each item, all at once; the results are in the order of the items.
 *
 * @param chunks how the chunks of a result become one value
 */
export function runPasses(
  step: StepAt,
  rules: PassRules<never, unknown>,
  items: readonly unknown[],
  chunks: ConcatRule<unknown> | undefined,
): NodeResult {
  return new Observable<NodeEvent>((subscriber) => {
    const passes = new Passes(step, rules as PassRules<unknown, unknown>, chunks);
    const results = new Array<unknown>(items.length);
    const error = (thrown: unknown): void => subscriber.error(thrown);
    const keep = (item: unknown, index: number) =>
      passes.pass(item).pipe(
        tap((value) => {
          results[index] = value;
        }),
      );
    subscriber.add(
      from(items)
        .pipe(mergeMap(keep))
        .subscribe({ error, complete: () => subscriber.next(settledValue(results)) }),
    );
    // Behind the passes, so that it is known which of them are at work.
    if (subscriber.closed) return;
    subscriber.add(
      passes.quiet$().subscribe({
        next: () => {
          step.keepPrepared();
          subscriber.next(WAITING);
        },
        error,
      }),
    );
  });
}

class Passes {
  readonly #step: StepAt;
  readonly #rules: PassRules<unknown, unknown>;
  readonly #chunks: ConcatRule<unknown> | undefined;
  readonly #restored: ReadonlySet<string>;
  #atWork = 0;
  #waiting = 0;

  constructor(step: StepAt, rules: PassRules<unknown, unknown>, chunks: ConcatRule<unknown> | undefined) {
    this.#step = step;
    this.#rules = rules;
    this.#chunks = chunks;
    this.#restored = new Set(step.node.openBodies);
  }

  /** One pass; gives its result. */
  pass(item: unknown): Observable<unknown> {
    return defer(() => {
      const rules = this.#rules;
      const known = rules.known(item, this.#step);
      if (known !== undefined) return of(known.value);
      const key = `[${rules.number(item)}]`;
      const pass: Pass = { item, key, standing: undefined };
      const instead$ = rules.instead(item, this.#step, this.#restored.has(key)).pipe(tap(() => this.#cutShort(pass)));
      // Of the two only a value ends the pass.
      return merge(concat(instead$, NEVER), concat(this.#body(pass), NEVER)).pipe(take(1));
    });
  }

  /** Emits when passes wait, none is at work, and the rules let the node wait. */
  quiet$(): Observable<unknown> {
    return this.#rules.mayWait(this.#step).pipe(
      filter((mayWait) => mayWait && this.#atWork === 0 && this.#waiting > 0),
      take(1),
    );
  }

  #body(pass: Pass): Observable<unknown> {
    return defer(() => {
      this.#stands(pass, 'at-work');
      return this.#step.node.runBody({ key: pass.key, value: pass.item });
    }).pipe(
      mergeMap(({ status, result }) => {
        if (status === 'interrupted') {
          this.#stands(pass, 'waiting');
          return EMPTY;
        }
        if (result === undefined) throw noOutput(`${this.#step.path}${pass.key}`);
        const value = wholeOf(result.value, this.#chunks, this.#step.node);
        this.#stands(pass, 'ended', value);
        return of(value);
      }),
    );
  }

  #cutShort(pass: Pass): void {
    const { standing, key } = pass;
    this.#count(pass, 'ended');
    // A pass that waits has ended for the Observable of its body, so that only its container can close it; one at work is closed with that.
    if (standing === 'waiting') this.#step.node.closeBody(key);
  }

  #stands(pass: Pass, standing: PassStanding, value?: unknown): void {
    this.#count(pass, standing);
    this.#rules.stands(pass.item, standing, this.#step, value);
  }

  #count(pass: Pass, standing: PassStanding): void {
    this.#atWork += Number(standing === 'at-work') - Number(pass.standing === 'at-work');
    this.#waiting += Number(standing === 'waiting') - Number(pass.standing === 'waiting');
    pass.standing = standing;
  }
}

/** A pass of this activation. */
interface Pass {
  readonly item: unknown;
  readonly key: string;
  /** Undefined before it begins. */
  standing: PassStanding | undefined;
}
