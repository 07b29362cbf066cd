import { firstValueFrom, isObservable, lastValueFrom, type Observable, of, toArray } from 'rxjs';
import { describe, expect, it } from 'vitest';
import type { CodeRequest, CodeResult, CodeRunner } from '../../src/adapters/sandbox/code-runner.js';
import { toolComponent } from '../../src/components/tool-component.js';
import type { NodeEvent } from '../../src/graph/node-events.js';
import type { Json, JsonObject } from '../../src/json.js';
import { callTool, definitionOf } from '../../src/tools/call-tool.js';
import { codeExec } from '../../src/tools/code-exec.js';
import type { ToolServices } from '../../src/tools/tool-services.js';
import { openRunner } from '../adapters/sandbox/support/run-code.js';
import { storeOf } from '../components/excel-run.js';
import { activationOf, nodeOf } from '../components/text-activation.js';
import { type Calling, callOf, errorOf, resultOf } from './support/upstream.js';

const DONE: CodeResult = { status: 'success', stdout: '', stderr: '', exitCode: 0, timeUsedMs: 1, artifacts: [] };

/** A runner that answers as it is told, and keeps what it was asked. */
function fake(answer: Partial<CodeResult>) {
  const asked: CodeRequest[] = [];
  const code: CodeRunner = {
    run(request) {
      asked.push(request);
      return of({ ...DONE, ...answer });
    },
    async close() {},
  };
  return { asked, services: { code } };
}

const csv = { name: 'a.csv', mimeType: 'text/csv', bytes: new TextEncoder().encode('a,b') };
const png = { name: 'b].png', mimeType: 'image/png', bytes: new Uint8Array([1]) };

const calling = (services: ToolServices, outputs: JsonObject = { answer: { type: 'Any' } }): Calling => ({
  args: { lang: 'python', script: 's' },
  params: { outputs },
  services,
});

describe('the outputs', () => {
  it('hold the value, as it is and as text', async () => {
    const { services } = fake({ result: { value: { b: 1, a: 'é' } }, stdout: 'log', stderr: 'careful' });

    const { text, outputs } = await resultOf(codeExec, '', calling(services));

    expect(text).toBe('{\n  "a": "é",\n  "b": 1\n}');
    expect(outputs).toEqual({
      answer: { b: 1, a: 'é' },
      content: text,
      actual_type: 'Object',
      raw_result: { b: 1, a: 'é' },
      attachments: [],
      stdout: 'log',
      stderr: 'careful',
      exit_code: 0,
      _ERROR: '',
      _ARTIFACTS: null,
      _ATTACHMENT_CONTENT: '',
    });
  });

  it('hold files that are kept as long as the operator says', async () => {
    const { services } = fake({ result: { value: 'made' }, artifacts: [csv] });
    const { saved, services: files } = storeOf();
    await resultOf(codeExec, '', calling({ ...services, ...files, tools: { artifactDays: 0 } }));
    expect(saved).toEqual([csv]);
  });

  it('hold files as links, which the server gives back', async () => {
    const { services } = fake({ result: { value: 'made' }, artifacts: [csv, png] });
    const { saved, services: files } = storeOf();
    const session = { id: 'a/b' };

    const { text, outputs, artifacts } = await resultOf(codeExec, '', calling({ ...services, ...files, session }));

    const urls = ['doc-1.csv', 'doc-2.png'].map((name) => `/api/v1/documents/artifact/${name}?session_id=a%2Fb`);
    const expiresAt = Date.parse('2026-11-28T12:00:00Z');
    expect(saved).toEqual([csv, png].map((file) => ({ ...file, expiresAt })));
    expect(artifacts).toEqual([
      { name: 'a.csv', mimeType: 'text/csv', bytes: 3, url: urls[0] },
      { name: 'b].png', mimeType: 'image/png', bytes: 1, url: urls[1] },
    ]);
    expect(outputs.attachments).toEqual([`[Download a.csv](${urls[0]})`, `![b\\].png](${urls[1]})`]);
    expect(outputs._ATTACHMENT_CONTENT).toBe(
      `attachment_count: 2\n\nattachment1 (csv): a.csv\na,b\n\nattachment2 (image): b].png\nArtifact generated but parse failed. Download: ${urls[1]}`,
    );
    expect(text).toBe(`made\n\n${outputs._ATTACHMENT_CONTENT}`);
  });

  it('name files that nobody keeps', async () => {
    const { services } = fake({ result: { value: null }, artifacts: [csv] });

    const { outputs, artifacts } = await resultOf(codeExec, '', calling(services));

    expect(artifacts).toBeUndefined();
    expect(outputs).toMatchObject({ attachments: ['a.csv'], _ARTIFACTS: null });
  });

  it('read what was printed when main returned nothing', async () => {
    const { services } = fake({ stdout: "{'a': (1, True)}\n" });

    expect((await resultOf(codeExec, '', calling(services))).outputs.answer).toEqual({ a: [1, true] });
  });
});

