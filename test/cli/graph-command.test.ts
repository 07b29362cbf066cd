import { mkdir, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { prepareDatabase } from '../../scripts/prepare-database.js';
import { type HeldRequest, say, startHeldServer } from '../chat/service/support/held-server.js';
import { openEmbedded } from '../stores/support/open-stores.js';
import { makeFolder, removeFolder } from '../stores/support/temporary-folder.js';
import { type Called, call } from './fake-terminal.js';

const FILES = {
  'orion.md': '# Orion\n\nOrion uses the Lyra Scheduler. Orion is a scheduler of Port Soller.\n',
  'vega.md': '# Vega\n\nVega depends on Orion. Vega replaces Deneb. Vega uses Postgres.\n',
};

describe('graph', () => {
  let env: Readonly<Record<string, string>>;
  let folder: string;
  let dataDir: string;
  const graph = (...args: string[]): Promise<Called> => call(['graph', ...args], { env });
  const told = async (...args: string[]) => JSON.parse((await graph(...args, '--json')).out);
  const fileWith = async (name: string, content: unknown): Promise<string> => {
    const file = path.join(folder, name);
    await writeFile(file, typeof content === 'string' ? content : JSON.stringify(content));
    return file;
  };

  beforeAll(async () => {
    await prepareDatabase();
    dataDir = await makeFolder();
    await (await openEmbedded(dataDir)).close();
    env = { RUNNEL_DATA_DIR: dataDir, RUNNEL_EMBEDDINGS: 'off' };
    folder = await makeFolder();
    const texts = path.join(folder, 'texts');
    await mkdir(texts);
    for (const [name, text] of Object.entries(FILES)) await writeFile(path.join(texts, name), text);
    expect((await call(['ingest', texts, '--dataset', 'fleet'], { env })).exit).toBe(0);
  }, 600_000);

  afterAll(async () => {
    for (const one of [folder, dataDir]) await removeFolder(one);
  });

  it('tells what a build takes, builds, shows, searches, and finds ways', async () => {
    expect((await graph('show', 'fleet')).exit).not.toBe(0);
    const cost = await graph('cost', 'fleet');
    expect([cost.exit, cost.out]).toEqual([0, expect.stringMatching(/^2 chunks to read, 0 calls, 0 \+ 0 tokens/)]);
    const built = await graph('build', 'fleet');
    expect([built.exit, built.out]).toEqual([0, expect.stringMatching(/: \d+ entities, \d+ relations/)]);
    expect((await graph('cost', 'fleet')).out).toMatch(/^0 chunks to read/);

    const shown = await graph('show', 'fleet', 'Orion');
    expect(shown.out).toMatch(/^Orion \(\w+\), mentions \d+, documents 2$/m);
    expect(shown.out).toContain('Vega -- depends_on -- Orion');
    expect((await told('show', 'fleet', '--top', '1')).nodes).toHaveLength(1);
    expect((await graph('search', 'fleet', 'What is Vega?')).out).toContain('vega.md');
    const way = await graph('path', 'fleet', 'Vega', 'Lyra Scheduler');
    expect(way.out).toMatch(/^way 1: Vega depends on Orion; Orion uses Lyra Scheduler$/m);
    expect((await told('search', 'fleet', 'Vega', '--kind', 'rank')).kind).toBe('rank');
    expect((await graph('path', 'fleet', 'Orion', 'Postgres')).out).toMatch(
      /: Vega depends on Orion; Vega uses PostgreSQL$/m,
    );
  }, 600_000);

  it('merges, splits and adds names, lists what was decided, and undoes it', async () => {
    await graph('build', 'fleet');
    expect((await graph('names', 'fleet')).out).toBe('nothing was decided\n');
    expect((await graph('merge', 'fleet', 'Deneb', 'Vega')).out).toContain('Deneb and Vega are one from now on');
    expect((await graph('alias', 'fleet', 'Orion', 'the hunter')).out).toContain('"the hunter" is a name of Orion');
    expect((await graph('show', 'fleet', 'the hunter')).out).toContain('Orion (');

    const { decisions, aliases } = await told('names', 'fleet');
    expect(decisions).toMatchObject([{ kind: 'same' }]);
    expect(aliases).toMatchObject([{ entity: 'Orion', alias: 'the hunter' }]);
    const listed = (await graph('names', 'fleet')).out;
    for (const { id } of [...decisions, ...aliases]) {
      expect(listed).toContain(id);
      expect((await graph('undo', 'fleet', id)).exit).toBe(0);
    }
    expect(await told('names', 'fleet')).toEqual({ decisions: [], aliases: [] });
    expect((await graph('show', 'fleet', 'Deneb')).out).toContain('Deneb (');
    const twice = await graph('undo', 'fleet', decisions[0].id);
    expect([twice.exit, twice.err]).toEqual([1, expect.stringContaining('runnel graph names')]);
    expect((await graph('split', 'fleet', 'Vega', 'Deneb')).out).toContain('kept apart');
  }, 600_000);

  it('takes terms and patterns of a file, and says that a build is due', async () => {
    expect(JSON.parse((await graph('rules', 'fleet')).out)).toEqual({ terms: [], patterns: [] });
    const file = await fileWith('rules.json', { terms: [{ name: 'Port Soller', type: 'harbour' }] });
    const set = await graph('rules', 'fleet', file);
    expect(JSON.parse(set.out).terms).toEqual([{ name: 'Port Soller', type: 'harbour', aliases: [] }]);
    expect(set.err).toContain('runnel graph build');
    await graph('build', 'fleet');
    expect((await graph('rules', 'fleet')).err).not.toContain('runnel graph build');
    expect((await graph('show', 'fleet', 'Port Soller')).out).toContain('Port Soller (harbour)');

    const wrong = await fileWith('wrong.json', { terms: [{ name: 7 }], pattern: [] });
    const refused = await graph('rules', 'fleet', wrong);
    expect(refused.exit).not.toBe(0);
    for (const place of ['terms[0].name', 'terms[0].type', 'pattern']) expect(refused.err).toContain(place);
    expect((await graph('rules', 'fleet', await fileWith('none.json', '{"terms": ['))).err).toContain('line 1');
    expect(JSON.parse((await graph('rules', 'fleet')).out).terms).toHaveLength(1);
  }, 600_000);

  it.each(['json', 'graphml', 'gexf'])(
    'gives a graph as %s, and takes it again',
    async (form) => {
      const own = await fileWith('own.json', {
        nodes: [
          { id: 'a', name: 'Altair', type: 'engine' },
          { id: 'o', name: 'Orion' },
        ],
        edges: [{ source: 'a', target: 'o', relation: 'extends' }],
      });
      expect((await graph('put', 'fleet', own)).out).toBe('2 nodes and 1 edges, which name 0 chunks, were put\n');
      const file = path.join(folder, `all.${form}`);
      const exported = await graph('export', 'fleet', '--layers', 'given', '--out', file);
      expect([exported.exit, exported.err]).toEqual([0, expect.stringContaining(`2 nodes and 1 edges are in ${file}`)]);
      const printed = await graph('export', 'fleet', '--layers', 'given', '--format', form);
      expect(printed.out.trimEnd()).toBe((await readFile(file, 'utf8')).trimEnd());
      expect((await graph('put', 'fleet', await fileWith('empty.json', {}))).out).toMatch(/^0 nodes/);
      expect((await graph('show', 'fleet', 'Altair')).out).toBe('');
      const text = await readFile(file, 'utf8');
      const again = await call(['graph', 'put', 'fleet', '-', '--format', form], { env, input: text });
      expect(again.out).toMatch(/^2 nodes and 1 edges/);
      expect((await graph('show', 'fleet', 'Altair')).out).toContain('Altair (engine)');
      await graph('put', 'fleet', await fileWith('empty.json', {}));
    },
    600_000,
  );

  it('has a model write reports and take part in global and drift, within what it may spend', async () => {
    const upstream = await startHeldServer();
    const models = await fileWith('models.json', {
      factories: { Fake: { base_url: `${upstream.url}/v1`, api_key: 'k', models: ['m', 'other'] } },
      defaults: { chat: 'other@Fake' },
    });
    const answered: [model: string, purpose: string][] = [];
    const answer = (request: HeldRequest): void => {
      answered.push([request.body.model, request.purpose]);
      const { passages = [], reports = [] } = JSON.parse(request.body.messages.at(-1).content);
      const findings = passages.map(({ id, text }: { id: string; text: string }) => ({ summary: text, chunks: [id] }));
      const points = reports.map(({ id }: { id: string }) => ({ text: 'They sail.', score: 80, reports: [id] }));
      say(
        JSON.stringify({
          ...{ title: 'Orion', summary: 'What Orion uses.', rating: 4, findings, points },
          questions: [],
        }),
      )(request);
    };
    for (const purpose of ['community_report', 'global_map', 'research_followups', 'graph_extract'])
      upstream.answers.set(purpose, answer);
    const asking = { env: { ...env, RUNNEL_MODELS: models, LLM_MAX_RETRIES: '0' } };
    const modelled = (...args: string[]): Promise<Called> => call(['graph', ...args], asking);
    await graph('build', 'fleet');
    expect((await graph('cost', 'fleet', '--reports', 'no')).out).toMatch(/^0 chunks to read, 0 calls/);

    const model = ['--model', 'm@Fake'];
    const cost = await modelled('cost', 'fleet', '--reports', 'yes', ...model);
    expect(cost.out).toMatch(/^0 chunks to read, [1-9]\d* reports to write, [1-9]\d* calls/);
    const sampled = await modelled('cost', 'fleet', '--layers', 'model', '--sample', ...model);
    expect(sampled.err).toMatch(/measured with 2 of the chunks, which took 2 calls and [1-9]\d* \+ [1-9]\d* tokens/);
    expect(answered.splice(0).map(String)).toEqual(['m,graph_extract', 'm,graph_extract']);
    const none = await modelled('build', 'fleet', '--reports', 'yes', '--calls', '0', ...model);
    expect([none.out, answered]).toEqual([expect.stringMatching(/^missing: .*report/m), []]);
    expect((await modelled('build', 'fleet', '--reports', 'yes', '--tokens', '100000', ...model)).exit).toBe(0);
    expect(new Set(answered.map(String))).toEqual(new Set(['m,community_report']));

    answered.length = 0;
    const question = ['search', 'fleet', 'What does Orion use?', '--kind'];
    const byRules = await modelled(...question, 'global');
    expect([byRules.exit, byRules.err, answered]).toEqual([0, '', []]);
    const found = await modelled(...question, 'global', '--calls', '1', '--tokens', '20000');
    expect([found.out, found.err]).toEqual([
      expect.stringMatching(/^80 {2}They sail\.$/m),
      expect.stringMatching(/^1 calls, \d+ tokens; \d+ of \d+ reports were read$/m),
    ]);
    expect(answered).toEqual([['other', 'global_map']]);
    const drift = await modelled(...question, 'drift', '--level', '0', '--json', ...model);
    expect(JSON.parse(drift.out)).toMatchObject({ kind: 'drift', isDegraded: false, spent: { calls: 2 } });
    expect(answered.slice(1)).toEqual([
      ['m', 'global_map'],
      ['m', 'research_followups'],
    ]);
    const unknown = await modelled(...question, 'global', '--model', 'route:none');
    expect([unknown.exit, unknown.err]).toEqual([
      expect.any(Number),
      expect.stringContaining('no chat model "route:none"'),
    ]);
    expect(unknown.exit).not.toBe(0);
    expect((await graph('--help')).out).toMatch(/--reports yes\|no.*--model ID.*--money N/s);
  }, 600_000);

  it.each([
    [['build', 'fleet', '--reports', '3'], '--reports takes yes or no; received "3"'],
    [['build', 'fleet', '--tokens', '-1'], 'argument is ambiguous'],
    [['build', 'fleet', '--tokens=-1'], '--tokens takes a whole number; received "-1"'],
    [['build', 'fleet', '--money', 'much'], '--money takes an amount'],
    [['build', 'fleet', '--model', ' '], '--model takes the id of a chat model; received " "'],
    [['build', 'fleet', '--types', ','], '--types takes names with commas between them; received ","'],
    [
      ['cost', 'fleet', '--tokens', '5'],
      'graph cost takes no --tokens; it takes --layers, --reports, --model, --sample, --json',
    ],
    [
      ['search', 'fleet', 'Vega', '--kind', 'rank', '--calls', '3'],
      '--calls is for --kind global and drift; received --kind rank',
    ],
    [['search', 'fleet', 'Vega', '--kind', 'global', '--calls', '1.5'], '--calls takes a whole number; received "1.5"'],
    [
      ['search', 'fleet', 'Vega', '--kind', 'drift', '--level', '17'],
      '--level takes a whole number from 0 to 16; received "17"',
    ],
    [['search', 'fleet', 'Vega', '--top', '0'], '--top takes a whole number from 1 to 100; received "0"'],
    [['search', 'fleet', ' '], 'The question is empty'],
    [['shw', 'fleet'], 'Did you mean show?'],
    [['path', 'fleet', 'Vega'], 'takes a dataset and 2 more; received 1'],
    [['show', 'fleet', '--top', 'many'], '--top takes a whole number; received "many"'],
    [['search', 'fleet', 'Vega', '--kind', 'wide'], 'local, global, drift, path, rank'],
    [['build', 'fleet', '--layers', 'all'], 'links, rules, model'],
    [['export', 'fleet', '--layers', 'all'], 'links, rules, model, given'],
    [['put', 'fleet', 'graph.svg'], 'json, graphml, gexf'],
    [['put', 'fleet', 'not-there.json'], 'Cannot read "not-there.json"'],
    [['export', 'fleet', '--out', '/not/there.json'], 'Cannot write "/not/there.json"'],
  ])(
    'refuses %j',
    async (args, problem) => {
      const { exit, out, err } = await graph(...args);
      expect([exit, out, err]).toEqual([2, '', expect.stringContaining(problem)]);
    },
    600_000,
  );
});
