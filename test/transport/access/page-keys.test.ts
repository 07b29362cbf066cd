/** What the key of a chat page opens, which stands in public pages: what it made, and nothing else of its tenant. */
import { of } from 'rxjs';
import { beforeEach, describe, expect, it } from 'vitest';
import { documentOf, ECHO, FORM, PROBE } from '../support/documents.js';
import { openStream } from '../support/event-stream.js';
import { startServer, type TestServer } from '../support/server.js';

const ENV = { RUNNEL_API_KEYS: 'acme=one-of-acme-long-key' };
const API = '/api/v1';
const bearer = (key: string) => ({ authorization: `Bearer ${key}` });
const owner = bearer('one-of-acme-long-key');

const READS_FILES = documentOf({
  begin: ['Begin', ['Message:A']],
  'Message:A': ['Message', [], { content: ['read: {sys.files}'] }],
});
const MAKES_FILES = documentOf({
  begin: ['Begin', ['DocGenerator:D']],
  'DocGenerator:D': ['DocGenerator', ['Message:A'], { content: 'Made for {sys.query}', output_format: 'txt' }],
  'Message:A': ['Message', [], { content: ['{DocGenerator:D@doc_id}'] }],
});

interface Page {
  /** Calls with its key. */
  readonly call: (method: string, path: string, body?: unknown) => ReturnType<TestServer['call']>;
  readonly headers: Record<string, string>;
}

