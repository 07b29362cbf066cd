import { setImmediate } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { RagflowProjection } from '../../src/canvas/ragflow-events.js';
import type { Checkpoint } from '../../src/graph/state.js';
import { storedFrame } from '../../src/hosting/event-frame.js';
import { LogWriter } from '../../src/hosting/log-writer.js';
import type { JournalBatch, RunJournal } from '../../src/records/durable-stores.js';
import type { LoggedEvent, RunLog } from '../../src/records/stores.js';

const projection = new RagflowProjection({ plan: undefined, messageId: 'm', sessionId: 's', startedAt: 0 });
const frame = (seq: number) => storedFrame({ seq, event: 'node-delta', json: '{}' }, projection);

/** A log whose writes end when the test says. */
function slowLog() {
  const groups: number[][] = [];
  const ends: { resolve: () => void; reject: (error: Error) => void }[] = [];
  const append = (_tenant: string, _run: string, events: readonly LoggedEvent[]) => {
    groups.push(events.map(({ seq }) => seq));
    return new Promise<void>((resolve, reject) => ends.push({ resolve, reject }));
  };
  return { groups, ends, log: { append } as unknown as RunLog };
}

function writerOn(log: RunLog) {
  const written: number[] = [];
  const failures: unknown[] = [];
  const writer = new LogWriter({
    log,
    tenant: 't',
    run: 'r',
    onWritten: (frames) => written.push(...frames.map(({ seq }) => seq)),
    onFailed: (error) => failures.push(error),
  });
  return { writer, written, failures };
}

/** Lets what is scheduled for after this turn happen. */
const turn = () => Promise.resolve();

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
  const append = (_tenant: string, _run: string, events: readonly LoggedEvent[]) => void groups.push(events.length);
  const { writer, written } = writerOn({ append } as unknown as RunLog);
  for (let seq = 1; seq <= 1_300; seq += 1) writer.write(frame(seq));
  expect(groups).toEqual([512, 512]);
  expect(written).toHaveLength(1_024);
});

it('hears of a log that throws', async () => {
  const append = () => {
    throw new Error('full');
  };
  const { writer, failures } = writerOn({ append } as unknown as RunLog);
  writer.write(frame(1));
  await turn();
  expect(failures).toEqual([new Error('full')]);
});

describe('with a journal', () => {
  /** A journal whose writes end when the test says, and what it was asked for. */
  function slowJournal() {
    const asked: unknown[] = [];
    const ends: { resolve: () => void; reject: (error: Error) => void }[] = [];
    const write = (what: unknown) => {
      asked.push(what);
      return new Promise<void>((resolve, reject) => ends.push({ resolve, reject }));
    };
    const journal = {
      append: (_tenant: string, _run: string, { events, records }: JournalBatch) =>
        write({ events: events.map(({ seq }) => seq), records }),
      snapshot: (_tenant: string, _run: string, { step }: { readonly step: number }) => write({ step }),
    } as unknown as RunJournal;
    const written: number[] = [];
    const failures: unknown[] = [];
    const writer = new LogWriter({
      log: {} as RunLog,
      journal,
      tenant: 't',
      run: 'r',
      onWritten: (frames) => written.push(...frames.map(({ seq }) => seq)),
      onFailed: (error) => failures.push(error),
    });
    const end = async (error?: Error) => {
      const first = ends.shift();
      if (error === undefined) first?.resolve();
      else first?.reject(error);
      await setImmediate();
    };
    return { asked, end, written, failures, writer };
  }
  const checkpoint = (step: number) => ({ step }) as unknown as Checkpoint;

  it('keeps a settlement and its events in one write, and shows the events when both are kept', async () => {
    const { writer, asked, end, written } = slowJournal();
    writer.write(frame(1));
    await setImmediate();
    // While that is being written a node finishes: its event, then its record.
    writer.write(frame(2));
    let isKept = false;
    writer.append(['a']);
    void writer.flush().then(() => {
      isKept = true;
    });
    writer.write(frame(3));
    await end();
    expect(asked).toEqual([
      { events: [1], records: [] },
      { events: [2, 3], records: ['a'] },
    ]);
    expect({ written, isKept }).toEqual({ written: [1], isKept: false });
    await end();
    expect({ written, isKept }).toEqual({ written: [1, 2, 3], isKept: true });
  });

  it('takes a snapshot when everything before it is kept, and nothing of what comes later', async () => {
    const { writer, asked, end } = slowJournal();
    writer.append(['a']);
    writer.snapshot(checkpoint(1));
    writer.append(['b']);
    const kept = writer.flush();
    await setImmediate();
    for (let left = 3; left > 0; left -= 1) await end();
    await kept;
    expect(asked).toEqual([{ events: [], records: ['a'] }, { step: 1 }, { events: [], records: ['b'] }]);
  });

  it('asks for nothing more when it is flushed and everything is written', async () => {
    const { writer, asked, end } = slowJournal();
    writer.append(['a']);
    await setImmediate();
    const kept = writer.flush();
    await end();
    await kept;
    await writer.flush();
    expect(asked).toEqual([{ events: [], records: ['a'] }]);
  });

  it('keeps nothing after a write that failed, and says so to everybody who waits', async () => {
    const { writer, asked, end, written, failures } = slowJournal();
    writer.write(frame(1));
    writer.append(['a']);
    const first = writer.flush();
    await setImmediate();
    writer.write(frame(2));
    writer.append(['b']);
    const second = writer.flush();
    const error = new Error('disk full');
    const outcomes = Promise.allSettled([first, second]);
    await end(error);
    await writer.flushed();
    writer.append(['c']);
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
    const { writer, end, written, failures } = slowJournal();
    writer.write(frame(1));
    writer.append(['a']);
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
