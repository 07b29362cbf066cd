import { describe, expect, it } from 'vitest';
import { OTHER, startDatasets } from './support/dataset-server.js';

const POLL = { timeout: 60_000, interval: 20 };
const RULES = {
  terms: [{ name: 'Lyra Scheduler', type: 'scheduler', aliases: ['the harp'] }],
  patterns: [{ pattern: '(?P<source>[A-Z]\\w+) is hosted on (?P<target>[A-Z]\\w+)', relation: 'hosted on' }],
};
const KEPT = { ...RULES, patterns: [{ ...RULES.patterns[0], relation: 'hosted_on' }] };

async function startRules() {
  const server = await startDatasets();
  const id = await server.dataset();
  await server.ingest(id, 'Orion.md', 'Then Orion is hosted on Vega. We see that the harp uses Kafka.');
  const path = `/datasets/${id}/graph`;
  const build = async (): Promise<void> => {
    await server.ask('POST', path, {});
    await expect.poll(async () => (await server.ask('GET', `${path}/build`)).data.state, POLL).toBe('DONE');
  };
  const edges = async (): Promise<string[]> =>
    (await server.ask('GET', path)).data.edges
      .filter(({ isExplicit }: { isExplicit: boolean }) => isExplicit)
      .map(({ source, relation, target }: Record<string, string>) => `${source} ${relation} ${target}`);
  return { ...server, path, build, edges };
}

describe('rules of a dataset', () => {
  it('are read by the next build, which says before that it is due, and stay when the graph is deleted', async () => {
    const { ask, path, build, edges } = await startRules();
    expect((await ask('GET', `${path}/rules`)).data).toEqual({ terms: [], patterns: [], to_build: true });
    await build();
    expect((await ask('GET', `${path}/rules`)).data).toMatchObject({ to_build: false });
    expect(await edges()).not.toContain('orion hosted_on vega');
    expect((await ask('PUT', `${path}/rules`, RULES)).data).toEqual({ ...KEPT, to_build: true });
    expect((await ask('GET', `${path}/cost`)).data).toMatchObject({ chunks: 1 });
    await build();
    expect((await ask('GET', `${path}/rules`)).data).toEqual({ ...KEPT, to_build: false });
    expect((await ask('GET', `${path}/cost`)).data).toMatchObject({ chunks: 0 });
    expect(await edges()).toEqual(expect.arrayContaining(['orion hosted_on vega', 'lyrascheduler uses kafka']));
    const found = await ask('POST', `${path}/search`, { question: 'What is the harp?' });
    expect(found.data.entities).toMatchObject([{ name: 'Lyra Scheduler', type: 'scheduler' }]);
    expect(await ask('DELETE', path)).toMatchObject({ data: true });
    expect((await ask('GET', `${path}/rules`)).data).toEqual({ ...KEPT, to_build: true });
    expect((await ask('PUT', `${path}/rules`, {})).data).toEqual({ terms: [], patterns: [], to_build: true });
    await build();
    expect(await edges()).not.toContain('orion hosted_on vega');
  });

  it('are refused with their places, and are none of another tenant', async () => {
    const { ask, path } = await startRules();
    const patterns = [RULES.patterns[0], { pattern: '(?P<source>a)(', relation: 'r' }];
    expect(await ask('PUT', `${path}/rules`, { patterns })).toMatchObject({
      code: 101,
      message: expect.stringContaining('patterns[1].pattern: it cannot be read'),
    });
    expect(await ask('PUT', `${path}/rules`, { patterns: [{ pattern: 7, relation: 'r' }] })).toMatchObject({
      code: 101,
      message: expect.stringContaining('<patterns.0.pattern>'),
    });
    expect((await ask('GET', `${path}/rules`)).data.patterns).toEqual([]);
    expect(await ask('PUT', `${path}/rules`, RULES, OTHER)).toMatchObject({ code: 102 });
    expect(await ask('GET', `${path}/rules`, undefined, OTHER)).toMatchObject({ code: 102 });
  });
});
