import { userInfo } from 'node:os';
import { describe, expect, it } from 'vitest';
import { EngineError } from '../../src/errors.js';
import { renderHandlebars, renderJinja, renderTemplate } from '../../src/templates/template.js';
import { sourceOf } from '../dsl/value-source.js';
import { ESCAPE_PAYLOADS } from './escape-payloads.js';

const SECRET = 'runnel-secret-5f1c';
const VALUES = { d: { a: 1 }, xs: ['x'] };
const SOURCE = sourceOf({ outputs: { a: { x: 'v' } }, variables: { 'sys.query': 'q' } });

/** Every way in which text of an author is rendered. */
const WAYS: readonly (readonly [string, (template: string) => string])[] = [
  ['Jinja', (template) => renderJinja(template, VALUES)],
  ['Handlebars', (template) => renderHandlebars(template, VALUES)],
  ['Jinja of a canvas', (template) => renderTemplate(template, 'jinja', SOURCE)],
  ['Jinja of a canvas with types', (template) => renderTemplate(template, 'jinja', SOURCE, { values: 'typed' })],
  ['Handlebars of a canvas', (template) => renderTemplate(template, 'handlebars', SOURCE, { values: 'typed' })],
];

/** What must never be in an output unless it is in the template. */
const FORBIDDEN = [
  process.version,
  SECRET,
  process.execPath,
  '[native code]',
  '[object ',
  'function ',
  'root:x:',
  `uid=${userInfo().uid}`,
];

describe.each(WAYS)('%s', (_name, render) => {
  it.each(ESCAPE_PAYLOADS)('is not escaped by %s', (payload) => {
    process.env.RUNNEL_TEST_SECRET = SECRET;
    let output = '';
    try {
      output = render(payload);
    } catch (thrown) {
      expect(thrown).toBeInstanceOf(EngineError);
      expect((thrown as EngineError).code).toMatch(/^TEMPLATE_/);
      output = (thrown as EngineError).message;
    } finally {
      delete process.env.RUNNEL_TEST_SECRET;
    }
    for (const word of FORBIDDEN) if (!payload.includes(word)) expect(output).not.toContain(word);
    expect(({} as Record<string, unknown>).polluted).toBeUndefined();
  });
});

it('has at least 40 payloads, all different', () => {
  expect(new Set(ESCAPE_PAYLOADS).size).toBeGreaterThanOrEqual(40);
  expect(new Set(ESCAPE_PAYLOADS).size).toBe(ESCAPE_PAYLOADS.length);
});
