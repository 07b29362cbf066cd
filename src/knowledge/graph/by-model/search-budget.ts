/** What the calls of a search may take. */
import type { CallBudget, CallSpent } from '../calls/ask-twice.js';
import type { GraphQuery, GraphSearchBudget } from '../graph-search.js';

/** The budget of a search: asked before each call, so that it is never exceeded by more than one. */
export class SearchBudget implements CallBudget {
  readonly #most: { readonly calls: number; readonly tokens: number };
  readonly #whole: SearchBudget | undefined;
  readonly #onCall: GraphQuery['onCall'];
  #calls = 0;
  #tokens = 0;
  #taken = { calls: 0, tokens: 0 };

  /** @param onCall told what each call took. @param whole what it is a part of, which tells instead */
  constructor({ calls, tokens }: GraphSearchBudget, onCall?: GraphQuery['onCall'], whole?: SearchBudget) {
    this.#onCall = onCall;
    this.#most = { calls: calls ?? Number.POSITIVE_INFINITY, tokens: tokens ?? Number.POSITIVE_INFINITY };
    this.#whole = whole;
  }

  get spent(): { readonly calls: number; readonly tokens: number } {
    return { calls: this.#calls, tokens: this.#tokens };
  }

  /** What is left of it. */
  get left(): { readonly calls: number; readonly tokens: number } {
    return {
      calls: this.#most.calls - this.#calls - this.#taken.calls,
      tokens: this.#most.tokens - this.#tokens - this.#taken.tokens,
    };
  }

  /** A share of what is left: one call at least, where there is one. */
  part(share: number): SearchBudget {
    const { calls, tokens } = this.left;
    return new SearchBudget({ calls: Math.max(1, Math.floor(calls * share)), tokens: tokens * share }, undefined, this);
  }

  take(expected: CallSpent): boolean {
    const { calls, tokens } = this.left;
    const wanted = expected.prompt + expected.completion;
    if (calls < 1 || tokens < wanted || this.#whole?.take(expected) === false) return false;
    this.#taken = { calls: this.#taken.calls + 1, tokens: this.#taken.tokens + wanted };
    return true;
  }

  settle(expected: CallSpent, spent: CallSpent): void {
    const { calls, tokens } = this.#taken;
    this.#taken = { calls: calls - 1, tokens: tokens - expected.prompt - expected.completion };
    this.#calls += 1;
    this.#tokens += spent.prompt + spent.completion;
    this.#whole?.settle(expected, spent);
    const { prompt: promptTokens, completion: completionTokens } = spent;
    this.#onCall?.({ promptTokens, completionTokens, totalTokens: promptTokens + completionTokens });
  }
}
