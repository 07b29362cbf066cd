import { setImmediate } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import type { Checkpoint } from '../../src/graph/state.js';
import { projectionOf } from '../../src/hosting/canvases.js';
import { EventFramer } from '../../src/hosting/event-frame.js';
import { LogWriter, type LogWriterOptions } from '../../src/hosting/run-events.js';
import type { LogBatch } from '../../src/records/run-log.js';
import type { RunRecord } from '../../src/records/runs.js';

const framer = new EventFramer(projectionOf({ messageId: 'm', sessionId: 's', startedAt: 0 }, undefined));
const frame = (seq: number) =>
  framer.frame({ type: 'node-notice', run: 'r', seq, at: 0, node: 'n', token: 1, name: 'x', data: {} });

/** A log whose writes end when the test says. */
function slowLog() {
  const groups: number[][] = [];
  const ends: { resolve: () => void; reject: (error: Error) => void }[] = [];
  const commit = (batches: readonly LogBatch[]) => {
    groups.push(batches.flatMap(({ events }) => events.map(({ seq }) => seq)));
    return new Promise<void>((resolve, reject) => ends.push({ resolve, reject }));
  };
  return { groups, ends, log: commit };
}

function writerOn(commit: LogWriterOptions['commit'], maxUnstoredBytes = 1_000_000) {
  const written: number[] = [];
  const failures: unknown[] = [];
  const writer = new LogWriter({
    commit,
    maxUnstoredBytes,
    onWritten: (frames) => written.push(...frames.map(({ seq }) => seq)),
    onFailed: (error) => failures.push(error),
  });
  return { writer, written, failures };
}

/** Lets what is scheduled for after this turn happen. */
const turn = () => setImmediate();

it('writes what comes in one go as one group, and what comes during a write as the next', async () => {
  const { groups, ends, log } = slowLog();
  const { writer, written } = writerOn(log);
  writer.write(frame(1));
  writer.write(frame(2));
  expect(groups).toEqual([]);
  await turn();
  expect(groups).toEqual([[1, 2]]);
  writer.write(frame(3));
  writer.write(frame(4));
  await turn();
  expect(groups).toEqual([[1, 2]]);
  expect(written).toEqual([]);
  ends[0]?.resolve();
  await turn();
  await turn();
  expect(groups).toEqual([
    [1, 2],
    [3, 4],
  ]);
  expect(written).toEqual([1, 2]);
  const flushed = writer.flushed();
  ends[1]?.resolve();
  await flushed;
  expect(written).toEqual([1, 2, 3, 4]);
  writer.write(frame(5));
  await turn();
  expect(groups.at(-1)).toEqual([5]);
});

it('stops at the first failure and reports it once', async () => {
  const { groups, ends, log } = slowLog();
  const { writer, written, failures } = writerOn(log);
  writer.write(frame(1));
  await turn();
  writer.write(frame(2));
  ends[0]?.reject(new Error('disk full'));
  await writer.flushed();
  writer.write(frame(3));
  await writer.flushed();
  expect(groups).toEqual([[1]]);
  expect(written).toEqual([]);
  expect(failures).toEqual([new Error('disk full')]);
});

it('writes at once when it is flushed', async () => {
  const { groups, ends, log } = slowLog();
  const { writer, written } = writerOn(log);
  writer.write(frame(1));
  const flushed = writer.flushed();
  expect(groups).toEqual([[1]]);
  ends[0]?.resolve();
  await flushed;
  expect(written).toEqual([1]);
});

it('waits for no turn when the run never pauses, and for no promise when the log is done at once', () => {
  const groups: number[] = [];
  const { writer, written } = writerOn((batches) => void groups.push(...batches.map(({ events }) => events.length)));
  for (let seq = 1; seq <= 1_300; seq += 1) writer.write(frame(seq));
  expect(groups).toEqual([512, 512]);
  expect(written).toHaveLength(1_024);
});

it('hears of a log that throws', async () => {
  const { writer, failures } = writerOn(() => {
    throw new Error('full');
  });
  writer.write(frame(1));
  await turn();
  expect(failures).toEqual([new Error('full')]);
});

describe('the start and the end of a run', () => {
  const begin = { record: { after: { id: 'r' } as RunRecord } };
  const end = { isLast: true };

  it('are stored with the first events, and in one step with what waits and the last event', async () => {
    const commits: unknown[] = [];
    const { writer, written } = writerOn(async (batches, extras) => {
      commits.push([batches.flatMap(({ events }) => events.map(({ seq }) => seq)), extras]);
    });
    const begun = writer.begin(begin);
    writer.write(frame(1));
    await begun;
    writer.write(frame(2));
    await writer.end(frame(3), end);
    expect(commits).toEqual([
      [[1], begin],
      [[2, 3], end],
    ]);
    expect(written).toEqual([1, 2]);
    await writer.flushed();
    expect(commits).toHaveLength(2);
  });

  it('leave what waits to be written by itself when the end is refused', async () => {
    const groups: number[][] = [];
    const { writer, written } = writerOn(async (batches, { isLast }) => {
      if (isLast) throw new Error('too large');
      groups.push(batches.flatMap(({ events }) => events.map(({ seq }) => seq)));
    });
    writer.write(frame(1));
    await expect(writer.end(frame(2), end)).rejects.toThrow('too large');
    await writer.flushed();
    expect({ groups, written }).toEqual({ groups: [[1]], written: [1] });
  });
});

