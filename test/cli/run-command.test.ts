import { once } from 'node:events';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { addAbortSignal, PassThrough } from 'node:stream';
import { describe, expect, it } from 'vitest';
import { frame, startServer } from '../models/fake-server.js';
import { chatWithProvider, example, says, temporaryFile, temporaryFolder } from './canvases.js';
import { call } from './fake-terminal.js';

const scripted = (rules: object[]) => ({
  RUNNEL_MODELS: temporaryFile('models.json', { scripted: { rules } as never }),
});

describe('run', () => {
  it('prints every event as one line of JSON', async () => {
    const { exit, out, err } = await call(['run', example('hello'), '--query', 'hi', '--events']);
    expect([exit, err]).toEqual([0, '']);
    const events = out
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line));
    expect(events.map(({ event }) => event)).toEqual([
      'workflow_started',
      'node_started',
      'node_finished',
      'node_started',
      'message',
      'message_end',
      'node_finished',
      'workflow_finished',
    ]);
    expect(new Set(events.map(({ session_id }) => session_id)).size).toBe(1);
  });

  it('prints the answer, and what was thought beside it', async () => {
    const env = { RUNNEL_MODELS: example('chat', 'models.json') };
    const { exit, out, err } = await call(['run', example('chat'), '--query', 'why?'], { env });
    expect(exit).toBe(0);
    expect(out).toBe('You asked: “why?” – and this answer comes piece by piece.\n');
    expect(err).toBe('The question is short.\n');
  });

  it('answers as the models.json beside a canvas says, and says that it read it', async () => {
    const query = 'How old is the Golden Gate Bridge?';
    const { exit, out, err } = await call(['run', example('agent'), '--query', query]);
    expect([exit, out]).toEqual([0, 'It was opened in 1937, so it is 89 years old.\n']);
    expect(err).toContain(`models: ${example('agent', 'models.json')}`);
    const env = scripted([{ reply: 'from elsewhere' }]);
    const other = await call(['run', example('agent'), '--query', query], { env });
    expect(other.out).toBe('from elsewhere\n');
    expect(other.err).not.toContain('models:');
  });

  it('gives no variable to a models.json that nothing but its place names', async () => {
    const { url, arrived } = await startServer((response) => void response.end());
    const canvas = says('hi');
    const file = path.join(path.dirname(canvas), 'models.json');
    writeFileSync(file, JSON.stringify({ factories: { A: { base_url: url, api_key_env: 'OPENAI_API_KEY' } } }));
    const { exit, err } = await call(['run', canvas], { env: { OPENAI_API_KEY: 'secret' } });
    expect([exit, arrived.length]).toEqual([2, 0]);
    expect(err).toContain('name it in RUNNEL_MODELS');
  });

  it('puts files that a canvas makes into the data folder, and says where', async () => {
    const folder = temporaryFolder();
    const canvas = temporaryFile('report.json', {
      components: {
        begin: { obj: { component_name: 'Begin', params: {} }, downstream: ['d'], upstream: [] },
        d: {
          obj: { component_name: 'DocGenerator', params: { content: '# Hi', output_format: 'txt', filename: '../up' } },
          downstream: [],
          upstream: ['begin'],
        },
      },
      path: [],
      history: [],
      retrieval: [],
      globals: {},
    });
    const { exit, err } = await call(['run', canvas, '--query', 'x'], { env: { RUNNEL_DATA_DIR: folder } });
    expect(exit).toBe(0);
    const file = /^file: (.+)$/m.exec(err)?.[1] ?? '';
    expect(path.relative(folder, file)).toMatch(/^files\/[0-9a-f]{32}\/[^/]+\.txt$/);
    expect(readFileSync(file, 'utf8')).toContain('Hi');
  });

  it('says once that no provider is configured', async () => {
    const alone = temporaryFile('parallel.json', readFileSync(example('parallel'), 'utf8'));
    const { exit, out, err } = await call(['run', alone, '--query', 'x']);
    expect([exit, out]).toEqual([0, 'For: echo: x\nAgainst: echo: x\n']);
    expect(err.match(/note: no model provider is configured/g)).toHaveLength(1);
  });

  it('fails with exit code 1 and the error, keeping what was said', async () => {
    const { exit, out, err } = await call(['run', example('chat'), '--query', 'x'], {
      env: scripted([{ error: 'no money left' }]),
    });
    expect([exit, out]).toEqual([1, '']);
    expect(err).toMatch(/^error: LLM:Answer: .*no money left.* \[MODEL_UNAVAILABLE\]\n$/);
  });

  it('sets variables, each of the type that the canvas declares', async () => {
    const file = says('{env.name}/{env.count}/{env.list}', {
      count: { type: 'number', value: 1 },
      list: { type: 'array<string>', value: [] },
    });
    const set = (...pairs: string[]) => call(['run', file, ...pairs.flatMap((pair) => ['--env', pair])]);
    expect(await set('name=a=b', 'count=2', 'list=["x"]')).toMatchObject({ exit: 0, out: 'a=b/2/["x"]\n' });
    const wrong = await set('name=', 'count=two');
    expect(wrong).toMatchObject({ exit: 2, out: '' });
    expect(wrong.err).toContain('--env count takes a value of type number, as JSON; received "two"');
  });

  it('gives the user and the inputs to the canvas', async () => {
    const { out } = await call(['run', says('{sys.user_id}'), '--user', 'ann', '--inputs', '{"x": 1}']);
    expect(out).toBe('ann\n');
  });

  it('reports warnings of the document and goes on', async () => {
    const { exit, err } = await call(['run', says('{ghost@x}')]);
    expect(exit).toBe(1);
    expect(err).toMatch(/^warning: \$\.components\["m"\]\.obj\.params: .*"ghost"/);
  });
});

