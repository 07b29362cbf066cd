import { mkdir, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { PassThrough } from 'node:stream';
import { describe, expect, it } from 'vitest';
import { runCommandLine } from '../../src/cli/command-line.js';
import { readCollection } from '../../src/knowledge/evaluation/read-collection.js';
import { SCRIPTS, WORLD } from '../research/support/world.js';
import { temporaryFolder } from '../stores/support/temporary-folder.js';
import { type Called, call, fakeTerminal } from './fake-terminal.js';

const QUESTION = 'Who is the warden of the island on which the author of The Salt Atlas was born?';

/** The passages of the question as a dataset of a data folder. */
async function openFolder() {
  const { documents } = await readCollection(WORLD);
  const steps = SCRIPTS.find(({ question }) => question === QUESTION)?.steps ?? [];
  const passages = new Set(steps.flatMap((step) => step.passages));
  const datasets = await temporaryFolder();
  await mkdir(path.join(datasets, 'world'));
  for (const { id, text } of documents) {
    if (passages.has(id)) await writeFile(path.join(datasets, 'world', `${id}.txt`), text);
  }
  return { RUNNEL_DATA_DIR: await temporaryFolder(), RUNNEL_DATASETS_DIR: datasets, RUNNEL_EMBEDDINGS: 'off' };
}

const STEPS = ['--steps', path.join(WORLD, 'steps.jsonl')];

describe('research --plan', () => {
  it('asks at a terminal alone, and takes known forms', async () => {
    expect(await call(['research', QUESTION, '--plan'])).toMatchObject({
      exit: 2,
      err: expect.stringContaining('--yes'),
    });
    expect(await call(['research', QUESTION, '--output', 'poem'])).toMatchObject({
      exit: 2,
      err: expect.stringContaining('answer, table, briefing, overview'),
    });
  });

  it('shows the plan, takes the one of a file, and carries that out', { timeout: 600_000 }, async () => {
    const input = new PassThrough();
    const terminal = fakeTerminal({ env: await openFolder(), isTTY: true, input });
    const write = terminal.err.write.bind(terminal.err);
    const asked: Promise<void>[] = [];
    terminal.err.write = (text: string) => {
      write(text);
      if (text.startsWith('Carry it out?')) input.write('edit\n');
      const file = /^The tasks are in (\S+);/.exec(text)?.[1];
      if (file !== undefined) asked.push(shorten(file).then(() => void input.write('\n')));
    };
    const exit = await runCommandLine(['research', QUESTION, '--plan', ...STEPS], terminal);
    await Promise.all(asked);
    const { out, err } = terminal.text;
    expect(exit).toBe(0);
    expect(err).toContain('task_002 kb_search: In which town was {task_001} born? (behind task_001)');
    expect(err).toContain('> task_001 kb_search');
    expect(err).not.toContain('> task_003');
    expect(out).toContain('Corwin Hale');
  });

  it('ends without a search when the answer is no', { timeout: 600_000 }, async () => {
    const called: Called = await call(['research', QUESTION, '--plan', ...STEPS], {
      env: await openFolder(),
      isTTY: true,
      input: 'perhaps\nn\n',
    });
    expect(called.exit).toBe(0);
    expect(called.err.match(/Carry it out\?/g)).toHaveLength(2);
    expect(called.err).not.toContain('> task_001');
  });

  it('with --yes asks nothing, and prints events for programs', { timeout: 600_000 }, async () => {
    const args = ['research', QUESTION, '--plan', '--yes', '--output', 'table', '--events', ...STEPS];
    const { exit, out } = await call(args, { env: await openFolder() });
    expect(exit).toBe(0);
    const events = out
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line));
    expect(events.find(({ type }) => type === 'plan')).toMatchObject({ waits: false });
    expect(events.at(-1)).toMatchObject({ type: 'final', outcome: 'answer', unsupported: 0 });
    expect(events.at(-1).report).toContain('| Question | Answer | Sources |');
  });
});

describe('research --plan FILE', () => {
  const planFile = async (content: unknown): Promise<string> => {
    const file = path.join(await temporaryFolder(), 'plan.json');
    await writeFile(file, typeof content === 'string' ? content : JSON.stringify(content));
    return file;
  };
  const task = { task_id: 'first', description: 'Who wrote The Salt Atlas?', tool: 'kb_search' };

  it('carries out the plan of the file, and asks nothing', { timeout: 600_000 }, async () => {
    const file = await planFile({ question_type: 'factual', tasks: [task] });
    const { exit, out, err } = await call(['research', QUESTION, '--plan', file, ...STEPS], {
      env: await openFolder(),
    });
    expect(exit).toBe(0);
    expect(err).toContain('> first kb_search');
    expect(err).not.toContain('> task_');
    expect(out).toContain('Corwin Hale');
  });

  it('refuses one with problems, each with its path, before anything begins', { timeout: 600_000 }, async () => {
    const second = { ...task, task_id: 'second', tool: 'magic', depends_on: ['third'] };
    const file = await planFile({ tasks: [task, second] });
    const { exit, out, err } = await call(['research', QUESTION, `--plan=${file}`, ...STEPS], {
      env: await openFolder(),
    });
    expect(exit).toBe(2);
    expect(err).toMatch(/tasks\[1\]\.tool.*"magic".*tasks\[1\]\.depends_on\[0\]/);
    expect(err).not.toContain('>');
    expect(out).toBe('');
  });

  it.each<[string, () => Promise<string>, RegExp]>([
    ['that is not there', async () => 'no-such.json', /read the plan in "no-such\.json"/],
    ['that is no object', () => planFile('[1]'), /holds no plan/],
  ])('refuses a file %s', async (_, file, message) => {
    const { exit, err } = await call(['research', QUESTION, '--plan', await file()]);
    expect([exit, err]).toEqual([2, expect.stringMatching(message)]);
  });
});

/** Leaves the first two tasks of a plan in its file. */
async function shorten(file: string): Promise<void> {
  const { tasks } = JSON.parse(await readFile(file, 'utf8'));
  await writeFile(file, JSON.stringify({ tasks: tasks.slice(0, 2) }));
}