describe('the key of a chat page', () => {
  let server: TestServer;
  const fetched: string[] = [];
  /** Makes a pair of keys and gives that of the page. */
  const pageOf = async (agent?: string): Promise<Page> => {
    const body = agent === undefined ? {} : { agent_id: agent };
    const { beta } = (await server.call('POST', `${API}/system/tokens`, body, owner)).body.data;
    const headers = bearer(beta);
    return { headers, call: (method, path, given) => server.call(method, `${API}${path}`, given, headers) };
  };
  const ask = (page: Page, agent: string, body: object) =>
    page.call('POST', `/agentbots/${agent}/completions`, { query: 'x', stream: false, ...body });
  const upload = async (agent: string, headers: Record<string, string>, query = '') => {
    const form = new FormData();
    form.append('file', new Blob(['secret'], { type: 'text/plain' }), 'a.txt');
    const address = `${server.url}${API}/agents/${agent}/upload${query}`;
    const answer = await fetch(address, { method: 'POST', headers, body: form });
    return { status: answer.status, body: (await answer.json()) as { data: { id: string }; message: string } };
  };

  beforeEach(async () => {
    fetched.length = 0;
    const http = {
      fetch: ({ url }: { url: string }) => {
        fetched.push(url);
        return of({ status: 200, contentType: 'text/plain', url, bytes: new Uint8Array([1]) });
      },
    };
    server = await startServer({ env: ENV, services: { http } });
  });

  it('downloads what its page uploaded, and no other file', async () => {
    const agent = await server.agent(ECHO, owner);
    const [page, other] = [await pageOf(agent), await pageOf(agent)];
    const foreign = (await upload(agent, owner)).body.data.id;
    const own = (await upload(agent, page.headers)).body.data.id;
    const get = async (id: string, by = page) => (await by.call('GET', `/agents/attachments/${id}/download`)).body;
    expect(await get(own)).toBe('secret');
    for (const answer of [await get(foreign), await get(own, other), await get('0'.repeat(32))]) {
      expect(answer).toEqual({ code: 102, message: 'document not found' });
    }
    const all = await server.call('GET', `${API}/agents/attachments/${own}/download`, undefined, owner);
    expect(all.body).toBe('secret');
  });

  it('downloads what a run of its page made, and not what one of its tenant made', async () => {
    const agent = await server.agent(MAKES_FILES, owner);
    const page = await pageOf(agent);
    const made = (await ask(page, agent, {})).body.data.data.content;
    const foreign = (await server.call('POST', `${API}/agents/${agent}/run`, { query: 'y' }, owner)).body.data.data;
    const get = async (id: string) => (await page.call('GET', `/agents/attachments/${id}/download`)).body;
    expect(await get(made)).toContain('Made for x');
    expect(await get(foreign.content)).toEqual({ code: 102, message: 'document not found' });
  });

  it('lets a turn read the files of its page, and those that the document names', async () => {
    const agent = await server.agent(READS_FILES, owner);
    const page = await pageOf(agent);
    const foreign = (await upload(agent, owner)).body.data.id;
    const own = (await upload(agent, page.headers)).body.data.id;
    expect((await ask(page, agent, { files: [{ id: own }] })).body.data.data.content).toContain('secret');
    const refused = await ask(page, agent, { files: [{ id: foreign }] });
    const unknown = await ask(page, agent, { files: [{ id: '0'.repeat(32) }] });
    expect(JSON.stringify(refused.body)).not.toContain('"secret"');
    expect(refused.body.code).not.toBe(0);
    expect(JSON.stringify(refused.body).replaceAll(foreign, '?')).toBe(
      JSON.stringify(unknown.body).replaceAll('0'.repeat(32), '?'),
    );
    const naming = { ...READS_FILES, retrieval: [{ file: foreign }] };
    const authored = await server.agent(naming, owner);
    expect(
      (await ask(await pageOf(authored), authored, { files: [{ id: foreign }] })).body.data.data.content,
    ).toContain('secret');
  });

  it('continues the sessions that it made, and no other', async () => {
    const agent = await server.agent(FORM, owner);
    const [page, other] = [await pageOf(agent), await pageOf(agent)];
    const foreign = (await server.call('POST', `${API}/agents/${agent}/run`, { query: 'x' }, owner)).body.data;
    const own = (await ask(page, agent, {})).body.data;
    const inputs = { city: { value: 'Rome' } };
    for (const by of [other, page]) {
      const session_id = by === other ? own.session_id : foreign.session_id;
      expect((await ask(by, agent, { session_id, inputs })).body).toEqual({ code: 102, message: 'Session not found!' });
    }
    expect((await ask(page, agent, { session_id: own.session_id, inputs })).body.data.data.content).toBe('to Rome');
    // The owner has all of them.
    const listed = await server.call('GET', `${API}/agents/${agent}/sessions`, undefined, owner);
    expect(listed.body.total).toBe(2);
  });

  it('does not learn whether a session of another key is at work', async () => {
    const agent = await server.agent(PROBE, owner);
    const page = await pageOf(agent);
    const stream = await openStream(`${server.url}${API}/agents/${agent}/stream`, {
      body: { query: 'x' },
      headers: owner,
    });
    await server.probes.next();
    const [first] = await stream.until(() => true);
    const answer = await ask(page, agent, { session_id: first?.json.session_id });
    expect(answer.body).toEqual({ code: 102, message: 'Session not found!' });
    await stream.leave();
  });

  it('reads what was done for its own messages alone', async () => {
    const agent = await server.agent(ECHO, owner);
    const [page, other] = [await pageOf(agent), await pageOf()];
    const own = (await ask(page, agent, {})).body.data.message_id;
    const foreign = (await server.call('POST', `${API}/agents/${agent}/run`, { query: 'x' }, owner)).body.data
      .message_id;
    const logs = async (message: string, by = page) =>
      (await by.call('GET', `/agentbots/${agent}/logs/${message}`)).body.data;
    expect(await logs(own)).toHaveLength(2);
    expect(await logs(foreign)).toEqual({});
    expect(await logs(own, other)).toEqual({});
    const all = await server.call('GET', `${API}/agentbots/${agent}/logs/${foreign}`, undefined, owner);
    expect(all.body.data).toHaveLength(2);
  });

  it('resumes the stream of a run that it started, behind the last event that it has, and of no other', async () => {
    const agent = await server.agent(PROBE, owner);
    const page = await pageOf(agent);
    const address = `${server.url}${API}/agentbots/${agent}/completions`;
    const stream = await openStream(address, { body: { query: 'x' }, headers: page.headers });
    const run = stream.headers.get('x-run-id');
    const probe = await server.probes.next();
    probe.say('one');
    const seen = await stream.until(({ json }) => json?.data?.content === 'one');
    await stream.leave();
    probe.say(' two');
    probe.settle();
    const resumed = await openStream(`${server.url}${API}/agents/${agent}/runs/${run}/events`, {
      headers: { ...page.headers, 'last-event-id': String(seen.at(-1)?.id) },
    });
    const rest = await resumed.rest();
    expect(rest.map(({ json }) => json?.data?.content).filter((text) => typeof text === 'string')[0]).toBe(' two');
    expect((await page.call('GET', `/agents/${agent}/runs/${run}/events?view=engine`)).status).toBe(403);
    const foreign = (await server.call('POST', `${API}/agents/${await server.agent(ECHO, owner)}/run`, {}, owner)).body;
    for (const name of [foreign.data.run_id, '0'.repeat(32)]) {
      const answer = await page.call('GET', `/agents/${agent}/runs/${name}/events`);
      expect(answer.body).toEqual({ code: 102, message: 'Run not found.' });
    }
    const visitor = await pageOf(agent);
    const other = await visitor.call('GET', `/agents/${agent}/runs/${run}/events`);
    expect(other.body).toEqual({ code: 102, message: 'Run not found.' });
  });

  it.each([
    ['version', 'draft'],
    ['resume_from', 'a-run'],
    ['migrate', true],
    ['detach', true],
    ['detach', 'yes'],
    ['custom_header', { authorization: 'x' }],
    ['return_trace', 1],
  ])('may not send %s: %j', async (field, value) => {
    const agent = await server.agent(ECHO, owner);
    const page = await pageOf(agent);
    const refused = await ask(page, agent, { [field]: value });
    expect(refused).toMatchObject({
      status: 403,
      body: { code: 103, message: expect.stringContaining(`\`${field}\``) },
    });
    expect((await server.call('GET', `${API}/agents/${agent}/runs`, undefined, owner)).body.total).toBe(0);
  });

  it('may not send them in the address either, and may send what is off', async () => {
    const agent = await server.agent(ECHO, owner);
    const page = await pageOf(agent);
    for (const query of ['version=draft', 'resume_from=x']) {
      const answer = await page.call('POST', `/agentbots/${agent}/completions?${query}`, { query: 'x' });
      expect(answer.status, query).toBe(403);
    }
    const off = { version: '', detach: false, return_trace: 'false', custom_header: {}, resume_from: null };
    expect((await ask(page, agent, off)).body.code).toBe(0);
  });

  it('runs and shows what is published, and the draft only while nothing is', async () => {
    const draft = documentOf({
      begin: ['Begin', ['Message:A'], { prologue: 'Draft.' }],
      'Message:A': ['Message', [], { content: ['draft'] }],
    });
    const agent = await server.agent(ECHO, owner);
    const page = await pageOf(agent);
    const answer = async () => (await ask(page, agent, {})).body.data.data.content;
    const prologue = async () => (await page.call('GET', `/agentbots/${agent}/inputs`)).body.data.prologue;
    expect([await answer(), await prologue()]).toEqual(['you said x', 'Welcome.']);
    await server.call('POST', `${API}/agents/${agent}/publish`, {}, owner);
    await server.call('PUT', `${API}/agents/${agent}`, { dsl: draft }, owner);
    expect([await answer(), await prologue()]).toEqual(['you said x', 'Welcome.']);
    // Its owner tries the draft at the same address.
    const tried = await server.call(
      'POST',
      `${API}/agentbots/${agent}/completions`,
      { query: 'x', stream: false },
      owner,
    );
    expect(tried.body.data.data.content).toBe('draft');
  });

  it('may not have the server fetch URLs', async () => {
    const agent = await server.agent(ECHO, owner);
    const page = await pageOf(agent);
    const refused = await upload(agent, page.headers, '?url=https://example.com/a.txt');
    expect(refused).toMatchObject({ status: 403, body: { code: 103, message: expect.stringContaining('`url`') } });
    expect(fetched).toEqual([]);
    expect((await upload(agent, owner, '?url=https://example.com/a.txt')).status).toBe(200);
    expect(fetched).toHaveLength(1);
  });
});
