import { describe, expect, it } from 'vitest';
import type { RunPicture } from '../../../src/canvas/picture/picture.js';
import { PictureFold } from '../../../src/canvas/picture/picture-fold.js';
import type { RunEvent } from '../../../src/graph/events.js';
import { drawnBars, ticksIn, zoomed } from '../../../web/trace/draw-bars.js';
import type { TraceBar } from '../../../web/trace/trace-bars.js';
import { placeOf } from '../../../web/trace/trace-frames.js';
import { type TraceRow, traceRows } from '../../../web/trace/trace-rows.js';
import { RunScript } from '../support/run-script.js';

const pictureOf = (events: readonly RunEvent[]): RunPicture => {
  const fold = new PictureFold();
  for (const event of events) fold.add(event);
  return fold.picture;
};

/** Lines as `kind label`, moved to the right by their level. */
const drawn = (rows: readonly TraceRow[]): readonly string[] =>
  rows.map(({ kind, label, level, status }) => `${'  '.repeat(level - 1)}${kind} ${label} ${status}`);

/** A loop whose second pass fails in `check`. */
function failedLoop(): RunScript {
  const script = new RunScript();
  const loop = script.start('loop');
  for (const round of ['0', '1']) {
    const within = `loop/${round}`;
    script.settle(script.start('write', within), 100);
    const check = script.start('check', within);
    if (round === '0') script.settle(check, 50);
    else script.fail(check, 50);
  }
  script.fail(loop, 0);
  return script;
}

describe('traceRows', () => {
  it('puts the nodes of a body below the pass that they ran in', () => {
    const rows = traceRows(pictureOf(failedLoop().events), () => true);
    expect(drawn(rows)).toEqual([
      'node loop failed',
      '  pass 0 settled',
      '    node write settled',
      '    node check settled',
      '  pass 1 failed',
      '    node write settled',
      '    node check failed',
    ]);
  });

  it('shows each pass of a folded container as a bar, and which of them failed', () => {
    const [loop] = traceRows(pictureOf(failedLoop().events), () => false);
    expect(loop?.lanes.flat().map(({ label, status }) => [label, status])).toEqual([
      ['0', 'settled'],
      ['1', 'failed'],
    ]);
  });

  it('lays what ran at the same time into lanes', () => {
    const script = new RunScript();
    const each = script.start('each');
    const [one, two] = [script.start('ask', 'each/0'), script.start('ask', 'each/1')];
    script.settle(one, 30);
    script.settle(two, 30);
    script.settle(each, 0);
    const [row] = traceRows(pictureOf(script.events), () => false);
    expect(row?.lanes).toHaveLength(2);
  });

  it('lists the tries of a node that ran more than once', () => {
    const script = new RunScript();
    script.settle(script.start('ask'), 10);
    script.settle(script.start('ask'), 10);
    expect(drawn(traceRows(pictureOf(script.events), () => true))).toEqual([
      'node ask settled',
      '  try 1 settled',
      '  try 2 settled',
    ]);
  });

  it('draws what is at work up to the last moment', () => {
    const script = new RunScript();
    script.start('ask');
    script.settle(script.start('other'), 500);
    const [row] = traceRows(pictureOf(script.events), () => false);
    expect(row).toMatchObject({ status: 'open', label: 'ask' });
    expect(row?.busyMs).toBeGreaterThanOrEqual(500);
  });
});

describe('placeOf', () => {
  it('takes the last container and pass of a path', () => {
    expect(placeOf('outer/2/inner/0')).toEqual({ container: 'inner', round: '0', around: 'outer/2' });
    expect(placeOf('outer/2')).toEqual({ container: 'outer', round: '2', around: '' });
  });
});

describe('drawnBars', () => {
  const bar = (fromMs: number, toMs: number, status: TraceBar['status'] = 'settled'): TraceBar => {
    return { fromMs, toMs, status, seq: fromMs + 1, tokens: 0 };
  };
  const strip = { fromMs: 0, toMs: 1_000, width: 100 };

  it('draws bars that are too small to be told apart as one, which is failed when one of them is', () => {
    const lane = Array.from({ length: 500 }, (_, at) => bar(at, at + 1, at === 7 ? 'failed' : 'settled'));
    const drawnOnes = drawnBars(lane, strip);
    expect(drawnOnes.reduce((sum, { count }) => sum + count, 0)).toBe(500);
    expect(drawnOnes.length).toBeLessThan(100);
    expect(drawnOnes[0]).toMatchObject({ status: 'failed', x: 0 });
  });

  it('keeps long bars apart, and leaves out what lies beside the strip', () => {
    const lane = [bar(-50, -10), bar(0, 400), bar(400, 900), bar(2_000, 3_000)];
    expect(drawnBars(lane, strip).map(({ x, width, count }) => [x, width, count])).toEqual([
      [0, 40, 1],
      [40, 50, 1],
    ]);
  });
});

describe('time', () => {
  it('has round ticks in a window', () => {
    expect(ticksIn({ fromMs: 10_130, toMs: 10_330, width: 400 }, 10_000)).toEqual([150, 200, 250, 300]);
  });

  it('zooms around a moment, and out to the whole', () => {
    const whole = { fromMs: 0, toMs: 1_000 };
    expect(zoomed(whole, whole, 0.5, 400)).toEqual({ fromMs: 200, toMs: 700 });
    expect(zoomed({ fromMs: 200, toMs: 700 }, whole, 4, 400)).toBeUndefined();
    expect(zoomed({ fromMs: 200, toMs: 201 }, whole, 0.5, 200)).toEqual({ fromMs: 200, toMs: 201 });
  });
});
