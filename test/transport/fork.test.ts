/** Runs that go on from other runs: forks, and what failed or was cancelled taken up again. */
import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../src/json.js';
import { createMemoryStores } from '../../src/stores/memory-stores.js';
import { documentOf } from './support/documents.js';
import { engineEvents, namesOf, openStream } from './support/event-stream.js';
import { connect } from './support/live-client.js';
import { startServer, type TestServer } from './support/server.js';

/** A message before a Probe, and one behind it. */
const CHAIN = documentOf({
  begin: ['Begin', ['Message:A'], { inputs: { city: { name: 'City', type: 'line', optional: true } } }],
  'Message:A': ['Message', ['Probe:P'], { content: ['before {sys.query} '] }],
  'Probe:P': ['Probe', ['Message:B']],
  'Message:B': ['Message', [], { content: ['after {sys.query} in {begin@city}'] }],
});

const run = (id: string, rest = '') => `/api/v1/agents/${id}/runs/${rest}`;

/** Runs a canvas whose Probe fails; gives what the events say. */
async function failedRun(server: TestServer, id: string, body: JsonObject = { query: 'x', inputs: { city: 'Rome' } }) {
  const stream = await openStream(`${server.url}/api/v1/agents/${id}/stream`, { body });
  const probe = await server.probes.next();
  probe.fail(new Error('Lost.'));
  const frames = await stream.rest();
  return { id: stream.headers.get('x-run-id') as string, frames, session: frames[0]?.json.session_id as string };
}

/** Ends the next activation of a Probe well. */
async function settleNext(server: TestServer): Promise<void> {
  (await server.probes.next()).settle();
}

async function post(server: TestServer, path: string, body: unknown, settles = true) {
  const [answer] = await Promise.all([server.call('POST', path, body), settles ? settleNext(server) : undefined]);
  return answer.body;
}