describe('failures', () => {
  it.each<[string, Partial<CodeResult>, JsonObject | undefined, string]>([
    [
      'another type',
      { result: { value: 'x' } },
      undefined,
      'CodeExec contract mismatch at value: expected type Object, got String',
    ],
    [
      'another type within',
      { result: { value: ['a', 1] } },
      { a: { type: 'array<string>' } },
      'CodeExec contract mismatch at [1]: expected type String, got Number',
    ],
    ['an error of the script', { status: 'program_error', stderr: 'boom' }, undefined, 'boom'],
    [
      'a limit',
      { status: 'resource_limit_exceeded', limit: 'time', stderr: '' },
      undefined,
      'the script exceeded a limit (time)',
    ],
    ['two outputs', {}, { a: {}, b: {} }, 'outputs must declare exactly one output of your own; it declares "a", "b"'],
  ])('%s', async (_what, answer, outputs, message) => {
    const { services } = fake(answer);
    const error = await errorOf(codeExec, '', calling(services, outputs ?? {}));

    expect(error).toMatchObject({ code: 'TOOL_FAILED', message: `CodeExec error: ${message}` });
  });

  it('names a language that cannot be run', async () => {
    const { services, asked } = fake({});
    const error = await errorOf(codeExec, '', { ...calling(services), args: { lang: 'ruby', script: '' } });

    expect(error).toMatchObject({ code: 'TOOL_ARGUMENTS' });
    expect(error.message).toContain('"ruby"');
    expect(asked).toEqual([]);
  });

  it('says that there is no sandbox', async () => {
    expect(await errorOf(codeExec, '', calling({}))).toMatchObject({ code: 'CONFIG_INVALID' });
  });
});

it('is a function that models can call', () => {
  const { name, parameters } = definitionOf(codeExec);

  expect(name).toBe('execute_code');
  expect(parameters).toEqual({
    type: 'object',
    required: ['lang', 'script'],
    properties: {
      lang: { type: 'string', enum: ['python', 'javascript'], description: expect.any(String) },
      script: { type: 'string', description: expect.any(String) },
      arguments: { type: 'object', default: {}, description: expect.any(String) },
    },
  });
});

it('gives a model’s script the arguments that the document declares, unless the model does', async () => {
  const { services, asked } = fake({ result: { value: null } });
  const call = callOf(codeExec, '', {
    services,
    params: {
      arguments: { q: 'sys.query', blank: ' ', own: 'sys.query', list: ['{sys.query}'], __proto__x: 1 },
      outputs: { a: {} },
    },
  });
  const { source } = activationOf({ variables: { 'sys.query': 'hello' } });
  const args = { lang: 'nodejs', script: 's', arguments: { own: 7, constructor: 'c' } };

  await lastValueFrom(callTool(codeExec, args, { ...call, source }));

  expect(asked).toEqual([
    {
      language: 'nodejs',
      source: 's',
      args: { q: 'hello', blank: null, own: 7, list: ['hello'], constructor: 'c', __proto__x: 1 },
    },
  ]);
});

describe('as a node', () => {
  const runner = openRunner();

  const say = async (params: JsonObject, variables: JsonObject = {}): Promise<NodeEvent | undefined> => {
    const node = nodeOf(toolComponent(codeExec), params);
    const result = node(activationOf({ variables, services: { code: runner } }));
    if (!isObservable(result)) throw new Error('expected a stream');
    return (await lastValueFrom((result as Observable<NodeEvent>).pipe(toArray()))).at(-1);
  };

  it.each<[string, JsonObject, Json]>([
    [
      'python',
      { lang: 'python', script: "def main(q, n):\n  return {'q': q, 'n': n, 'ref': '{sys.query}'}" },
      { q: 'hi', n: 3, ref: '{sys.query}' },
    ],
    ['python by default', { script: "def main(q, n):\n  return {'q': q}" }, { q: 'hi' }],
    [
      'nodejs',
      { lang: 'nodejs', script: 'module.exports = { main: async ({ q, n }) => ({ q, n, ref: "{sys.query}" }) }' },
      { q: 'hi', n: 3, ref: '{sys.query}' },
    ],
  ])('runs %s: arguments are replaced, the script is not', async (_what, params, value) => {
    const event = await say(
      { ...params, arguments: { q: 'sys.query', n: '{sys.count}' } },
      { 'sys.query': 'hi', 'sys.count': 3 },
    );

    expect(event).toMatchObject({ type: 'settled', outputs: { result: value, _ERROR: '', actual_type: 'Object' } });
  });

  it('needs no value that only its script names', () => {
    const component = toolComponent(codeExec);

    expect(component.needs?.({ script: '{LLM:a@content}', arguments: { x: '{LLM:b@content}' } })).toEqual([
      'LLM:b@content',
    ]);
  });

  it('is stopped by unsubscribing', async () => {
    const script = 'def main():\n  while True: pass';
    const result = nodeOf(toolComponent(codeExec), { script })(activationOf({ services: { code: runner } }));
    const subscription = (result as Observable<NodeEvent>).subscribe();
    subscription.unsubscribe();

    // Its place is free again, or nothing would ever run after a few stops.
    const request: CodeRequest = { language: 'nodejs', source: 'function main() { return 1 }', args: {} };
    expect((await firstValueFrom(runner.run(request))).result?.value).toBe(1);
  });
});
