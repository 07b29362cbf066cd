import { createHash } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { drawTimeline } from '../../src/canvas/draw-timeline.js';
import { timelineOf } from '../../src/canvas/timeline.js';
import { timelinePage } from '../../src/canvas/timeline-page.js';
import { formatMs, formatTick, layOut, ticksOf } from '../../src/canvas/timeline-rows.js';
import type { NodeFailed, RunEvent } from '../../src/graph/events.js';
import type { Call } from '../../src/graph/node-events.js';
import { callEvent, callFinished, callStarted } from '../../src/graph/node-events.js';
import { NO_USAGE } from '../../src/graph/state.js';

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
  {
    type: 'run-failed',
    at: 1_000,
    error: { code: 'NODE_FAILED', message: '<b>"out"</b>' },
    elapsedMs: 1_000,
    input: {},
    usage: NO_USAGE,
  },
]);

describe('drawTimeline', () => {
  it('draws a line for each node, with what it said, how it ended and what it took', () => {
    expect(`\n${drawTimeline(timelineOf(EVENTS), { columns: 80 })}`).toMatchInlineSnapshot(`
      "
      failed after 1.00 s · 4 nodes · 3 tokens in, 4 out · 50 ms without a node at
      work · 1970-01-01T00:00:00.000Z · <b>"out"</b> [NODE_FAILED]

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
  it('escapes everything, runs nothing and asks nobody for anything', () => {
    const hostile = run([
      started('<script>alert(1)</script>', 0, 1, '"><b>/0'),
      called(1, 1, callStarted({ id: 'x', kind: 'tool', name: '<img src=x onerror=alert(1)>\u202e' })),
      called(2, 1, callFinished({ id: 'x', error: { code: 'TOOL_FAILED', message: `'onload='alert(1)` } })),
      {
        type: 'run-failed',
        at: 9,
        error: { code: 'INTERNAL', message: '"><img src=x onerror=alert(1)>' },
        elapsedMs: 9,
        input: {},
        usage: NO_USAGE,
      },
    ]);
    const page = timelinePage(timelineOf(hostile), '</title><script>');
    expect(page).not.toMatch(/@import|url\(|https?:|\u202e/i);
    const tags = page.replace(/"[^"]*"/g, '""').match(/<[a-z][^>]*>/g) ?? [];
    expect(tags.filter((tag) => /^<(?:script|img|link|iframe|object)|\sstyle=|\son\w+=/.test(tag))).toEqual([]);
    expect(page).toContain('&lt;script&gt;alert(1)&lt;/script&gt;');
    expect(page.match(/<a href="[^#]/g)).toBeNull();
  });

  it('allows its own style and nothing else', () => {
    const page = timelinePage(timelineOf(EVENTS), 'Run r');
    const [, style = ''] = /<style>([^<]*)<\/style>/.exec(page) ?? [];
    const hash = createHash('sha256').update(style).digest('base64');
    const policy = `default-src 'none'; style-src 'sha256-${hash}'; base-uri 'none'; form-action 'none'`;
    expect(page).toContain(`<meta http-equiv="Content-Security-Policy" content="${policy}">`);
  });

  it('shows every activation and every call as a bar on the time axis, each with its line of details', () => {
    const page = timelinePage(timelineOf(EVENTS), 'Run r');
    expect(page.match(/<a href="#b\d+"/g)).toHaveLength(5);
    expect(page.match(/<tr id="b\d+"/g)).toHaveLength(5);
    expect(page).toContain('<rect class="bar failed" x="82.000%" y="8" width="8%" height="10" rx="2"/>');
    expect(page).toContain(
      '<svg class="mark thinking" x="25.000%" y="20"><title>thinking: 1 piece, 2 characters, at 250 ms',
    );
    expect(page).toMatch(/<li><svg>.*failed<\/li>/);
    const withCalls = timelinePage(timelineOf(AGENT), 'Run r');
    expect(withCalls).toMatch(/<div class="row tool"><div class="name d2"/);
    expect(withCalls.match(/<a href="#b\d+"/g)).toHaveLength(6);
  });
});

const called = (at: number, token: number, { call }: Call): Draft => ({
  type: 'node-call',
  at,
  node: 'Agent:A',
  token,
  call,
});

/** An agent that asks a model, then two agents at once of which one uses a tool. */
const AGENT = run([
  started('Agent:A', 0, 1),
  called(0, 1, callStarted({ id: 'm', kind: 'model', name: 'large' })),
  called(20, 1, callEvent({ id: 'm', name: 'stream_started' })),
  called(30, 1, callFinished({ id: 'm', usage: { promptTokens: 1, completionTokens: 2, totalTokens: 3 } })),
  called(30, 1, callStarted({ id: 'a', kind: 'agent', name: 'Aide' })),
  called(40, 1, callStarted({ id: 'b', kind: 'agent', name: 'Aide' })),
  called(50, 1, callStarted({ id: 't', kind: 'tool', name: 'search', parent: 'b' })),
  called(60, 1, callFinished({ id: 't', error: { code: 'TOOL_FAILED', message: 'gone' } })),
  called(70, 1, callFinished({ id: 'a' })),
  called(80, 1, callStarted({ id: 'c', kind: 'agent', name: 'Aide' })),
  ended('Agent:A', 100, 1, 100),
  { type: 'run-settled', at: 100, outputs: {}, elapsedMs: 100, input: {}, usage: NO_USAGE },
]);

describe('the rows of a timeline', () => {
  it('are its nodes, and below them what they called; what is at the same time has lanes of its own', () => {
    expect(`\n${drawTimeline(timelineOf(AGENT), { columns: 72 })}`).toMatchInlineSnapshot(`
      "
      succeeded after 100 ms · 1 node · 1970-01-01T00:00:00.000Z

                      0                     50 ms           100 ms
      Agent:A         ^------------------------------------------| 100 ms
        model large   ^-------t----|                               30 ms 3 tok
        agent Aide                 ^----------------|    ^-------x 120 ms x3
                                       ^-------------------------x
          tool search                       ^---#                  10 ms gone

      ^ starts - works t text | settles # fails x stopped
      "
    `);
  });

  it('have the names of nodes first, and every call of a model', () => {
    const events = run([
      { type: 'run-started', at: 0, input: { query: 'Where\nto?' }, resumed: false },
      started('LLM:Odd', 40, 1),
      { ...called(40, 1, callStarted({ id: 'm', kind: 'model', name: 'large' })), node: 'LLM:Odd' } as Draft,
      {
        ...called(90, 1, callFinished({ id: 'm', usage: { promptTokens: 1, completionTokens: 2, totalTokens: 3 } })),
        node: 'LLM:Odd',
      } as Draft,
      ended('LLM:Odd', 90, 1, 50),
      { type: 'run-settled', at: 100, outputs: {}, elapsedMs: 100, input: {}, usage: NO_USAGE },
    ]);
    const timeline = timelineOf(events, () => ({ type: 'LLM', name: 'Travel guide' }));
    expect(timeline.query).toBe('Where\nto?');
    const drawn = drawTimeline(timeline, { columns: 90, agent: 'Trip planner' });
    expect(drawn).toMatch(/^succeeded after 100 ms · 1 node · 50 ms without a node at work · /);
    expect(drawn).toContain('\nTrip planner · "Where to?"\n');
    expect(drawn).toMatch(/\nTravel guide {2}LLM:Odd .* 50 ms\n {2}model large .* 50 ms 3 tok\n/);
    const page = timelinePage(timeline, 'Run r', 'Trip <planner>');
    expect(page).toContain('<p class="subject">Trip &lt;planner&gt; · “Where\nto?”</p>');
    expect(page).toContain('Travel guide<small>LLM:Odd · LLM</small>');
    expect(page).toContain('<b>50 ms</b> without a node at work');
    expect(layOut(timeline).rows.map(({ label, tokens }) => [label, tokens])).toEqual([
      ['Travel guide', 0],
      ['large', 3],
    ]);
  });

  it('are bounded in lanes, whatever happens at once', () => {
    const starts = Array.from({ length: 50 }, (_, at) => started('n', at, at + 1));
    const many = run([...starts, { type: 'run-cancelled', at: 100, elapsedMs: 100, input: {}, usage: NO_USAGE }]);
    const [row] = layOut(timelineOf(many)).rows;
    expect(row?.lanes.map((lane) => lane.length)).toEqual([1, 1, 1, 1, 1, 1, 1, 43]);
  });

  it('say of a run that is over what it stopped', () => {
    const cancelled = run([
      started('n', 0, 1),
      { type: 'run-cancelled', at: 10, elapsedMs: 10, input: {}, usage: NO_USAGE },
    ]);
    expect(layOut(timelineOf(cancelled)).rows).toMatchObject([
      { busyMs: 10, lanes: [[{ status: 'stopped', toMs: 10 }]] },
    ]);
  });
});

describe('the axis of time', () => {
  it.each([
    [1, 8, [0]],
    [95, 8, [0, 20, 40, 60, 80]],
    [1_000, 5, [0, 200, 400, 600, 800]],
    [61_000, 8, [0, 10_000, 20_000, 30_000, 40_000, 50_000, 60_000]],
    [100 * 3_600_000, 4, [0, 90_000_000, 180_000_000, 270_000_000]],
    [10, 0, [0]],
  ])('has round times within %d ms, %d at most', (spanMs, most, ticks) => {
    expect(ticksOf(spanMs, most)).toEqual(ticks);
  });

  it.each([
    [0.4, '0 ms'],
    [999.4, '999 ms'],
    [999.6, '1.00 s'],
    [59_996, '1 min 0 s'],
    [119_700, '2 min 0 s'],
    [3_599_600, '1 h 0 min'],
    [7_290_000, '2 h 2 min'],
  ])('writes %d ms as %s', (ms, text) => {
    expect(formatMs(ms)).toBe(text);
  });

  it.each([
    [0, '0'],
    [250, '250 ms'],
    [1_500, '1.5 s'],
    [90_000, '1 min 30 s'],
    [120_000, '2 min'],
    [7_200_000, '2 h'],
  ])('names %d ms %s', (ms, text) => {
    expect(formatTick(ms)).toBe(text);
  });
});