describe('run --session', () => {
  it('goes on with the conversation', async () => {
    const session = path.join(temporaryFolder(), 'talk.json');
    const say = (query: string) => call(['run', example('hello'), '--query', query, '--session', session]);
    expect((await say('a')).out).toContain('turn 1.');
    expect((await say('b')).out).toContain('turn 2.');
    const ids = (await call(['run', example('hello'), '--session', session, '--events'])).out.match(
      /"session_id":"\w+"/g,
    );
    expect(new Set(ids)).toEqual(new Set([`"session_id":"${JSON.parse(readFileSync(session, 'utf8')).id}"`]));
  });

  it('waits at a form with exit code 3, and answers it with --inputs', async () => {
    const session = path.join(temporaryFolder(), "the trip's.json");
    const asked = await call(['run', example('form'), '--query', 'go', '--session', session]);
    expect([asked.exit, asked.out]).toEqual([3, '']);
    expect(asked.err).toBe(
      `Where do you want to go, and for how long?\n  city (City): line\n  nights (Nights): number\nwaiting for input: answer with --session '${session.replace("'", "'\\''")}' --inputs '{"city":"…","nights":0}'\n`,
    );
    const answered = await call([
      'run',
      example('form'),
      '--session',
      session,
      '--inputs',
      '{"city":"Oslo","nights":3}',
    ]);
    expect(answered).toMatchObject({ exit: 0, out: 'Booked: 3 nights in Oslo.\n', err: '' });
    expect(JSON.parse(readFileSync(session, 'utf8')).waiting).toBeUndefined();
  });

  it('says what is missing when a form is reached without a session', async () => {
    const { exit, err } = await call(['run', example('form'), '--query', 'go']);
    expect(exit).toBe(3);
    expect(err).toContain('run again with --session FILE');
  });

  it('leaves the file as it was when the run fails', async () => {
    const session = path.join(temporaryFolder(), 'talk.json');
    const args = ['run', example('chat'), '--query', 'x', '--session', session];
    expect((await call(args, { env: scripted([{ error: 'no' }]) })).exit).toBe(1);
    expect(existsSync(session)).toBe(false);
    await call(args);
    const kept = readFileSync(session, 'utf8');
    expect((await call(args, { env: scripted([{ error: 'no' }]) })).exit).toBe(1);
    expect(readFileSync(session, 'utf8')).toBe(kept);
  });

  it('refuses a file that is no session, one that cannot be written, and one of a changed canvas', async () => {
    const folder = temporaryFolder();
    const other = path.join(folder, 'other.json');
    for (const content of ['{}', 'no json', '{"version":1,"id":"","variables":[]}']) {
      writeFileSync(other, content);
      const called = await call(['run', example('hello'), '--session', other]);
      expect(called).toMatchObject({ exit: 2, out: '' });
      expect(called.err).toMatch(
        /other\.json" is not a session file .*name another file to start a new conversation\. \[USAGE\]/,
      );
      expect(readFileSync(other, 'utf8')).toBe(content);
    }
    writeFileSync(other, '{');
    expect((await call(['run', example('hello'), '--session', other])).err).toContain('(it is not valid JSON)');
    const lost = await call(['run', example('hello'), '--session', path.join(folder, 'no', 'talk.json')]);
    expect([lost.exit, lost.out]).toEqual([2, '']);
    expect(lost.err).toMatch(/Cannot write the session file/);
    const waiting = path.join(folder, 'waiting.json');
    await call(['run', example('form'), '--session', waiting]);
    const changed = await call(['run', example('approval'), '--session', waiting, '--inputs', '{}']);
    expect(changed.exit).toBe(2);
    expect(changed.err).toContain('[PLAN_CHANGED]');
  });
});

describe('run, interrupted', () => {
  it('stops with exit code 130 and closes the connection to the model', async () => {
    const close = new AbortController();
    const { url } = await startServer((response) => {
      response.on('close', () => close.abort());
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.write(`data: ${JSON.stringify(frame({ content: 'piece' }))}\n\n`);
    });
    const interrupt = new AbortController();
    const { exit, out, err } = await call(['run', chatWithProvider(), '--query', 'x'], {
      env: { OPENAI_BASE_URL: url },
      signal: interrupt.signal,
      onOut: () => interrupt.abort(),
    });
    expect({ exit, out, err }).toEqual({ exit: 130, out: 'piece\n', err: 'cancelled\n' });
    if (!close.signal.aborted) await once(close.signal, 'abort');
  });

  it('ends while it waits for the standard input', async () => {
    const interrupt = new AbortController();
    const input = addAbortSignal(interrupt.signal, new PassThrough());
    const called = call(['run', '-'], { input, signal: interrupt.signal });
    interrupt.abort();
    expect(await called).toEqual({ exit: 130, out: '', err: '' });
  });

  it('starts nothing when it was interrupted before', async () => {
    const { exit, out } = await call(['run', example('hello')], { signal: AbortSignal.abort() });
    expect([exit, out]).toEqual([130, '']);
  });
});
