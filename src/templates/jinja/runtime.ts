import type { Reference } from '../../dsl/reference.js';
import type { Budget } from '../template-budget.js';
import type { Arguments, Value } from './values.js';

/** Where a template's names and references come from. */
export interface Host {
  /** Gives the value of a name that the template does not set itself; undefined when there is none. */
  name(name: string): Value;
  /** Gives the value of a reference inside of a tag. */
  reference(reference: Reference): Value;
  /** Gives the text that stands for a reference in text; `written` is its source. */
  referenceText(reference: Reference, written: string): string;
}

/** What every part of the evaluator needs. */
export interface Runtime {
  readonly budget: Budget;
  readonly host: Host;
  applyFilter(name: string, value: Value, args: Arguments): Value;
  applyTest(name: string, value: Value, args: Arguments): boolean;
}

/** A host that knows no references; for templates that stand alone. */
export function plainHost(name: (name: string) => Value): Host {
  return { name, reference: () => undefined, referenceText: (_reference, written) => written };
}

/** Names of a body, and those around it. */
export class Scope {
  private readonly values = new Map<string, Value>();
  constructor(private readonly parent?: Scope) {}

  set(name: string, value: Value): void {
    this.values.set(name, value);
  }

  /** Gives the nearest value of a name; `missing` is asked when no scope has it. */
  get(name: string, missing: (name: string) => Value): Value {
    for (let scope: Scope | undefined = this; scope !== undefined; scope = scope.parent) {
      if (scope.values.has(name)) return scope.values.get(name);
    }
    return missing(name);
  }
}