describe('a turn that resumes from a run that failed', () => {
  it('runs what failed and what follows, and nothing that had finished', async () => {
    const server = await startServer();
    const id = await server.agent(CHAIN);
    const failed = await failedRun(server, id);
    const { data } = await post(server, `/api/v1/agents/${id}/run`, { resume_from: failed.id });
    expect(data).toMatchObject({ session_id: failed.session, status: 'succeeded' });
    expect(data.data.content).toBe('after x in Rome');
    const { body } = await server.call('GET', run(id, `${data.run_id}`));
    expect(body.data).toMatchObject({ parent_run_id: failed.id, forked_at: null, status: 'succeeded' });
    expect(body.data.nodes.map(({ component_id }: { component_id: string }) => component_id)).toEqual([
      'Probe:P',
      'Message:B',
    ]);
    // One question, one answer; nobody asked twice.
    const session = (await server.call('GET', `/api/v1/agents/${id}/sessions/${failed.session}`)).body.data;
    const roles = session.message.map(({ role }: { role: string }) => role);
    expect(roles).toEqual(['user', 'assistant', 'assistant']);
    expect(server.errors).toEqual([]);
  });

  it('goes on in another process, which can fork it too', async () => {
    const stores = createMemoryStores();
    const first = await startServer({ stores, outlivesTest: true });
    const id = await first.agent(CHAIN);
    const failed = await failedRun(first, id);
    await first.stop();
    const second = await startServer({ stores });
    const forked = await post(second, run(id, `${failed.id}/fork?at=3`), {});
    expect(forked.data.data.content).toBe('before x after x in Rome');
    const { data } = await post(second, `/api/v1/agents/${id}/run`, { resume_from: failed.id });
    expect(data).toMatchObject({ status: 'succeeded', session_id: failed.session });
    const { code } = (await second.call('DELETE', `/api/v1/agents/${id}`)).body;
    expect(code).toBe(0);
    expect(await stores.log.snapshot('local', failed.id)).toBeUndefined();
  });

  it('can fail and be resumed again', async () => {
    const server = await startServer();
    const id = await server.agent(CHAIN);
    const first = await failedRun(server, id);
    const stream = await openStream(`${server.url}/api/v1/agents/${id}/stream`, { body: { resume_from: first.id } });
    (await server.probes.next()).fail(new Error('Again.'));
    expect(namesOf(await stream.rest())).toEqual(['node_started', 'node_finished', '500', '[DONE]']);
    const { data } = await post(server, `/api/v1/agents/${id}/run`, { resume_from: stream.headers.get('x-run-id') });
    expect(data.data.content).toBe('after x in Rome');
  });

  it('is cancelled and goes on', async () => {
    const server = await startServer();
    const id = await server.agent(CHAIN);
    const stream = await openStream(`${server.url}/api/v1/agents/${id}/stream`, { body: { query: 'x' } });
    await server.probes.next();
    const runId = stream.headers.get('x-run-id') as string;
    await server.call('POST', run(id, `${runId}/cancel`), {});
    await stream.rest();
    const { data } = await post(server, `/api/v1/agents/${id}/run`, { resume_from: runId });
    expect(data).toMatchObject({ status: 'succeeded' });
    expect(data.data.content).toMatch(/^after x/);
  });

  it('is refused when the session has gone on, when the run succeeded, and when nothing is kept', async () => {
    const server = await startServer();
    const id = await server.agent(CHAIN);
    const failed = await failedRun(server, id);
    const turn = { query: 'y', session_id: failed.session };
    const next = await post(server, `/api/v1/agents/${id}/run`, turn);
    const resume = (from: string) => server.call('POST', `/api/v1/agents/${id}/run`, { resume_from: from });
    expect((await resume(failed.id)).body).toEqual({
      code: 102,
      message: `The session has gone on since run ${failed.id}; fork that run instead.`,
    });
    const ended = next.data.run_id;
    expect((await resume(ended)).body).toEqual({ code: 102, message: `No checkpoint for run ${ended}` });

    const poor = await startServer({ env: { RUNNEL_DURABILITY: 'exit' } });
    const other = await poor.agent(CHAIN);
    const lost = await failedRun(poor, other);
    const answer = await poor.call('POST', `/api/v1/agents/${other}/run`, { resume_from: lost.id });
    expect(answer.body).toMatchObject({
      code: 102,
      message: expect.stringContaining(`No checkpoint for run ${lost.id}`),
    });
  });

  it('goes on in a document that was mended, when it is told to migrate', async () => {
    const server = await startServer();
    const id = await server.agent(CHAIN);
    const failed = await failedRun(server, id);
    const mended = documentOf({
      begin: ['Begin', ['Message:A']],
      'Message:A': ['Message', ['Probe:P'], { content: ['before {sys.query} '] }],
      'Probe:P': ['Probe', ['Message:N']],
      'Message:N': ['Message', ['Message:B'], { content: ['new, '] }],
      'Message:B': ['Message', [], { content: ['after {sys.query}'] }],
    });
    await server.call('PUT', `/api/v1/agents/${id}`, { dsl: mended });
    const resume = { resume_from: failed.id, version: 'draft' };
    const refused = await server.call('POST', `/api/v1/agents/${id}/run`, resume);
    expect(refused.body).toMatchObject({ code: 102, message: expect.stringContaining('another version of the graph') });
    const { data } = await post(server, `/api/v1/agents/${id}/run`, { ...resume, migrate: true });
    expect(data.data.content).toBe('new, after x');

    const without = documentOf({ begin: ['Begin', ['Message:A']], 'Message:A': ['Message', [], { content: ['x'] }] });
    const again = await failedRun(server, id);
    await server.call('PUT', `/api/v1/agents/${id}`, { dsl: without });
    const gone = { resume_from: again.id, version: 'draft', migrate: true };
    expect((await server.call('POST', `/api/v1/agents/${id}/run`, gone)).body).toMatchObject({
      code: 102,
      message: expect.stringContaining('"Probe:P" is gone'),
    });
  });
});

