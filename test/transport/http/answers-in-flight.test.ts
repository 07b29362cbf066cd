import { EventEmitter } from 'node:events';
import type { ServerResponse } from 'node:http';
import { connect } from 'node:net';
import { expect, it, onTestFinished, vi } from 'vitest';
import { createMemoryStores } from '../../../src/stores/memory-stores.js';
import { AnswersInFlight } from '../../../src/transport/http/answers-in-flight.js';
import { sessionRecord } from '../../stores/support/records.js';
import { ECHO } from '../support/documents.js';
import { startServer } from '../support/server.js';

const MIB = 1024 ** 2;

/** A response that can be closed. */
class FakeResponse extends EventEmitter {
  destroyed = false;
  close(): void {
    this.destroyed = true;
    this.emit('close');
  }
}

const asResponse = (fake: FakeResponse) => fake as unknown as ServerResponse;

/** Reserves for a tenant; says whether it was admitted. */
function ask(answers: AnswersInFlight, tenant: string, bytes: number) {
  const response = new FakeResponse();
  const asked = { response, isAdmitted: false, done: Promise.resolve() };
  asked.done = answers.reserve(asResponse(response), tenant, bytes).then(() => {
    asked.isAdmitted = !response.destroyed;
  });
  asked.done.catch(() => {});
  return asked;
}

it('admits what there is room for, and the others in order as room becomes free', async () => {
  const answers = new AnswersInFlight({ maxBytes: 10 * MIB, isShared: false });
  const [a, b, c, d] = [4, 4, 4, 2].map((size) => ask(answers, 't', size * MIB));
  await Promise.all([a?.done, b?.done, d?.done]);
  expect([a, b, c, d].map((one) => one?.isAdmitted)).toEqual([true, true, false, true]);
  expect(answers.bytes).toBe(10 * MIB);
  a?.response.close();
  await c?.done;
  expect(answers.bytes).toBe(10 * MIB);
  for (const one of [b, c, d]) one?.response.close();
  expect(answers.bytes).toBe(0);
  expect(answers.waiting).toBe(0);
});

it('gives a tenant half of it where others share the server, and each tenant its first answer', async () => {
  const answers = new AnswersInFlight({ maxBytes: 8 * MIB, isShared: true });
  const own = [ask(answers, 'a', 2 * MIB), ask(answers, 'a', 2 * MIB)];
  await Promise.all(own.map(({ done }) => done));
  const third = ask(answers, 'a', 2 * MIB);
  const other = ask(answers, 'b', 8 * MIB);
  await other.done;
  expect([third.isAdmitted, other.isAdmitted]).toEqual([false, true]);
  other.response.close();
  own[0]?.response.close();
  await third.done;
  expect(third.isAdmitted).toBe(true);
});

it('takes the size of an answer when it is known; small ones take no room', async () => {
  const answers = new AnswersInFlight({ maxBytes: 8 * MIB, isShared: false });
  const large = ask(answers, 't', 4 * MIB);
  await large.done;
  await answers.settle(asResponse(large.response), 't', 7 * MIB);
  expect(answers.bytes).toBe(7 * MIB);
  const waits = ask(answers, 't', 4 * MIB);
  await answers.settle(asResponse(large.response), 't', 1_000);
  await waits.done;
  expect(answers.bytes).toBe(4 * MIB);
  await answers.settle(asResponse(new FakeResponse()), 't', 60_000);
  expect(answers.bytes).toBe(4 * MIB);
  large.response.close();
  waits.response.close();
  expect(answers.bytes).toBe(0);
});

it('forgets a client that leaves while it waits, and refuses one that has waited too long', async () => {
  vi.useFakeTimers();
  onTestFinished(() => void vi.useRealTimers());
  const answers = new AnswersInFlight({ maxBytes: MIB, isShared: false, waitMs: 1_000 });
  const first = ask(answers, 't', MIB);
  const leaves = ask(answers, 't', MIB);
  const waits = ask(answers, 't', MIB);
  await first.done;
  leaves.response.close();
  await leaves.done;
  expect(answers.waiting).toBe(1);
  vi.advanceTimersByTime(1_000);
  await expect(waits.done).rejects.toMatchObject({
    code: 'LIMIT_REACHED',
    retryable: true,
    details: { httpStatus: 503 },
  });
  expect(answers.waiting).toBe(0);
  first.response.close();
  expect(answers.bytes).toBe(0);
});

it('refuses at once when too many wait', async () => {
  const answers = new AnswersInFlight({ maxBytes: MIB, isShared: false });
  const asked = Array.from({ length: 1_001 }, () => ask(answers, 't', MIB));
  await expect(ask(answers, 't', MIB).done).rejects.toMatchObject({ code: 'LIMIT_REACHED' });
  for (const { response } of asked) response.close();
  await Promise.all(asked.map(({ done }) => done));
  expect(answers.bytes).toBe(0);
});

it('holds no more answers of clients that read nothing than it may, while small ones pass', async () => {
  const stores = createMemoryStores();
  // However long a busy machine takes, clients that read nothing are not cut off.
  const env = { RUNNEL_ANSWERS_BYTES: String(40 * MIB), RUNNEL_SLOW_CLIENT_MS: '600000' };
  const { url, call, agent } = await startServer({ stores, env });
  // Writing such an answer holds the process up for seconds, in which the server may close a kept connection that is just used again.
  const once = { connection: 'close' };
  const id = await agent(ECHO, once);
  // More than the buffers of two sockets take.
  const message = { role: 'user', content: 'x'.repeat(36 * MIB), id: 'm', createdAt: 1 } as const;
  await stores.sessions.save('local', sessionRecord(id, { id: 'large', messages: [message] }));
  const find = vi.spyOn(stores.sessions, 'find');
  const path = `/api/v1/agents/${id}/sessions/large`;
  const small = () => call('GET', `/api/v1/agents/${id}/runs/none`, undefined, once);
  const { port, hostname } = new URL(url);
  const deaf = Array.from({ length: 5 }, () => {
    const socket = connect(Number(port), hostname);
    socket.pause();
    socket.on('error', () => {});
    socket.write(`GET ${path} HTTP/1.1\r\nhost: ${hostname}:${port}\r\n\r\n`);
    onTestFinished(() => void socket.destroy());
    return socket;
  });
  await vi.waitFor(() => expect(find).toHaveBeenCalled(), { timeout: 60_000 });
  // The first has been read, and the others wait without having been.
  for (let calls = 0; calls < 5; calls += 1) {
    expect((await small()).body.code).toBe(102);
  }
  expect(find.mock.calls.length).toBeLessThan(5);
  const { length: held } = find.mock.calls;
  expect((await small()).body.code).toBe(102);
  expect(find).toHaveBeenCalledTimes(held);
  for (const socket of deaf) socket.destroy();
  const { body } = await call('GET', path, undefined, once);
  expect(body).toMatchObject({ code: 0, data: { id: 'large' } });
});
