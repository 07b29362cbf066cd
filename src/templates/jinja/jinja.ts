import type { JsonObject } from '../../json.js';
import { Budget, checkTemplateLength, guardStack, type TemplateLimits } from '../template-budget.js';
import { execute, Output } from './execute.js';
import { applyFilter } from './filters.js';
import { createGlobals } from './globals.js';
import { parseJinja } from './parse.js';
import { type Host, plainHost, type Runtime, Scope } from './runtime.js';
import { applyTest } from './tests.js';
import { dict, own, type Value } from './values.js';

/**
 * Renders a Jinja template with `values` as its names. Braces have Jinja's meaning only; references are not replaced.
 *
 * The language is Jinja2's without files: output, `if for set with macro call filter block raw`, `break` and `continue`,
 * all operators, tests and filters that make sense on JSON. Templates read own keys and positions only and change
 * nothing. Booleans, lists and objects are written as JSON, none as nothing.
 *
 * @throws EngineError `TEMPLATE_INVALID` (does not parse), `TEMPLATE_FAILED` (fails while it runs), `TEMPLATE_TOO_LARGE`
 * (exceeds a limit); the first two name the line.
 */
export function renderJinja(template: string, values: JsonObject, limits: TemplateLimits = {}): string {
  const names = dict(Object.entries(values));
  return renderJinjaWith(
    template,
    plainHost((name) => own(names, name)),
    false,
    limits,
  );
}

/** Renders a Jinja template whose names, and with `references` its references too, come from a host. */
export function renderJinjaWith(
  template: string,
  host: Host,
  references: boolean,
  limits: TemplateLimits = {},
): string {
  checkTemplateLength(template);
  const budget = new Budget(limits);
  return guardStack(() => {
    const body = parseJinja(template, references);
    const globals = createGlobals(budget);
    const orGlobal = (value: Value, name: string): Value => (value === undefined ? globals.get(name) : value);
    const run: Runtime = {
      budget,
      host: { ...host, name: (name) => orGlobal(host.name(name), name) },
      applyFilter: (name, value, args) => applyFilter(name, value, args, run),
      applyTest: (name, value, args) => applyTest(name, value, args, run),
    };
    const out = new Output(budget);
    execute(body, new Scope(), out, run);
    return out.toString();
  });
}
