import { describe, expect, it } from 'vitest';
import type { ReadResult } from '../../src/dsl/document.js';
import { MAX_ISSUES } from '../../src/dsl/issues.js';
import { MAX_DOCUMENT_CHARACTERS, parseDocument, readDocument } from '../../src/dsl/read.js';
import { EngineError } from '../../src/errors.js';

const begin = { obj: { component_name: 'Begin', params: {} }, downstream: [], upstream: [] };

/** `severity code path` of every issue. */
function summary(result: ReadResult): string[] {
  return result.issues.map((issue) => `${issue.severity} ${issue.code} ${issue.path}`);
}

/** A version 1 document with a Begin and the given other components. */
function withComponents(others: object, top: object = {}): object {
  return { components: { begin, ...others }, ...top };
}

function component(fields: object = {}, params: unknown = {}): object {
  return { obj: { component_name: 'LLM', params }, downstream: [], ...fields };
}

describe('what is no document', () => {
  it.each<[string, unknown, string, RegExp]>([
    ['broken JSON', '{"components": {},\n  }', 'DOCUMENT_NOT_JSON', /line 2, column 3/],
    ['an empty text', '', 'DOCUMENT_NOT_JSON', /JSON/],
    ['a number', 7, 'DOCUMENT_UNKNOWN_VERSION', /expected a JSON object, received the number 7/],
    ['undefined', undefined, 'DOCUMENT_UNKNOWN_VERSION', /received nothing/],
    ['an empty object', {}, 'DOCUMENT_UNKNOWN_VERSION', /no "version", and there is no "components"/],
    ['another version', { version: 99, components: {} }, 'DOCUMENT_UNKNOWN_VERSION', /"version" is 99, not 2/],
    [
      'nameless components',
      { components: { a: {} } },
      'DOCUMENT_UNKNOWN_VERSION',
      /class name in "obj.component_name"/,
    ],
    ['a text that is too long', ' '.repeat(MAX_DOCUMENT_CHARACTERS + 1), 'DOCUMENT_INVALID', /at most/],
  ])('%s', (_, source, code, message) => {
    try {
      parseDocument(source);
      expect.unreachable();
    } catch (thrown) {
      if (!EngineError.is(thrown)) throw thrown;
      expect(thrown.code).toBe(code);
      expect(thrown.message).toMatch(message);
      expect(thrown.details).toEqual({ issues: readDocument(source).issues });
    }
  });

  it('still gives a draft for a canvas without components', () => {
    const { document, issues } = readDocument({ components: {}, graph: { nodes: [] }, title: 'new' });
    expect(issues.some((issue) => issue.severity === 'error')).toBe(true);
    expect(document).toMatchObject({ version: 1, components: {}, extra: { title: 'new' } });
  });

  it('lists every error with its path in one message', () => {
    const source = withComponents({ x: component({ downstream: ['a', 'b'] }), y: 3 }, { history: 1 });
    const paths = ['$.history: ', '$.components.y: ', '"x" leads to "a"', '"x" leads to "b"'];
    const message = expect.stringMatching(/4 problems/);
    expect(() => parseDocument(source)).toThrow(expect.objectContaining({ code: 'DOCUMENT_INVALID', message }));
    for (const path of paths) expect(() => parseDocument(source)).toThrow(path);
  });

  it('puts the path of a template file before every path', () => {
    expect(summary(readDocument({ dsl: withComponents({}, { history: 1 }) }))).toEqual([
      'error wrong-type $.dsl.history',
    ]);
  });
});

describe('hostile documents', () => {
  it('drops __proto__ keys with an error and pollutes nothing', () => {
    const text =
      '{"components":{"begin":{"obj":{"component_name":"Begin","params":{"__proto__":{"polluted":1}}}},"__proto__":{}}}';
    const { document, issues } = readDocument(text);
    expect(issues.map((issue) => [issue.code, issue.path])).toEqual([
      ['unsafe-key', '$.components.begin.obj.params.__proto__'],
      ['unsafe-key', '$.components.__proto__'],
    ]);
    expect(document?.components.begin?.params).toEqual({});
    expect(Object.keys(document?.components ?? {})).toEqual(['begin']);
    expect({}).not.toHaveProperty('polluted');
  });

  it('refuses nesting of more than 200 levels, however deep', () => {
    const nested = `${'['.repeat(100_000)}${']'.repeat(100_000)}`;
    const text = `{"components":{"begin":{"obj":{"component_name":"Begin","params":{"x":${nested}}}}}}`;
    expect(summary(readDocument(text))).toEqual(['error too-deep $.components.begin.obj.params.x']);
  });

  it('reads values that contain themselves or are no JSON', () => {
    const params: Record<string, unknown> = { big: 1n, call: () => 1, nan: Number.NaN, gone: undefined };
    params.self = [params, params];
    const result = readDocument(withComponents({ x: component({}, params) }));
    expect(new Set(result.issues.map((issue) => issue.code))).toEqual(new Set(['not-json-value']));
    expect(result.document?.components.x?.params).toEqual({ big: null, call: null, nan: null, self: [null, null] });
  });

  it('bounds the number of issues without losing the first error', () => {
    const claims = Array.from({ length: MAX_ISSUES + 50 }, (_, index) => `ghost${index}`);
    const { issues } = readDocument({ components: { start: begin, x: component({ upstream: claims }) } });
    expect(issues).toHaveLength(MAX_ISSUES + 1);
    expect(issues.some((issue) => issue.code === 'no-entry')).toBe(true);
    expect(issues.at(-1)).toMatchObject({ code: 'too-many-issues', message: expect.stringContaining('51 more') });
  });

  it('reads 5,000 components in one chain', () => {
    const components: Record<string, object> = { begin: { ...begin, downstream: ['LLM:0'] } };
    for (let index = 0; index < 5000; index += 1) {
      components[`LLM:${index}`] = component({ downstream: index < 4999 ? [`LLM:${index + 1}`] : [] });
    }
    expect(readDocument(JSON.stringify({ components })).issues).toEqual([]);
  });
});
