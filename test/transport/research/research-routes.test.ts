import { NEVER } from 'rxjs';
import { beforeAll, describe, expect, it } from 'vitest';
import type { ChatModel } from '../../../src/models/chat-model.js';
import { createModels } from '../../../src/models/router.js';
import { modelsFromEnvironment } from '../../../src/settings/read-settings.js';
import { knowledgeOf, openWorld } from '../../research/support/world.js';
import { openStream } from '../support/event-stream.js';
import { startServer } from '../support/server.js';

let world: Awaited<ReturnType<typeof openWorld>>;
beforeAll(async () => {
  world = await openWorld();
}, 60_000);

/** An envelope. */
interface Answer {
  readonly code: number;
  // biome-ignore lint/suspicious/noExplicitAny: each route has its own
  readonly data: any;
}

const QUESTION = 'Who is the warden of the island on which the author of The Salt Atlas was born?';

async function startResearchServer(model: ChatModel = world.planner) {
  const models = createModels(await modelsFromEnvironment({}, async () => ''), { scripted: model });
  const server = await startServer({ services: { knowledge: knowledgeOf(world), models } });
  const api = `${server.url}/api/v1/research`;
  const get = async (path: string): Promise<Answer> => (await (await fetch(`${api}${path}`)).json()) as Answer;
  const post = async (path: string, body: object): Promise<Answer> => {
    const answer = await fetch(`${api}${path}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });
    return (await answer.json()) as Answer;
  };
  const ask = (body: object) => openStream(api, { body: { question: QUESTION, llm_id: 'scripted', ...body } as never });
  return { server, api, get, post, ask };
}

describe('a research', () => {
  it('streams its questions, findings and report, and is read again by its run', { timeout: 60_000 }, async () => {
    const { api, get, post, ask } = await startResearchServer();
    const stream = await ask({});
    const frames = await stream.rest();
    const told = frames.flatMap(({ json }) => (json === undefined ? [] : [json]));
    const types = told.map(({ type }) => type);
    expect(types[0]).toBe('session');
    expect(types.at(-1)).toBe('final');
    expect(types.filter((type) => type === 'question')).toHaveLength(4);
    const findings = told.filter(({ type }) => type === 'finding');
    expect(findings.map(({ verdict }) => verdict)).toEqual(['supported', 'supported', 'supported', 'supported']);
    const final = told.at(-1);
    expect(final.sources.map(({ n }: { n: number }) => n)).toEqual([1, 2, 3, 4]);
    expect(
      told
        .filter(({ type }) => type === 'token')
        .map(({ content }) => content)
        .join(''),
    ).toBe(final.report);

    const run = told[0].run_id;
    expect((await get('')).data).toMatchObject([{ id: run }]);
    const read = (await get(`/${run}`)).data;
    expect(read.questions.map(({ status }: { status: string }) => status)).toEqual(Array(4).fill('answered'));
    expect(read.final.report).toBe(final.report);
    const evidence = (await get(`/${run}/evidence`)).data;
    const ids = new Set(evidence.map(({ id }: { id: string }) => id));
    expect(final.sources.every(({ id }: { id: string }) => ids.has(id))).toBe(true);

    const markdown = await (await fetch(`${api}/${run}/report`)).text();
    expect(markdown).toContain('## Sources');
    const pdf = await (await fetch(`${api}/${run}/report?format=pdf`)).arrayBuffer();
    expect(Buffer.from(pdf).subarray(0, 5).toString()).toBe('%PDF-');
    expect(await post(`/${run}/steer`, { action: 'enough' })).toMatchObject({ code: 102 });
  });

  it('that is asked for one answer waits for its report', { timeout: 60_000 }, async () => {
    const { post } = await startResearchServer();
    const { data } = await post('', { question: QUESTION, llm_id: 'scripted', stream: false });
    expect(data).toMatchObject({ status: 'succeeded', final: { outcome: 'answer' } });
  });

  it('tells what it was asked, in the list the beginning, while it works and when it is over', {
    timeout: 60_000,
  }, async () => {
    const { ask, get, post } = await startResearchServer({ chat: () => NEVER });
    const long = `${QUESTION} ${'And why is that? '.repeat(40)}`.trim();
    const { data } = await post('', { question: ` ${long}\n`, stream: false, budget: { calls: 0 } });
    const stream = await ask({});
    const first = await stream.next();
    const [working, over] = (await get('')).data;
    expect(working).toMatchObject({ id: first?.json.run_id, status: 'running', question: QUESTION });
    expect(over).toMatchObject({ id: data.run_id, question: long.slice(0, 500) });
    expect((await get(`/${working.id}`)).data.question).toBe(QUESTION);
    expect((await get(`/${over.id}`)).data.question).toBe(long);
  });

  it('with a budget of nothing ends with a report by rules', { timeout: 60_000 }, async () => {
    const { post } = await startResearchServer();
    const { data } = await post('', { question: QUESTION, llm_id: 'scripted', stream: false, budget: { calls: 0 } });
    expect(data.final.budget).toMatchObject({ calls: 0, tokens: 0, money: 'unknown' });
    expect(data.final.report).not.toBe('');
  });

  it('whose model is silent is finished by a person, with a report', { timeout: 60_000 }, async () => {
    const { ask, post } = await startResearchServer({ chat: () => NEVER });
    const stream = await ask({});
    const first = await stream.next();
    expect(await post(`/${first?.json.run_id}/cancel`, { finish: true })).toMatchObject({ code: 0 });
    const frames = await stream.rest();
    const told = frames.flatMap(({ json }) => (json === undefined ? [] : [json]));
    expect(told.map(({ type }) => type)).toContain('steered');
    expect(told.at(-1)).toMatchObject({ type: 'final', outcome: 'unanswerable' });
  });

  it('by a plan shows it, takes another one, and carries that out when it is approved', {
    timeout: 60_000,
  }, async () => {
    const { api, ask, get, post } = await startResearchServer();
    const put = async (run: string, body: object): Promise<Answer & { readonly message: string }> => {
      const headers = { 'content-type': 'application/json' };
      const answer = await fetch(`${api}/${run}/plan`, { method: 'PUT', headers, body: JSON.stringify(body) });
      return (await answer.json()) as never;
    };
    const stream = await ask({ approve: true, clarify: false });
    let frame = await stream.next();
    const run = frame?.json.run_id;
    while (frame !== undefined && frame.json?.type !== 'plan') frame = await stream.next();
    expect(frame?.json).toMatchObject({ waits: true });
    expect(frame?.json.tools.slice(0, 2)).toEqual(['kb_search', 'deep_search']);
    expect(frame?.json.tools).toContain('calculator');
    const { tasks } = frame?.json.plan ?? {};
    expect(tasks).toHaveLength(4);
    expect((await get(`/${run}/plan`)).data).toMatchObject({ plan: { status: 'ready' }, tasks: {} });

    const refused = await put(run, { tasks: [{ ...tasks[0], tool: 'magic', depends_on: ['nothing'] }] });
    expect(refused).toMatchObject({ code: 102, message: expect.stringMatching(/tasks\[0\]\.tool.*depends_on\[0\]/) });
    expect(refused.data.issues.map(({ path }: { path: string }) => path)).toEqual([
      'tasks[0].tool',
      'tasks[0].depends_on[0]',
    ]);
    const fewer = tasks.slice(0, 2);
    expect(await put(run, { tasks: fewer })).toMatchObject({ code: 0, data: { plan: { tasks: [{}, {}] } } });
    expect(await post(`/${run}/steer`, { action: 'approve' })).toMatchObject({ code: 0 });
    const told = (await stream.rest()).flatMap(({ json }) => (json === undefined ? [] : [json]));
    expect(told.filter(({ type }) => type === 'plan_changed')).toMatchObject([{ by: 'user' }]);
    expect(told.filter(({ type }) => type === 'task_finished').map(({ status }) => status)).toEqual(['done', 'done']);
    const final = told.at(-1);
    expect(final).toMatchObject({ type: 'final', unsupported: 0 });
    expect(final.sources).toHaveLength(2);
    const content = told.filter(({ type }) => type === 'token').map((one) => one.content);
    expect(content.join('')).toBe(final.report);
    expect((await get(`/${run}/plan`)).data.tasks).toEqual({ task_001: 'done', task_002: 'done' });
    expect((await put(run, { tasks: fewer })).code).not.toBe(0);
    expect(await post(`/${run}/steer`, { action: 'plan', plan: {} })).toMatchObject({ code: 101 });
  });

  it('carries out the plan that comes with its question, and refuses one with problems before it begins', {
    timeout: 60_000,
  }, async () => {
    const { get, post } = await startResearchServer();
    const tasks = [
      { task_id: 'a', description: 'Who wrote The Salt Atlas?', tool: 'kb_search' },
      { task_id: 'b', description: 'How much is that?', tool: 'calculator', args: { expression: '6 * 7' } },
    ];
    const body = { question: QUESTION, llm_id: 'scripted', stream: false };
    const { data } = await post('', { ...body, plan: { tasks } });
    const { plan, tasks: status } = (await get(`/${data.run_id}/plan`)).data;
    expect(plan.tasks.map(({ task_id }: { task_id: string }) => task_id)).toEqual(['a', 'b']);
    expect(status).toEqual({ a: 'done', b: 'done' });
    expect(data.final.report).toContain('42');
    const before = (await get('')).data.length;
    const refused = await post('', { ...body, plan: { tasks: [{ task_id: 'a', tool: 'magic' }, tasks[1]] } });
    expect(refused).toMatchObject({ code: 102, message: expect.stringContaining('tasks[0].description') });
    const unknown = await post('', { ...body, plan: { tasks: [{ ...tasks[0], tool: 'magic', depends_on: ['z'] }] } });
    expect(unknown).toMatchObject({ message: expect.stringMatching(/tasks\[0\]\.tool.*tasks\[0\]\.depends_on\[0\]/) });
    expect((await get('')).data).toHaveLength(before);
  });

  it.each(['table', 'briefing', 'overview'])(
    'by a plan ends with a report in the form %s',
    { timeout: 60_000 },
    async (output) => {
      const { api, post } = await startResearchServer();
      const { data } = await post('', { question: QUESTION, llm_id: 'scripted', stream: false, output });
      const { report, sources } = data.final;
      expect(data.final).toMatchObject({ outcome: 'answer', unsupported: 0 });
      for (const { n } of sources) expect(report).toContain(`[${n}]`);
      const told = (await (await openStream(`${api}/${data.run_id}/events`)).rest()).flatMap(({ json }) => json ?? []);
      const { sections } = told.find(({ type }) => type === 'report_outline');
      const tokens = told.filter(({ type }) => type === 'token');
      expect(tokens.map(({ content }) => content).join('')).toBe(report);
      const textOf = (of: number): string =>
        tokens
          .filter(({ section }) => section === of)
          .map(({ content }) => content)
          .join('')
          .trim();
      const isOne = sections.length === 1 && textOf(0) === '';
      for (const [at, { title }] of sections.entries()) {
        expect(textOf(at + 1)).toContain('[1]');
        if (!isOne) expect(textOf(at + 1).split('\n')[0]).toBe(`## ${title}`);
      }
      expect(textOf(0) !== '').toBe(output === 'table');
      if (output === 'table') expect(report).toContain('| Question | Answer | Sources |');
    },
  );

  it('that has no plan says so', { timeout: 60_000 }, async () => {
    const { get, post } = await startResearchServer();
    const { data } = await post('', { question: QUESTION, llm_id: 'scripted', stream: false });
    expect((await get(`/${data.run_id}/plan`)).code).not.toBe(0);
  });

  it('is refused without a question, and with fields that do not fit', async () => {
    const { post } = await startResearchServer();
    expect(await post('', { question: ' ' })).toMatchObject({ code: 101 });
    expect(await post('', { question: 'x', depth: 'endless' })).toMatchObject({ code: 101 });
    expect(await post('/nothing/steer', { action: 'enough' })).toMatchObject({ code: 102 });
  });
});
