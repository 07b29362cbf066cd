/** Documents of at most 2 MiB whose check took minutes, and the event loop with it. */
import { expect, it } from 'vitest';
import { checkCanvas } from '../../src/canvas/load-canvas.js';
import { MAX_NODES, MAX_REFERENCES } from '../../src/dsl/document-size.js';
import type { JsonObject } from '../../src/json.js';

const MANY = 5_000;

/** An object of so many entries. */
const many = (entry: (at: number) => readonly [string, unknown], count = MANY): JsonObject =>
  Object.fromEntries(Array.from({ length: count }, (_, at) => entry(at))) as JsonObject;

const component = (name: string, params: object, rest: object = {}) => ({
  obj: { component_name: name, params },
  downstream: [],
  upstream: [],
  ...rest,
});

const withMessage = (params: object, rest: object = {}) => ({
  components: {
    begin: component('Begin', {}, { downstream: ['Message:A'] }),
    'Message:A': component('Message', params, { upstream: ['begin'] }),
  },
  ...rest,
});

it('compares few of many unknown variables with many known ones', () => {
  const content = Array.from({ length: MAX_REFERENCES }, (_, at) => `{env.vv${at}}`).join(' ');
  const globals = many((at) => [`env.v_${at}`, '']);
  const { issues } = checkCanvas(withMessage({ content: [content] }, { globals }));
  expect(issues.length).toBeGreaterThan(0);
  expect(issues.length).toBeLessThan(50);
  expect(issues.map(({ code }) => code)).not.toContain('too-large');
});

it('tries few of many parameters whether something reads them', () => {
  const params = many((at) => [`conten${at}`, at]);
  const { issues } = checkCanvas(withMessage({ content: ['x'], ...params }));
  expect(issues.every(({ severity }) => severity === 'warning')).toBe(true);
  expect(issues.length).toBeLessThan(50);
  expect(issues.map(({ code }) => code)).not.toContain('too-large');
});

it('walks through containers within as many others as a document may have once', () => {
  const containers = many(
    (at) => [
      `Iteration:${at}`,
      component('Iteration', {}, { parent_id: at === 0 ? undefined : `Iteration:${at - 1}` }),
    ],
    MAX_NODES - 1,
  );
  const { issues } = checkCanvas({ components: { begin: component('Begin', {}), ...containers } });
  expect(issues.length).toBeGreaterThan(0);
  expect(issues.map(({ code }) => code)).not.toContain('too-large');
});
