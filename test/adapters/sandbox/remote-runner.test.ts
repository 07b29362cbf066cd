import { once } from 'node:events';
import { firstValueFrom } from 'rxjs';
import { describe, expect, it } from 'vitest';
import { createEgressClient } from '../../../src/adapters/egress/egress-client.js';
import type { CodeRequest, CodeResult } from '../../../src/adapters/sandbox/code-runner.js';
import { createRemoteRunner } from '../../../src/adapters/sandbox/remote-runner.js';
import type { Json } from '../../../src/json.js';
import { startUpstream } from '../../tools/support/upstream.js';
import { serve, textOf } from '../egress/support/servers.js';
import { tellResult } from './support/run-code.js';

const REQUEST: CodeRequest = { language: 'python', source: 'def main(x): return "é"', args: { x: 1, y: null } };

const remote = (endpoint: string, timeoutMs = 10_000) =>
  // No private network for authors: the operator's own service is reached nevertheless.
  createRemoteRunner({ http: createEgressClient(), endpoint, timeoutMs });

const executor = (json: Json, status = 200) => startUpstream({ 'POST /run': { status, json } });

const answer = (more: Record<string, Json> = {}): Json => ({
  status: 'success',
  stdout: '',
  stderr: '',
  exit_code: 0,
  detail: null,
  time_used_ms: 41.2,
  memory_used_kb: null,
  resource_limit_type: null,
  unauthorized_access_type: null,
  runtime_error_type: null,
  artifacts: [],
  result: { present: true, value: { a: 1 }, type: 'json' },
  ...more,
});

const failed = (more: Record<string, Json>): Json =>
  answer({ result: { present: false, value: null, type: null }, ...more });

it('sends the script in Base64, with its arguments', async () => {
  const { origin, asked } = await executor(answer());

  const result = await firstValueFrom(remote(`${origin}/`).run(REQUEST));

  expect(tellResult(result)).toBe('value {"a":1}');
  expect(asked).toHaveLength(1);
  expect(JSON.parse(asked[0]?.body ?? '')).toEqual({
    code_b64: Buffer.from(REQUEST.source).toString('base64'),
    language: 'python',
    arguments: { x: 1, y: null },
  });
});

it('passes the trace on', async () => {
  const { origin, asked } = await executor(answer());
  const traceparent = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01';

  await firstValueFrom(remote(`${origin}/`).run({ ...REQUEST, trace: { traceparent } }));

  expect(asked[0]?.headers.traceparent).toBe(traceparent);
});

it('keeps the path of its endpoint', async () => {
  const { origin, asked } = await startUpstream({ 'POST /sandbox/run': { json: answer() } });

  await firstValueFrom(remote(`${origin}/sandbox`).run(REQUEST));

  expect(asked.map(({ path }) => path)).toEqual(['/sandbox/run']);
});

