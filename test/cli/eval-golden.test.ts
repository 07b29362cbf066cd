import { readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { temporaryFolder } from '../stores/support/temporary-folder.js';
import { call } from './fake-terminal.js';

const OWN = path.join(import.meta.dirname, '../../examples/evaluation/runnel-docs.jsonl');

/** A folder with documents and a golden file about them. */
async function golden(...questions: readonly object[]) {
  const folder = await temporaryFolder();
  const documents = path.join(folder, 'documents');
  const file = path.join(folder, 'golden.jsonl');
  const { mkdir } = await import('node:fs/promises');
  await mkdir(documents);
  await writeFile(path.join(documents, 'pumps.md'), 'A pump moves water uphill.');
  await writeFile(path.join(documents, 'valves.md'), 'A valve stops the flow.');
  await writeFile(file, questions.map((one) => JSON.stringify(one)).join('\n'));
  return { folder, file, args: ['eval', file, '--documents', documents] };
}

const PUMP = { id: 'pump', category: 'c', question: 'What moves water?', expected_sources: ['pumps.md'] };
const MISSED = { id: 'missed', category: 'c', question: 'What stops the flow?', expected_sources: ['pumps.md'] };

describe('eval of golden questions', () => {
  it('finds the sources of the questions about our own pages', async () => {
    const { exit, out, err } = await call(['eval', OWN, '--json', '--fail-below', 'source_pass=0.9']);
    expect(err).toContain('20 of 20 questions');
    const result = JSON.parse(out) as { questions: { category: string }[] };
    expect(new Set(result.questions.map(({ category }) => category)).size).toBeGreaterThanOrEqual(16);
    expect(result).toMatchObject({ failures: [] });
    expect(exit).toBe(0);
  });

  it('shows rates, stages, and what did not pass', async () => {
    const { args, folder } = await golden(PUMP, MISSED);
    const page = path.join(folder, 'page.html');
    const { exit, out } = await call([...args, '--html', page]);
    expect(exit).toBe(0);
    expect(out).toMatch(/source_pass +0\.5000/);
    expect(out).toContain('Multi-Channel');
    expect(out).toMatch(/missed {2}c {2}source_pass {2}What stops the flow\?/);
  });

  it('fails below a bar, and on a regression with the questions that changed', async () => {
    const questions = Array.from({ length: 8 }, (_, at) => ({ ...PUMP, id: `q${at}` }));
    const { args, folder } = await golden(...questions);
    const [worse, better] = [path.join(folder, 'worse.json'), path.join(folder, 'better.json')];
    await writeFile(worse, JSON.stringify({ dataset_ids: [] }));
    await writeFile(better, '{}');
    const { exit, out } = await call([
      ...args,
      '--config',
      worse,
      '--against',
      better,
      '--fail-below',
      'source_pass=0.5',
    ]);
    expect(exit).toBe(1);
    expect(out).toContain('failed: source_pass is 0.0000, below 0.5');
    expect(out).toContain('failed: source_pass is lower than with the other settings');
    expect(out).toContain('8 questions changed:');
  });

  it('has the answers judged by a model in both orders when asked, and says which', async () => {
    const unclear = { ...PUMP, id: 'unclear', expected_answer: 'Something unclear.' };
    const { args, folder } = await golden({ ...PUMP, expected_answer: 'A pump.' }, unclear, {
      ...PUMP,
      id: 'broken',
      expected_answer: 'Something broken.',
    });
    const verdict = (found: string) => ({ reply: JSON.stringify({ verdict: found, reason: found }) });
    const rules = [
      { when: { user: 'Something broken' }, reply: 'no verdict' },
      { when: { user: 'expected".*Something unclear.*answer"' }, ...verdict('fail') },
      { when: { user: '"texts"' }, ...verdict('pass') },
      { when: {}, reply: 'A pump moves water [1].' },
    ];
    const [models, page] = [path.join(folder, 'models.json'), path.join(folder, 'page.html')];
    await writeFile(models, JSON.stringify({ scripted: { rules } }));
    const env = { RUNNEL_MODELS: models };
    const plain = await call([...args, '--json'], { env });
    expect(plain.out).not.toContain('judge');
    const { exit, out } = await call([...args, '--html', page, '--judge', '--fail-below', 'judge_pass=0.9'], { env });
    const line =
      'judged by the built-in scripted model, in both orders: 1 pass, 0 fail, 1 undecided: the two orders disagree, 1 not judged';
    expect(out).toContain(line);
    expect(out).toMatch(/judge_pass +1\.0000/);
    expect(out).toMatch(/unclear {2}c {2}undecided/);
    expect(exit).toBe(0);
    expect(await readFile(page, 'utf8')).toContain('Answers judged by the built-in scripted model');
    const { out: json } = await call([...args, '--judge', 'scripted', '--json'], { env });
    expect(JSON.parse(json)).toMatchObject({
      judged_by: 'the built-in scripted model',
      judged: { pass: 1, fail: 0, undecided: 1, not_judged: 1 },
      questions: [{}, { judgement: { verdict: 'undecided', reasons: ['pass', 'fail'] } }, {}],
    });
  });

  it.each<[string, (file: string) => readonly string[], RegExp]>([
    ['--run', (file) => ['eval', file, '--run', 'x'], /--run is for test collections/],
    ['a measure of collections', (file) => ['eval', file, '--fail-below', 'map=1'], /source_pass, keyword_pass/],
    ['the rate of a judge without one', (file) => ['eval', file, '--fail-below', 'judge_pass=1'], /takes a measure/],
    ['documents that are not there', (file) => ['eval', file, '--documents', '/none/there'], /none/],
  ])('refuses %s', async (_, args, said) => {
    const { file } = await golden(PUMP);
    const { exit, err } = await call(args(file));
    expect(exit).toBe(2);
    expect(err).toMatch(said);
  });
});
