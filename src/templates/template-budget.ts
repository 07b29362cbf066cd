/** The budget of one rendering: steps, text, items, depth. */
import { EngineError } from '../errors.js';

/** How much a template may use; every bound must be a positive integer. */
export interface TemplateLimits {
  /** Steps: one per expression, statement and round, plus one per 256 characters, per 16 items handled and per 2 items sorted. Default 100 000. */
  readonly maxSteps?: number;
  /** Longest text that any expression or the whole template may give, in UTF-16 units. Default 1 048 576. */
  readonly maxChars?: number;
  /** Most items that a list made by the template may have. Default 100 000. */
  readonly maxItems?: number;
  /** Deepest nesting of expressions, blocks and calls. Default 300. */
  readonly maxDepth?: number;
}

/** Longest template that is parsed, in UTF-16 units. */
const MAX_TEMPLATE_CHARS = 1_048_576;

/** The remaining budget of one rendering, and its current line for messages. */
export class Budget {
  line = 1;
  private readonly limits: Required<TemplateLimits>;
  private stepsLeft: number;
  private depth = 0;

  constructor({ maxSteps = 100_000, maxChars = 1_048_576, maxItems = 100_000, maxDepth = 300 }: TemplateLimits = {}) {
    this.limits = { maxSteps, maxChars, maxItems, maxDepth };
    for (const [name, value] of Object.entries(this.limits)) {
      if (Number.isSafeInteger(value) && value > 0) continue;
      throw new EngineError('OPTION_INVALID', `${name} must be a positive integer, but is ${String(value)}.`);
    }
    this.stepsLeft = maxSteps;
  }

  /** Charges steps. */
  spend(steps = 1): void {
    this.stepsLeft -= steps;
    if (this.stepsLeft < 0) this.exceed(`more than ${this.limits.maxSteps} steps`);
  }

  /** Checks the length of a text before it is made, and charges for it. */
  reserve(chars: number): void {
    if (!(chars <= this.limits.maxChars)) this.exceed(`a text of more than ${this.limits.maxChars} characters`);
    this.spend(chars >> 8);
  }

  /** Charges for a text that was made, and returns it. */
  text(text: string): string {
    this.reserve(text.length);
    return text;
  }

  /** Charges for text that is appended to an output of `length` characters; returns the new length. */
  append(length: number, text: string): number {
    const total = length + text.length;
    if (total > this.limits.maxChars) this.exceed(`a text of more than ${this.limits.maxChars} characters`);
    this.spend(text.length >> 8);
    return total;
  }

  /** Checks the size of a list before it is made, and charges for iterating it. */
  reserveItems(count: number): void {
    if (!(count <= this.limits.maxItems)) this.exceed(`a list of more than ${this.limits.maxItems} items`);
    this.visit(count);
  }

  /** Charges for iterating existing items. */
  visit(count: number): void {
    this.spend(1 + (count >> 4));
  }

  /** Charges for sorting existing items by so many keys: every one is compared with many others. */
  sort(count: number, keys = 1): void {
    this.spend(1 + ((count * keys) >> 1));
  }

  /** Runs `body` one level deeper. */
  nest<T>(body: () => T): T {
    if (++this.depth > this.limits.maxDepth) this.exceed(`more than ${this.limits.maxDepth} levels`);
    const result = body();
    this.depth--;
    return result;
  }

  /** Ends the rendering with `TEMPLATE_FAILED`. */
  fail(problem: string): never {
    throw new EngineError('TEMPLATE_FAILED', `Template line ${this.line}: ${problem}`, {
      details: { line: this.line },
    });
  }

  private exceed(what: string): never {
    throw new EngineError('TEMPLATE_TOO_LARGE', `Template line ${this.line} needs ${what}. Make it do less.`, {
      details: { line: this.line },
    });
  }
}

/**
 * Reads and renders a template, within the length that is parsed, and gives a stack overflow its code.
 *
 * The depth bound stops a template long before the stack does, unless the caller is deep in the stack already.
 *
 * @throws EngineError `TEMPLATE_TOO_LARGE` for both.
 */
export function guardTemplate<T>(template: string, body: () => T): T {
  const { length } = template;
  if (length > MAX_TEMPLATE_CHARS) {
    const problem = `The template has ${length} characters; ${MAX_TEMPLATE_CHARS} are allowed. Shorten it.`;
    throw new EngineError('TEMPLATE_TOO_LARGE', problem);
  }
  try {
    return body();
  } catch (thrown) {
    if (!(thrown instanceof RangeError)) throw thrown;
    throw new EngineError('TEMPLATE_TOO_LARGE', 'The template is nested too deeply. Make it flatter.', {
      cause: thrown,
    });
  }
}