it.each([
  ['a result', answer(), 'value {"a":1}'],
  ['a result of null', answer({ result: { present: true, value: null, type: 'json' } }), 'value null'],
  ['no result', failed({ stdout: '7' }), 'value null'],
  [
    'a result on a marked line',
    failed({ stdout: `a\n__RAGFLOW_RESULT__:${Buffer.from('{"present":true,"value":[1]}').toString('base64')}\n` }),
    'value [1]',
  ],
  ['a warning beside a result', answer({ stderr: 'old' }), 'value {"a":1}'],
  ['nothing but stderr', failed({ stderr: 'boom' }), 'success : boom'],
  [
    'a program error',
    failed({ status: 'program_error', exit_code: 1, stderr: 'Traceback', runtime_error_type: 'nonzero_exit' }),
    'program_error : Traceback',
  ],
  [
    'a silent program error',
    failed({ status: 'program_error', exit_code: 3 }),
    'program_error : the script ended with exit code 3',
  ],
  [
    'a time limit',
    failed({
      status: 'resource_limit_exceeded',
      exit_code: -124,
      resource_limit_type: 'time',
      stderr: 'Execution timeout',
    }),
    'resource_limit_exceeded time: the script exceeded a limit (time): Execution timeout',
  ],
  [
    'a memory limit',
    failed({ status: 'resource_limit_exceeded', exit_code: -137, resource_limit_type: 'memory' }),
    'resource_limit_exceeded memory: the script exceeded a limit (memory)',
  ],
  [
    'an output limit',
    failed({ status: 'resource_limit_exceeded', exit_code: -1, resource_limit_type: 'output' }),
    'resource_limit_exceeded output: the script exceeded a limit (output)',
  ],
  [
    'forbidden files',
    failed({
      status: 'unauthorized_access',
      exit_code: 1,
      unauthorized_access_type: 'file_access',
      stderr: 'Permission denied',
    }),
    'unauthorized_access : the script tried something that the sandbox does not allow (file_access): Permission denied',
  ],
  [
    'a forbidden call',
    failed({ status: 'unauthorized_access', exit_code: 1, unauthorized_access_type: 'disallowed_syscall' }),
    'unauthorized_access : the script tried something that the sandbox does not allow (disallowed_syscall)',
  ],
  [
    'unsafe code',
    failed({ status: 'program_runner_error', exit_code: -999, detail: 'Code is unsafe', stderr: 'Line 1: import os' }),
    'program_runner_error : the sandbox did not run the script: Code is unsafe\nLine 1: import os',
  ],
  [
    'an inner error',
    failed({ status: 'program_runner_error', exit_code: -3, detail: 'internal_error' }),
    'program_runner_error : the sandbox did not run the script: internal_error',
  ],
  [
    'no container',
    failed({ status: 'program_runner_error', exit_code: -10, detail: 'no_available_container' }),
    'program_runner_error : the sandbox did not run the script: no_available_container',
  ],
  [
    'too many requests',
    failed({ status: 'program_runner_error', exit_code: -429, stderr: 'Rate limit exceeded' }),
    'program_runner_error : the sandbox did not run the script: Rate limit exceeded',
  ],
])('understands %s', async (_what, json, expected) => {
  const { origin } = await executor(json);

  expect(tellResult(await firstValueFrom(remote(origin).run(REQUEST)))).toBe(expected);
});

it('takes files that may come back, by their names', async () => {
  const content = Buffer.from('<svg/>').toString('base64');
  const artifacts = [
    { name: 'chart.svg', mime_type: 'text/html', size: 6, content_b64: content },
    { name: '../up.csv', mime_type: 'text/csv', size: 6, content_b64: content },
    { name: 'run.exe', mime_type: 'text/csv', size: 6, content_b64: content },
    { name: 'empty.csv', mime_type: 'text/csv', size: 0, content_b64: '' },
  ];
  const { origin } = await executor(answer({ artifacts }));

  const result = await firstValueFrom(remote(origin).run(REQUEST));

  expect(result.artifacts.map(({ name, mimeType, bytes }) => [name, mimeType, bytes.byteLength])).toEqual([
    ['chart.svg', 'image/svg+xml', 6],
  ]);
});

