import { expect, it } from 'vitest';
import type { LoggedEvent, RunLog } from '../../src/graph/service-ports.js';
import { EventFramer } from '../../src/transport/runs/event-framer.js';
import { LogWriter } from '../../src/transport/runs/log-writer.js';

const frame = (seq: number) =>
  new EventFramer().frame(seq, {
    event: 'message',
    message_id: 'm',
    created_at: 0,
    task_id: 's',
    session_id: 's',
    data: {},
  });

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