describe('with snapshots', () => {
  /** A log whose writes end when the test decides, and what was requested of it. */
  function recordedLog() {
    const asked: unknown[] = [];
    const ends: { resolve: () => void; reject: (error: Error) => void }[] = [];
    const commit = (batches: readonly LogBatch[]) => {
      asked.push(...batches.map(({ events, snapshot }) => [events.map(({ seq }) => seq), snapshot?.seq]));
      return new Promise<void>((resolve, reject) => ends.push({ resolve, reject }));
    };
    const end = async (error?: Error) => {
      const first = ends.shift();
      if (error === undefined) first?.resolve();
      else first?.reject(error);
      await setImmediate();
    };
    return { asked, end, ...writerOn(commit) };
  }
  const checkpoint = (seq: number) => ({ seq }) as unknown as Checkpoint;

  it('resolves a flush when the events before it are stored, and shows them then', async () => {
    const { writer, asked, end, written } = recordedLog();
    writer.write(frame(1));
    await setImmediate();
    writer.write(frame(2));
    let isStored = false;
    void writer.flush().then(() => {
      isStored = true;
    });
    writer.write(frame(3));
    await end();
    expect(asked).toEqual([
      [[1], undefined],
      [[2, 3], undefined],
    ]);
    expect({ written, isStored }).toEqual({ written: [1], isStored: false });
    await end();
    expect({ written, isStored }).toEqual({ written: [1, 2, 3], isStored: true });
  });

  it('stores a snapshot with the events before it, and nothing of what comes later', async () => {
    const { writer, asked, end } = recordedLog();
    writer.snapshot(checkpoint(0));
    writer.write(frame(1));
    writer.snapshot(checkpoint(1));
    writer.write(frame(2));
    const stored = writer.flush();
    await setImmediate();
    for (let left = 3; left > 0; left -= 1) await end();
    await stored;
    expect(asked).toEqual([
      [[], 0],
      [[1], 1],
      [[2], undefined],
    ]);
  });

  it('asks for nothing more when it is flushed and everything is written', async () => {
    const { writer, asked, end } = recordedLog();
    writer.write(frame(1));
    await setImmediate();
    const kept = writer.flush();
    await end();
    await kept;
    await writer.flush();
    expect(asked).toEqual([[[1], undefined]]);
  });

  it('keeps nothing after a write that failed, and says so to everybody who waits', async () => {
    const { writer, asked, end, written, failures } = recordedLog();
    writer.write(frame(1));
    const first = writer.flush();
    await setImmediate();
    writer.write(frame(2));
    const second = writer.flush();
    const error = new Error('disk full');
    const outcomes = Promise.allSettled([first, second]);
    await end(error);
    await writer.flushed();
    writer.write(frame(3));
    const third = writer.flush();
    expect(await outcomes).toEqual([
      { status: 'rejected', reason: error },
      { status: 'rejected', reason: error },
    ]);
    await expect(third).rejects.toBe(error);
    expect(asked).toHaveLength(1);
    expect({ written, failures }).toEqual({ written: [], failures: [error] });
  });

  it('shows nothing that is kept after it was told to stop', async () => {
    const { writer, end, written, failures } = recordedLog();
    writer.write(frame(1));
    const kept = writer.flush();
    await setImmediate();
    const reason = new Error('somebody else goes on');
    writer.stop(reason);
    const outcome = expect(kept).rejects.toBe(reason);
    await end();
    await outcome;
    expect({ written, failures }).toEqual({ written: [], failures: [] });
  });
});

describe('a run that makes more than may wait to be stored', () => {
  const { bytes } = frame(1);

  it('is to wait until half of that is stored', async () => {
    const { ends, log } = slowLog();
    const { writer } = writerOn(log, 2 * bytes);
    writer.write(frame(1));
    writer.write(frame(2));
    expect(writer.ready()).toBeUndefined();
    await turn();
    writer.write(frame(3));
    const relieved = writer.ready();
    expect(relieved).toBeInstanceOf(Promise);
    expect(writer.ready()).toBe(relieved);
    ends[0]?.resolve();
    await relieved;
    expect(writer.ready()).toBeUndefined();
  });

  it('is not to wait for a log that has failed', async () => {
    const { ends, log } = slowLog();
    const { writer, failures } = writerOn(log, bytes);
    writer.write(frame(1));
    writer.write(frame(2));
    const relieved = writer.ready();
    await turn();
    ends[0]?.reject(new Error('no log'));
    await relieved;
    expect(writer.ready()).toBeUndefined();
    expect(failures).toHaveLength(1);
  });
});