describe('a service that does not answer as it should', () => {
  it.each([
    [422, 'it does not accept the request'],
    [429, 'it answered with status 429'],
    [500, 'it answered with status 500'],
    [503, 'it answered with status 503'],
    [302, 'it answered with status 302'],
  ])('is asked once, and status %d is an error', async (status, problem) => {
    const { origin, asked } = await startUpstream({
      'POST /run': { status, headers: { location: '/elsewhere' }, text: 'x' },
    });

    await expect(firstValueFrom(remote(origin).run(REQUEST))).rejects.toMatchObject({
      code: 'SANDBOX_FAILED',
      message: `The code executor at ${origin} did not run the script: ${problem}.`,
      retryable: false,
    });
    expect(asked).toHaveLength(1);
  });

  it.each([
    ['no JSON', '<html>', 'it is not JSON'],
    ['no object', '[]', 'the body is not as it should be'],
    ['another status', '{"status":"fine"}', 'status is not as it should be'],
    ['a broken file', '{"status":"success","artifacts":[{"name":1}]}', 'artifacts.0.name is not as it should be'],
    ['a deep body', '['.repeat(100_000) + ']'.repeat(100_000), 'it has more than 200 levels of lists and objects'],
  ])('with %s is an error', async (_what, text, problem) => {
    const { origin } = await startUpstream({ 'POST /run': { text } });

    await expect(firstValueFrom(remote(origin).run(REQUEST))).rejects.toMatchObject({
      code: 'SANDBOX_FAILED',
      message: `The answer of the code executor at ${origin} cannot be used: ${problem}.`,
    });
  });

  it('closing in the middle of a body is an error that is not tried again', async () => {
    let asked = 0;
    const { origin } = await serve((_request, response) => {
      asked += 1;
      response.writeHead(200, { 'content-length': '100' });
      response.write('{');
      response.socket?.destroySoon();
    });

    await expect(firstValueFrom(remote(origin).run(REQUEST))).rejects.toMatchObject({
      code: 'SANDBOX_FAILED',
      retryable: false,
    });
    expect(asked).toBe(1);
  });

  it('refusing the connection is an error', async () => {
    const { origin, server } = await serve(() => {});
    await new Promise((resolve) => server.close(resolve));

    await expect(firstValueFrom(remote(origin).run(REQUEST))).rejects.toMatchObject({ code: 'SANDBOX_FAILED' });
  });

  it('saying nothing is an error when the time is up', async () => {
    const http = createEgressClient();
    const asked: unknown[] = [];
    const { origin } = await serve(() => {});
    const runner = createRemoteRunner({
      http: {
        ...http,
        fetch(request) {
          asked.push(request.timeoutMs);
          return http.fetch({ ...request, timeoutMs: 20 });
        },
      },
      endpoint: origin,
      timeoutMs: 5_000,
    });

    await expect(firstValueFrom(runner.run(REQUEST))).rejects.toMatchObject({
      code: 'SANDBOX_FAILED',
      retryable: false,
    });
    expect(asked).toEqual([25_000]);
  });
});

it.each(['before the answer', 'in the middle of the body'])(
  'closes the connection when it is stopped %s',
  async (when) => {
    const { origin, server } = await serve(async (request, response) => {
      await textOf(request);
      if (when !== 'before the answer') response.writeHead(200, { 'content-length': '100' }).write('{');
    });
    const arrived = once(server, 'request');
    const subscription = remote(origin).run(REQUEST).subscribe();
    const [request] = await arrived;
    const gone = once(request.socket, 'close');

    subscription.unsubscribe();

    await gone;
  },
);

it('refuses an endpoint that is none', () => {
  expect(() => remote('ftp://sandbox')).toThrow('"endpoint" must be a URL');
});

describe('a marked result in stdout', () => {
  const mark = (value: unknown): string =>
    `__RAGFLOW_RESULT__:${Buffer.from(JSON.stringify(value)).toString('base64')}`;

  it.each<[string, string, Pick<CodeResult, 'stdout' | 'result'>]>([
    ['none', 'a\nb\n', { stdout: 'a\nb\n' }],
    ['one', `a\n${mark({ present: true, value: 'é' })}\n`, { stdout: 'a\n', result: { value: 'é' } }],
    [
      'the last of two',
      `${mark({ present: true, value: 1 })}\n${mark({ present: true, value: 2 })}`,
      { stdout: '', result: { value: 2 } },
    ],
    ['one that is absent', `${mark({ present: false })}\n`, { stdout: `${mark({ present: false })}\n` }],
    ['an empty one', '__RAGFLOW_RESULT__:\nx', { stdout: '__RAGFLOW_RESULT__:\nx' }],
    ['a broken one', '__RAGFLOW_RESULT__:%%%', { stdout: '__RAGFLOW_RESULT__:%%%' }],
    [
      'one inside a line',
      `a ${mark({ present: true, value: 1 })}`,
      { stdout: `a ${mark({ present: true, value: 1 })}` },
    ],
  ])('%s', async (_what, printed, expected) => {
    const { origin } = await executor(failed({ stdout: printed }));

    const { stdout, ...more } = await firstValueFrom(remote(origin).run(REQUEST));

    expect({ stdout, ...('result' in more && { result: more.result }) }).toEqual(expected);
  });
});
