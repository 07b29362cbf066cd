import { describe, expect, it } from 'vitest';
import { drawTimeline } from '../../src/canvas/draw-timeline.js';
import { timelineOf } from '../../src/canvas/run-timeline.js';
import { timelinePage } from '../../src/canvas/timeline-page.js';
import type { NodeFailed, RunEvent } from '../../src/graph/events.js';

type Draft = RunEvent extends infer E ? (E extends RunEvent ? Omit<E, 'run' | 'seq'> : never) : never;

const run = (events: readonly Draft[]): RunEvent[] =>
  events.map((event, at) => ({ run: 'r', seq: at + 1, ...event }) as RunEvent);

const started = (node: string, at: number, token: number, within?: string): Draft => ({
  type: 'node-started',
  at,
  node,
  token,
  attempt: 1,
  ...(within === undefined ? {} : { within }),
});
const ended = (node: string, at: number, token: number, elapsedMs: number): Draft => ({
  type: 'node-settled',
  at,
  node,
  token,
  outputs: {},
  elapsedMs,
});
const then: NodeFailed['then'] = 'run';

const EVENTS = run([
  { type: 'run-started', at: 0, input: {}, resumed: false },
  started('begin', 0, 1),
  ended('begin', 0, 1, 0),
  started('LLM:A', 0, 2),
  { type: 'node-delta', at: 250, node: 'LLM:A', token: 2, port: 'thinking', text: 'hm' },
  { type: 'node-delta', at: 500, node: 'LLM:A', token: 2, port: 'content', text: 'yes' },
  { type: 'node-usage', at: 740, node: 'LLM:A', token: 2, promptTokens: 3, completionTokens: 4, totalTokens: 7 },
  ended('LLM:A', 750, 2, 750),
  started('Loop:L', 750, 3),
  started('Work:W', 760, 4, 'Loop:L/0'),
  ended('Work:W', 800, 4, 40),
  started('Work:W', 820, 5, 'Loop:L/1'),
  {
    type: 'node-failed',
    at: 900,
    node: 'Work:W',
    token: 5,
    outputs: {},
    elapsedMs: 80,
    error: { code: 'NODE_FAILED', message: 'out of\norder\u001b[2J\u202e' },
    then,
  },
  {
    type: 'node-failed',
    at: 950,
    node: 'Loop:L',
    token: 3,
    outputs: {},
    elapsedMs: 200,
    error: { code: 'NODE_FAILED', message: 'out' },
    then,
  },
  { type: 'run-failed', at: 1_000, error: { code: 'NODE_FAILED', message: '<b>"out"</b>' }, elapsedMs: 1_000 },
]);

describe('drawTimeline', () => {
  it('draws a line for each node, with what it said, how it ended and what it took', () => {
    expect(`\n${drawTimeline(timelineOf(EVENTS), { columns: 80 })}`).toMatchInlineSnapshot(`
      "
      failed after 1.00 s · 4 nodes · 3 tokens in, 4 out · 1970-01-01T00:00:00.000Z ·
      <b>"out"</b> [NODE_FAILED]

               0                        500 ms             1.00 s
      begin    |                                                  0 ms
      LLM:A    ^-----------k------------t-----------|             750 ms 7 tok
      Loop:L                                        ^---------#   200 ms out
        Work:W                                       ^-|^---#     120 ms x2 out of or…

      ^ starts - works t text k thinking | settles # fails
      "
    `);
  });

  it.each([40, 60, 100, 200])('fits into %d columns', (columns) => {
    for (const line of drawTimeline(timelineOf(EVENTS), { columns }).split('\n')) {
      expect(line.length).toBeLessThanOrEqual(columns);
    }
  });

  it('lets no name and no message steer the terminal', () => {
    expect(drawTimeline(timelineOf(EVENTS))).not.toMatch(/[^\P{Cc}\n]|\p{Cf}/u);
  });

  it('colours marks, and nothing else, on a terminal', () => {
    const coloured = drawTimeline(timelineOf(EVENTS), { hasColours: true });
    expect(coloured).toContain('\u001b[31;1m#\u001b[0m');
    // biome-ignore lint/suspicious/noControlCharactersInRegex: colours are taken out
    expect(coloured.replace(/\u001b\[[\d;]*m/g, '')).toBe(drawTimeline(timelineOf(EVENTS)));
  });

  it('draws a run that has only begun', () => {
    expect(drawTimeline(timelineOf(EVENTS.slice(0, 4)))).toContain('running');
    expect(drawTimeline(timelineOf([]))).toContain('running · 0 nodes');
  });

  it('draws so many nodes and counts the rest', () => {
    const events = run(Array.from({ length: 1_200 }, (_, at) => started(`n${at}`, at, at + 1)));
    expect(drawTimeline(timelineOf(events))).toContain('… and 200 more nodes');
  });
});

describe('timelinePage', () => {
  it('escapes everything and asks nobody for anything', () => {
    const hostile = run([
      started('<script>alert(1)</script>', 0, 1),
      {
        type: 'run-failed',
        at: 9,
        error: { code: 'INTERNAL', message: '"><img src=x onerror=alert(1)>' },
        elapsedMs: 9,
      },
    ]);
    const page = timelinePage(timelineOf(hostile), '</title><script>');
    expect(page).not.toMatch(/<script|<img|<link|@import|url\(|https?:|src=(?!x)/i);
    expect(page).toContain('&lt;script&gt;alert(1)&lt;/script&gt;');
    expect(page).toContain(`default-src 'none'`);
  });

  it('shows every activation as a bar on the time axis', () => {
    const page = timelinePage(timelineOf(EVENTS), 'Run r');
    expect(page.match(/class="bar /g)).toHaveLength(5);
    expect(page).toContain('class="bar failed" style="left:82.000%;width:8.000%"');
    expect(page).toContain('class="dot" style="left:25.000%" title="thinking: 1 pieces, 2 characters"');
  });
});
