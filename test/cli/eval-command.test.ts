import { readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { gzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { temporaryFolder } from '../stores/support/temporary-folder.js';
import { call } from './fake-terminal.js';

const SHIPPED = path.join(import.meta.dirname, '../knowledge/evaluation/collection');

async function collection(change: Readonly<Record<string, string | Buffer>> = {}): Promise<string> {
  const folder = await temporaryFolder();
  const files = {
    'corpus.jsonl': '{"id":"d1","title":"<b>Tea</b>","text":"green tea"}\n{"id":"d2","text":"black coffee"}\n',
    'queries.jsonl':
      '{"id":"q1","text":"tea <i>leaves</i>"}\n{"id":"q2","text":"milk"}\n{"id":"unjudged","text":"x"}\n',
    'qrels.tsv': 'query\tdocument\trelevance\nq1\td1\t1\nq2\td2\t1\n',
    ...change,
  };
  for (const [name, content] of Object.entries(files)) await writeFile(path.join(folder, name), content);
  return folder;
}

describe('eval', () => {
  it('prints the measures, with progress beside them', async () => {
    const { exit, out, err } = await call(['eval', await collection()]);
    expect(exit).toBe(0);
    expect(out).toContain('2 documents, 2 questions');
    expect(out).toMatch(/ndcg@10 {5}0\.5000\n/);
    expect(err).toContain('2 of 2 documents');
  });

  it('prints JSON, and writes lines of TREC and a page whose texts are escaped', async () => {
    const folder = await collection();
    const [run, html] = [path.join(folder, 'a.run'), path.join(folder, 'a.html')];
    const { exit, out } = await call(['eval', folder, '--json', '--run', run, '--html', html]);
    expect(exit).toBe(0);
    expect(JSON.parse(out)).toMatchObject({ documents: 2, means: { 'hit@1': 0.5 }, failures: [] });
    expect(await readFile(run, 'utf8')).toMatch(/^q1 Q0 d1 1 [\d.]+ runnel\n/);
    const page = await readFile(html, 'utf8');
    expect(page).toContain('&lt;i&gt;leaves');
    expect(page).not.toContain('<i>');
  });

  it('fails below a bar, and says which', async () => {
    const folder = await collection();
    expect((await call(['eval', folder, '--fail-below', 'ndcg@10=0.5'])).exit).toBe(0);
    const { exit, out } = await call(['eval', folder, '--fail-below', 'ndcg@10=0.4', '--fail-below', 'map=0.9']);
    expect(exit).toBe(1);
    expect(out).toContain('failed: map is 0.5000, below 0.9');
  });

  it('compares two configurations and fails on a regression with the questions that changed', async () => {
    const folder = await temporaryFolder();
    const worse = path.join(folder, 'worse.json');
    const weights = { bm25: 0, ngram: 0, rm3: 0, proximity: 0, title: 0, titleInQuestion: 0 };
    await writeFile(worse, JSON.stringify({ weights, linkGraph: false }));
    const better = path.join(folder, 'better.json');
    await writeFile(better, '{}');
    const lost = await call(['eval', SHIPPED, '--config', worse, '--against', better]);
    expect(lost.exit).toBe(1);
    expect(lost.out).toMatch(/\d+ questions changed/);
    expect(lost.out).toContain('failed: ndcg@10 is lower than with the other settings');
    expect((await call(['eval', SHIPPED, '--config', better, '--against', worse])).exit).toBe(0);
  });

  it('says which setting names the model of a research', async () => {
    const env = { OPENAI_BASE_URL: 'http://127.0.0.1:9/v1' };
    const { exit, err } = await call(['eval', await collection(), '--pipeline', 'deep'], { env });
    expect(exit).not.toBe(0);
    expect(err).toContain('RUNNEL_MODELS');
    expect(err).toContain('{"defaults":{"chat":"gpt-4o-mini"}}');
  });

  it('reads packed files', async () => {
    const plain = await collection();
    const packed = await temporaryFolder();
    for (const name of ['corpus.jsonl', 'queries.jsonl']) {
      await writeFile(path.join(packed, `${name}.gz`), gzipSync(await readFile(path.join(plain, name))));
    }
    await writeFile(path.join(packed, 'qrels.tsv'), await readFile(path.join(plain, 'qrels.tsv')));
    expect((await call(['eval', packed])).out).toContain('2 documents, 2 questions');
  });

  it.each([
    ['a folder that is not there', async () => ['/none'], /Cannot read "\/none"/],
    ['a file', async () => [path.join(SHIPPED, 'qrels.tsv')], /is not valid JSON/],
    ['a judge of a collection', async () => [SHIPPED, '--judge'], /--judge is for golden questions/],
    ['a folder without judgements', async () => [await temporaryFolder()], /qrels\.tsv.*ENOENT/],
    [
      'a line that is no JSON',
      async () => [await collection({ 'corpus.jsonl': '{"id":"a","text":"b"}\n{' })],
      /line 2 of .*corpus\.jsonl" must be a JSON object/,
    ],
    [
      'a document without a text',
      async () => [await collection({ 'corpus.jsonl': '{"id":"a"}' })],
      /must have a text "text"/,
    ],
    [
      'a judgement without a number',
      async () => [await collection({ 'qrels.tsv': 'q1\td1\tyes\n' })],
      /line 1 of .*relevance/,
    ],
    [
      'judgements of other questions',
      async () => [await collection({ 'qrels.tsv': 'zz\td1\t1\n' })],
      /has no question/,
    ],
    ['a bar that is none', async () => [await collection(), '--fail-below', 'beauty=1'], /takes a measure/],
    [
      'settings that are not there',
      async () => [await collection(), '--config', '/none.json'],
      /Cannot read "\/none\.json"/,
    ],
  ])('refuses %s', async (_, args, message) => {
    const { exit, err } = await call(['eval', ...(await args())]);
    expect(exit).toBe(2);
    expect(err).toMatch(message);
  });

  it('refuses settings that are unknown', async () => {
    const folder = await collection();
    const file = path.join(folder, 'c.json');
    await writeFile(file, '{"fusionn":1}');
    const { exit, err } = await call(['eval', folder, '--config', file]);
    expect(exit).toBe(2);
    expect(err).toContain('"fusionn" must be one of');
  });
});