describe('a fork', () => {
  it('at any event of a run gives what the run would have given, and finished nodes say nothing again', async () => {
    const server = await startServer();
    const id = await server.agent(CHAIN);
    const stream = await openStream(`${server.url}/api/v1/agents/${id}/stream`, {
      body: { query: 'x', inputs: { city: 'Rome' } },
    });
    await settleNext(server);
    const frames = (await stream.rest()).filter((frame) => frame.id !== undefined);
    const origin = stream.headers.get('x-run-id') as string;
    const finishedAt = new Map(
      frames
        .filter(({ json }) => json.event === 'node_finished')
        .map(({ id: seq, json }) => [json.data.component_id as string, seq as number]),
    );
    const sessions = new Set([frames[0]?.json.session_id]);
    for (let at = 0; at <= frames.length; at += 1) {
      const settles = at < (finishedAt.get('Probe:P') as number);
      const { code, data } = await post(server, run(id, `${origin}/fork?at=${at}`), {}, settles);
      expect([code, data.status]).toEqual([0, 'succeeded']);
      const said = (name: string, text: string) => (at < (finishedAt.get(name) as number) ? text : '');
      expect(data.data.content ?? '').toBe(said('Message:A', 'before x ') + said('Message:B', 'after x in Rome'));
      const detail = (await server.call('GET', run(id, data.run_id))).body.data;
      expect(detail).toMatchObject({ parent_run_id: origin, forked_at: at });
      const expected = [...finishedAt].filter(([, seq]) => seq > at).map(([name]) => name);
      expect(detail.nodes.map(({ component_id }: { component_id: string }) => component_id)).toEqual(expected);
      sessions.add(data.session_id);
    }
    // Each has a session of its own; that of the run is left alone.
    expect(sessions.size).toBe(frames.length + 2);
    const kept = (await server.call('GET', `/api/v1/agents/${id}/sessions/${frames[0]?.json.session_id}`)).body.data;
    expect(kept).toMatchObject({ round: 1 });
    expect(server.errors).toEqual([]);
  });

  it('takes another question and other inputs, in a conversation of its own', async () => {
    const server = await startServer();
    const id = await server.agent(CHAIN);
    const failed = await failedRun(server, id);
    const at = failed.frames.find(({ json }) => json?.data?.component_id === 'Probe:P')?.id;
    const changed = { query: 'y', inputs: { city: { type: 'line', value: 'Oslo' } } };
    const { data } = await post(server, run(id, `${failed.id}/fork?at=${at}`), changed);
    expect(data.data.content).toBe('after y in Oslo');
    const session = (await server.call('GET', `/api/v1/agents/${id}/sessions/${data.session_id}`)).body.data;
    expect(session.message).toMatchObject([
      { role: 'user', content: 'y' },
      { role: 'assistant', content: 'after y in Oslo' },
    ]);
    // The conversation goes on with it.
    const next = await post(server, `/api/v1/agents/${id}/run`, { query: 'z', session_id: data.session_id });
    expect(next.data.data.content).toContain('after z');
  });

  it('of a run that is going on leaves that one alone', async () => {
    const server = await startServer();
    const id = await server.agent(CHAIN);
    const stream = await openStream(`${server.url}/api/v1/agents/${id}/stream`, { body: { query: 'x' } });
    const probe = await server.probes.next();
    const origin = stream.headers.get('x-run-id') as string;
    await stream.until(({ json }) => json.event === 'node_started' && json.data.component_id === 'Probe:P');
    const { data } = await post(server, run(id, `${origin}/fork`), {});
    expect(data.data.content).toMatch(/^after x/);
    expect(probe.isStopped).toBe(false);
    probe.settle();
    expect(namesOf(await stream.rest()).at(-2)).toBe('workflow_finished');
  });

  it.each(['', '?at=3'])('of a run that goes on in another process starts there%s', async (at) => {
    const stores = createMemoryStores();
    const first = await startServer({ stores });
    const second = await startServer({ stores });
    const id = await first.agent(CHAIN);
    const stream = await openStream(`${first.url}/api/v1/agents/${id}/stream`, { body: { query: 'x' } });
    const probe = await first.probes.next();
    await stream.until(({ json }) => json.event === 'node_started' && json.data.component_id === 'Probe:P');
    const origin = stream.headers.get('x-run-id') as string;
    const { data } = await post(second, run(id, `${origin}/fork${at}`), {});
    expect(data.data.content).toMatch(at === '' ? /^after x/ : /^before x after x/);
    probe.settle();
    await stream.rest();
  });

  it('streams when it is asked to', async () => {
    const server = await startServer();
    const id = await server.agent(CHAIN);
    const failed = await failedRun(server, id);
    const url = `${server.url}${run(id, `${failed.id}/fork`)}`;
    const stream = await openStream(url, { body: { stream: true } });
    await settleNext(server);
    const frames = await stream.rest();
    // The first event says that the run continues another one, for which RAGFlow has none.
    expect(frames[0]?.id).toBe(2);
    expect(namesOf(frames)).toEqual([
      ...['node_started', 'node_finished', 'node_started', 'message', 'message_end', 'node_finished'],
      ...['workflow_finished', '[DONE]'],
    ]);
  });

  it.each([
    ['x', /`at` must be the number of an event/],
    ['-1', /`at` must be the number of an event/],
    ['99', /has 10; received 99/],
  ])('at %s is refused', async (at, message) => {
    const server = await startServer();
    const id = await server.agent(CHAIN);
    const failed = await failedRun(server, id);
    const { body } = await server.call('POST', run(id, `${failed.id}/fork?at=${at}`), {});
    expect(body).toMatchObject({ code: 101, message: expect.stringMatching(message) });
    const sessions = (await server.call('GET', `/api/v1/agents/${id}/sessions`)).body;
    expect(sessions.total).toBe(1);
  });

  it('does not set outputs of a pass with values of its own, and says why', async () => {
    const server = await startServer();
    const id = await server.agent(
      documentOf({
        begin: ['Begin', ['Parallel:Each'], { inputs: { words: { name: 'Words', type: 'line', optional: true } } }],
        'Parallel:Each': ['Parallel', ['Message:End'], { items_ref: 'begin@words', outputs: {} }],
        'IterationItem:Start': ['IterationItem', ['Message:Say'], {}, 'Parallel:Each'],
        'Message:Say': ['Message', [], { content: ['{item}'] }, 'Parallel:Each'],
        'Message:End': ['Message', [], { content: ['The end.'] }],
      }),
    );
    const body = { query: 'x', inputs: { words: ['one'] } };
    const { run_id: first } = (await server.call('POST', `/api/v1/agents/${id}/run`, body)).body.data;
    const said = (await engineEvents(server.url, id, first)).find(
      (event) => event.type === 'node-settled' && event.node === 'Message:Say',
    );
    const outputs = { 'Message:Say': { content: 'another' } };
    const refused = await server.call('POST', run(id, `${first}/fork?at=${said?.seq}`), { outputs });
    expect(refused.body).toMatchObject({
      code: 101,
      message: expect.stringContaining('a pass with values of its own'),
    });
    const { body: runs } = await server.call('GET', run(id));
    expect(runs.data).toHaveLength(1);
  });

  it.each([0, 1, 2, 5, 9])('starts behind any event of the run, such as %i', async (at) => {
    const server = await startServer();
    const id = await server.agent(CHAIN);
    const failed = await failedRun(server, id);
    const { data } = await post(server, run(id, `${failed.id}/fork?at=${at}`), {});
    expect(data).toMatchObject({ status: 'succeeded' });
  });

  it('works over a WebSocket too, and so does resuming what failed', async () => {
    const server = await startServer();
    const id = await server.agent(CHAIN);
    const failed = await failedRun(server, id);
    const live = await connect(server.url, id);
    const play = async (frame: JsonObject) => {
      live.send(frame);
      await settleNext(server);
      const frames = await live.until(({ type }) => type === 'done' || type === 'error');
      return frames.filter(({ type }) => type !== 'ready');
    };
    const forked = await play({ type: 'fork', req: 'f', run_id: failed.id, at: 1, query: 'y' });
    expect(forked[0]).toMatchObject({ type: 'accepted', req: 'f' });
    expect(forked.at(-1)).toMatchObject({ type: 'done', status: 'succeeded' });
    const resumed = await play({ type: 'run', req: 'r', resume_from: failed.id });
    expect(resumed.at(-1)).toMatchObject({ type: 'done', status: 'succeeded', session_id: failed.session });
    live.send({ type: 'fork', req: 'n', run_id: 'nobody' });
    expect((await live.until(({ type }) => type === 'error')).at(-1)).toMatchObject({ req: 'n', code: 102 });
  });
});
