/** What the calls of a build may take. */
import type { CallBudget, CallSpent } from '../../knowledge/graph/calls/ask-twice.js';
import type { BuildWork } from './build-work.js';

/** The budget of a build, for one of its layers: asked before each call, so that it is never exceeded by more than one. */
export class BuildBudget implements CallBudget {
  readonly #work: BuildWork;
  readonly #missing: string;
  readonly #price: { readonly prompt: number; readonly completion: number } | undefined;
  #calls = 0;
  #prompt = 0;
  #completion = 0;
  isReached = false;

  /** @param missing what is noted when there is no room for a call */
  constructor(work: BuildWork, model: string, missing: string) {
    this.#work = work;
    this.#missing = missing;
    this.#price = work.options.price?.(work.request.model === '' ? model : work.request.model);
  }

  take({ prompt, completion }: CallSpent): boolean {
    const { budget } = this.#work.request;
    const { spent } = this.#work.progress;
    const [allPrompt, allCompletion] = [this.#prompt + prompt, this.#completion + completion];
    const isOver =
      spent.calls + this.#calls >= (budget.calls ?? Number.POSITIVE_INFINITY) ||
      spent.tokens + allPrompt + allCompletion > (budget.tokens ?? Number.POSITIVE_INFINITY) ||
      this.#work.ms >= (budget.ms ?? Number.POSITIVE_INFINITY) ||
      (budget.money !== undefined && (spent.money ?? 0) + this.#cost(allPrompt, allCompletion) > budget.money);
    if (isOver) {
      this.isReached = true;
      this.#work.miss(this.#missing);
      return false;
    }
    this.#calls += 1;
    this.#prompt = allPrompt;
    this.#completion = allCompletion;
    return true;
  }

  settle(expected: CallSpent, { prompt, completion }: CallSpent): void {
    this.#calls -= 1;
    this.#prompt -= expected.prompt;
    this.#completion -= expected.completion;
    const money = this.#price === undefined ? null : this.#cost(prompt, completion);
    this.#work.spend({ calls: 1, tokens: prompt + completion, money });
  }

  #cost(prompt: number, completion: number): number {
    const { prompt: ofPrompt = 0, completion: ofCompletion = 0 } = this.#price ?? {};
    return (prompt * ofPrompt + completion * ofCompletion) / 1e6;
  }
}
