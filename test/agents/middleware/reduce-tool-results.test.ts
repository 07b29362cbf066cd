import { lastValueFrom, toArray } from 'rxjs';
import { describe, expect, it } from 'vitest';
import { agent, memoryFiles, type ReduceToolResultsOptions, reduceToolResults } from '../../../src/entries/agents.js';
import { defineTool, run } from '../../../src/index.js';
import type { ToolMessage } from '../../../src/models/messages.js';
import { recordingModel } from './support.js';

const LONG = 'word '.repeat(400);
const tools = ['dump', 'law'].map((name) => defineTool({ name, description: 'Says much.', run: () => LONG }));

/** The results in the last request, after these calls in a row. */
async function results(calls: readonly string[], options: ReduceToolResultsOptions) {
  const model = recordingModel(...calls.map((tool, index) => [{ tool, id: `c${index}` }]), 'done');
  const clerk = agent({ name: 'clerk', model, tools, use: [reduceToolResults(options)] });
  const events = await lastValueFrom(run(clerk, { input: 'go' }).pipe(toArray()));
  const messages = model.requests.at(-1)?.messages ?? [];
  const found = messages.filter((message): message is ToolMessage => message.role === 'tool');
  return {
    messages,
    texts: found.map(({ content }) => content),
    ids: found.map(({ toolCallId }) => toolCallId),
    events: JSON.stringify(events),
    model,
  };
}

const CLEARED = expect.stringContaining('is old and left out');

describe('reduceToolResults', () => {
  it('cuts a long result when it comes', async () => {
    const { texts } = await results(['dump'], { cutAt: 9 });
    expect(texts).toEqual([
      'word word\n[The result has 2000 characters; the rest is left out. Ask for less at a time.]',
    ]);
  });

  it('puts the whole of it into a file where there is a space', async () => {
    const space = memoryFiles();
    const { texts } = await results(['dump'], { cutAt: 9, space });
    const path = (await space.glob('tool-results/*')).found[0] as string;
    expect((await space.read(path)).lines).toEqual([LONG]);
    expect(texts[0]).toContain(path);
  });

  it('clears the oldest beyond its budget, down to half of it, and keeps pairs', async () => {
    const { texts, ids, events } = await results(['dump', 'dump', 'dump', 'dump'], { clearAt: 1_400, keep: 1 });
    expect(texts).toEqual([CLEARED, CLEARED, LONG, LONG]);
    expect(ids).toEqual(['c0', 'c1', 'c2', 'c3']);
    expect(events).toContain('results-cleared');
  });

  it('clears for good: a later round clears only what came since', async () => {
    const { model, events } = await results(
      Array.from({ length: 6 }, () => 'dump'),
      { clearAt: 1_400, keep: 1 },
    );
    const cleared = model.requests.map(
      ({ messages }) => messages.filter(({ content }) => String(content).includes('left out')).length,
    );
    expect(cleared.toSorted((a, b) => a - b)).toEqual(cleared);
    expect(events.match(/"results-cleared"/g)?.length).toBeLessThan(5);
  });

  it('keeps the newest, and those of exempt tools', async () => {
    const { texts } = await results(['law', 'dump', 'dump', 'dump'], { clearAt: 10, keep: 2, exempt: ['law'] });
    expect(texts).toEqual([LONG, CLEARED, LONG, LONG]);
    const cut = await results(['law', 'dump'], { cutAt: 9, exempt: ['law'] });
    expect(cut.texts[0]).toBe(LONG);
    expect(cut.texts[1]).not.toBe(LONG);
  });

  it('puts what it clears into files, each into its own', async () => {
    const space = memoryFiles();
    const { texts } = await results(['dump', 'dump', 'dump'], { clearAt: 10, keep: 1, space });
    const { found } = await space.glob('tool-results/*');
    expect(found).toHaveLength(2);
    expect(found.filter((path) => texts.some((text) => text.includes(path)))).toEqual(found);
    expect((await space.read(found[0] as string)).lines).toEqual([LONG]);
  });

  it('keeps results whose files cannot be written, and tells of it', async () => {
    const space = memoryFiles({ maxFileBytes: 5 });
    const { texts, events } = await results(['dump', 'dump'], { clearAt: 10, keep: 0, cutAt: 9, space });
    expect(texts).toEqual([LONG, LONG]);
    expect(events).toContain('offload-failed');
  });

  it('does nothing when told so, and within its budget', async () => {
    expect((await results(['dump', 'dump'], { cutAt: false, clearAt: false, keep: 0 })).texts).toEqual([LONG, LONG]);
    expect((await results(['dump', 'dump'], { keep: 0 })).texts).toEqual([LONG, LONG]);
  });

  it('speaks Chinese', async () => {
    expect((await results(['dump', 'dump'], { clearAt: 10, keep: 1, language: 'zh' })).texts[0]).toContain('已省略');
  });

  it.each([
    [{ cutAt: 0 }],
    [{ clearAt: true }],
    [{ keep: -1 }],
    [{ exempt: 'law' }],
    [{ exempt: [5] }],
    [{ space: {} }],
  ])('refuses %j', (options) => {
    expect(() => reduceToolResults(options as never)).toThrow(expect.objectContaining({ code: 'OPTION_INVALID' }));
  });
});
