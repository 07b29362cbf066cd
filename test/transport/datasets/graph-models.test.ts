import { describe, expect, it, onTestFinished } from 'vitest';
import { createModels } from '../../../src/models/router.js';
import { modelsFromEnvironment } from '../../../src/settings/read-settings.js';
import { type HeldRequest, say, startHeldServer } from '../../chat/service/support/held-server.js';
import { ACME, startDatasets } from './support/dataset-server.js';

const TEXTS: Readonly<Record<string, string>> = {
  'Orion.md': 'Orion uses Kafka. Orion was written by Ada Lenz.',
  'Ada Lenz.md': 'Ada Lenz lives in Port Soller. She also wrote the Lyra Scheduler.',
};

/** A server of datasets whose models are a server of the test. */
async function startModelled() {
  const upstream = await startHeldServer();
  const configuration = JSON.stringify({
    factories: { Fake: { base_url: `${upstream.url}/v1`, api_key: 'k', models: ['m'] } },
    defaults: { chat: 'm@Fake' },
  });
  const models = createModels(
    await modelsFromEnvironment({ RUNNEL_MODELS: 'models.json', LLM_MAX_RETRIES: '0' }, async () => configuration),
  );
  onTestFinished(() => models.close());
  const server = await startDatasets({ chat: (_, id) => models.chat(id) });
  const id = await server.dataset();
  for (const [name, text] of Object.entries(TEXTS)) await server.ingest(id, name, text);
  const path = `/datasets/${id}/graph`;
  const state = async (): Promise<string> => (await server.ask('GET', `${path}/build`)).data.state;
  const build = async (body: object): Promise<void> => {
    expect((await server.ask('POST', path, body)).data).toMatchObject({ state: 'RUNNING' });
    await expect.poll(state, POLL).toBe('DONE');
  };
  return { ...server, upstream, path, build, state };
}

/** What only ends a test that hangs. */
const POLL = { timeout: 60_000, interval: 20 };

const inputOf = ({ body }: HeldRequest) => JSON.parse(body.messages.at(-1).content);

/** Reports and points on what a model is shown. */
function answer(request: HeldRequest): void {
  const { passages = [], reports = [] } = inputOf(request);
  const findings = passages.map(({ id, text }: { id: string; text: string }) => ({ summary: text, chunks: [id] }));
  const points = reports.map(({ id, title }: { id: string; title: string }) => ({
    text: title,
    score: 80,
    reports: [id],
  }));
  const given =
    request.purpose === 'global_map' ? { points } : { title: 'Written', summary: 'By m.', rating: 4, findings };
  say(JSON.stringify(given))(request);
}

describe('the graph of a dataset with a model', () => {
  it('has reports that a model wrote, told with who wrote them, and read by global within a budget', async () => {
    const { ask, path, build, upstream } = await startModelled();
    upstream.answers.set('community_report', answer);
    upstream.answers.set('global_map', answer);
    await build({});
    expect((await ask('GET', `${path}/reports`)).data.reports[0]).toMatchObject({ by: 'rules', is_stale: false });
    const cost = (await ask('GET', `${path}/cost?reports=true`)).data;
    await build({ reports: true });
    const { spent, done } = (await ask('GET', `${path}/build`)).data;
    expect(cost).toMatchObject({ chunks: 0, reports: done.reports, calls: spent.calls });
    const { reports, of } = (await ask('GET', `${path}/reports?limit=1`)).data;
    expect(reports).toMatchObject([{ by: 'model', title: 'Written', rating: 4, is_stale: false, level: 0 }]);
    expect(of).toBeGreaterThanOrEqual(1);
    const question = { kind: 'global', question: 'What is there?' };
    const ruled = (await ask('POST', `${path}/search`, question)).data;
    expect(ruled.spent).toEqual({ calls: 0, tokens: 0 });
    const { data } = await ask('POST', `${path}/search`, { ...question, budget: { calls: 3, tokens: 20_000 } });
    expect(data).toMatchObject({ spent: { calls: 1 }, is_degraded: false, is_stale: false });
    expect(data.points[0].rating).toBe(80);
    expect(data.hits[0].why.community).toBe('Written');
    expect((await ask('POST', `${path}/search`, { ...question, llm_id: 'm@Fake' })).data.spent.calls).toBe(1);
  });

  it('goes on by rules when the model answers 500', async () => {
    const { ask, path, build, upstream } = await startModelled();
    await build({});
    upstream.answers.set('global_map', ({ response }) => response.writeHead(500).end('down'));
    const body = { kind: 'global', question: 'What does Orion use?', budget: { calls: 3 } };
    const { data } = await ask('POST', `${path}/search`, body);
    expect(data.is_degraded).toBe(true);
    expect(data.read.done).toBeGreaterThan(0);
  });

  it('closes the socket of the model when the client leaves a search, and when a build is cancelled', async () => {
    const { ask, path, build, upstream, url, state } = await startModelled();
    await build({});
    const leaving = new AbortController();
    const asked = fetch(`${url}/api/v1${path}/search`, {
      ...{ method: 'POST', headers: { ...ACME, 'content-type': 'application/json' }, signal: leaving.signal },
      body: JSON.stringify({ kind: 'drift', question: 'What does Orion use?', budget: { calls: 3 } }),
    });
    await expect.poll(upstream.open, POLL).toEqual(['global_map']);
    leaving.abort();
    await expect(asked).rejects.toMatchObject({ name: 'AbortError' });
    await expect.poll(upstream.open, POLL).toEqual([]);
    await ask('POST', path, { reports: true });
    await expect.poll(upstream.open, POLL).toContain('community_report');
    await ask('POST', `${path}/cancel`);
    await expect.poll(upstream.open, POLL).toEqual([]);
    expect(await state()).toBe('CANCEL');
  });
});
