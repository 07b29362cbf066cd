import { expect, it } from 'vitest';
import type { LoggedEvent, RunLog } from '../../src/graph/service-ports.js';
import { EventFramer } from '../../src/transport/runs/event-frame.js';
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
    onWritten: ({ seq }) => written.push(seq),
    onFailed: (error) => failures.push(error),
  });
  return { writer, written, failures };
}

it('writes what comes during a write as one group, and shows nothing before it is kept', async () => {
  const { groups, ends, log } = slowLog();
  const { writer, written } = writerOn(log);
  for (const seq of [1, 2, 3, 4]) writer.write(frame(seq));
  expect(groups).toEqual([[1]]);
  expect(written).toEqual([]);
  ends[0]?.resolve();
  await Promise.resolve();
  await Promise.resolve();
  expect(groups).toEqual([[1], [2, 3, 4]]);
  expect(written).toEqual([1]);
  const flushed = writer.flushed();
  ends[1]?.resolve();
  await flushed;
  expect(written).toEqual([1, 2, 3, 4]);
  writer.write(frame(5));
  expect(groups.at(-1)).toEqual([5]);
});

it('stops at the first failure and reports it once', async () => {
  const { groups, ends, log } = slowLog();
  const { writer, written, failures } = writerOn(log);
  writer.write(frame(1));
  writer.write(frame(2));
  ends[0]?.reject(new Error('disk full'));
  await writer.flushed();
  writer.write(frame(3));
  expect(groups).toEqual([[1]]);
  expect(written).toEqual([]);
  expect(failures).toEqual([new Error('disk full')]);
});

it('costs no promise with a log that is done at once', () => {
  const { writer, written } = writerOn({ append: () => {} } as unknown as RunLog);
  writer.write(frame(1));
  writer.write(frame(2));
  expect(written).toEqual([1, 2]);
});
