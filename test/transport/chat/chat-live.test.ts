import { describe, expect, it } from 'vitest';
import { connect, connectTo, refused } from '../support/live-client.js';
import { FREE, startChatServer } from './chat-server.js';

const KEYS = { RUNNEL_API_KEYS: 'ann=secret-key-of-ann,bob=secret-key-of-bob' };
const ANN = { authorization: 'Bearer secret-key-of-ann' };
const BOB = { authorization: 'Bearer secret-key-of-bob' };
const PATH = '/api/v1/chat/live';

const isToken = ({ event }: { event?: { type: string } }): boolean => event?.type === 'token';

describe('chats over a WebSocket', () => {
  it('asks, tells events with their numbers, and says how it ended', async () => {
    const { url, model } = await startChatServer();
    const client = await connectTo(url, PATH);
    expect(await client.next()).toMatchObject({ type: 'ready', heartbeat_s: expect.any(Number) });
    client.send({ type: 'ask', req: 1, ...FREE });
    const accepted = await client.next();
    expect(accepted).toMatchObject({ type: 'accepted', req: 1, run_id: expect.any(String) });
    const call = await model.next();
    call.say('yes');
    call.finish();
    const frames = await client.done();
    const events = frames.filter(({ type }) => type === 'event');
    expect(events[0].event).toEqual({
      type: 'session',
      session_id: accepted.session_id,
      run_id: accepted.run_id,
      trace_id: accepted.run_id,
    });
    expect(events.at(-1).event).toMatchObject({ type: 'final', response: 'yes' });
    expect(frames.at(-1)).toMatchObject({ type: 'done', run_id: accepted.run_id, status: 'succeeded' });
    const seqs = events.map(({ seq }) => seq);
    expect(seqs).toEqual(seqs.toSorted((a, b) => a - b));
  });

  it('tells every event as it is stored, to a client that asks for the view of the engine', async () => {
    const { url, model } = await startChatServer();
    const client = await connectTo(url, PATH);
    await client.next();
    client.send({ type: 'ask', ...FREE, detach: true });
    const { run_id } = await client.next();
    const call = await model.next();
    call.say('yes');
    call.finish();
    await client.done();
    client.send({ type: 'attach', run_id, view: 'engine' });
    const frames = (await client.done()).filter(({ type }) => type === 'event');
    expect(frames.map(({ seq }) => seq)).toEqual(frames.map((_, at) => at + 1));
    expect(frames[0].event).toMatchObject({ type: 'run-started', seq: 1 });
    expect(frames.at(-1).event).toMatchObject({ type: 'run-settled' });
  });

  it('leaves a chat and comes back to it, on this connection and on another one', async () => {
    const { url, model } = await startChatServer();
    const [first, second] = [await connectTo(url, PATH), await connectTo(url, PATH)];
    await first.next();
    await second.next();
    first.send({ type: 'ask', ...FREE, detach: true });
    const { run_id } = await first.next();
    const call = await model.next();
    call.say('one ');
    const seen = await first.until(isToken);
    first.send({ type: 'detach', req: 'd', run_id });
    const detached = await first.next();
    expect(detached).toMatchObject({ type: 'detached', req: 'd', run_id, seq: seen.at(-1).seq });
    first.send({ type: 'detach', req: 'd2', run_id });
    expect(await first.next()).toMatchObject({ type: 'error', req: 'd2', code: 102 });
    second.send({ type: 'attach', run_id });
    expect(await second.next()).toMatchObject({ type: 'attached', from_seq: 1 });
    expect((await second.until(isToken)).at(-1)).toEqual(seen.at(-1));
    first.send({ type: 'attach', run_id, last_event_id: detached.seq });
    await first.next();
    call.say('two');
    call.finish();
    const [rest, others] = [await first.done(), await second.done()];
    expect(rest).toEqual(others);
    expect(rest.at(-2).event).toMatchObject({ type: 'final', response: 'one two' });
  });

  it('stops a chat', async () => {
    const { url, model } = await startChatServer();
    const client = await connectTo(url, PATH);
    await client.next();
    client.send({ type: 'ask', ...FREE });
    const { run_id } = await client.next();
    const call = await model.next();
    call.say('one ');
    await client.until(isToken);
    client.send({ type: 'cancel', run_id });
    await call.closed;
    const frames = await client.done(run_id);
    expect(frames.at(-2).event).toMatchObject({ type: 'error', code: 'RUN_CANCELLED' });
    expect(frames.at(-1)).toMatchObject({ status: 'cancelled' });
  });

  it('refuses what is no question, frames of agents, and on connections of agents those of chats', async () => {
    const { url, agent } = await startChatServer();
    const client = await connectTo(url, PATH);
    await client.next();
    client.send({ type: 'ask', req: 1 });
    expect(await client.next()).toMatchObject({ type: 'error', req: 1, code: 101 });
    client.send({ type: 'run', req: 2, query: 'x' });
    expect(await client.next()).toMatchObject({ req: 2, code: 101, message: expect.stringContaining('ask') });
    client.send({ type: 'attach', req: 3, run_id: 'none' });
    expect(await client.next()).toMatchObject({ req: 3, code: 102 });
    const id = await agent({
      components: { begin: { obj: { component_name: 'Begin', params: {} }, downstream: [], upstream: [] } },
    });
    const other = await connect(url, id);
    await other.next();
    other.send({ type: 'ask', req: 4, ...FREE });
    const refusal = await other.next();
    expect(refusal).toMatchObject({ req: 4, code: 101 });
    expect(refusal.message).toMatch(/must be one of auth, run, .*; received "ask"/);
  });

  it('shows nothing of a chat to another tenant, and no chat as an agent', async () => {
    const { url, model, stores } = await startChatServer({ env: KEYS });
    const [ann, bob] = [await connectTo(url, PATH, { headers: ANN }), await connectTo(url, PATH, { headers: BOB })];
    await ann.next();
    await bob.next();
    ann.send({ type: 'ask', ...FREE });
    const { run_id, session_id } = await ann.next();
    const call = await model.next();
    call.say('yes');
    call.finish();
    await ann.done();
    for (const frame of [
      { type: 'attach', run_id },
      { type: 'cancel', run_id },
      { type: 'cancel', session_id },
      { type: 'ask', ...FREE, session_id },
    ]) {
      bob.send(frame);
      expect(await bob.next()).toMatchObject({ type: 'error', code: 102 });
    }
    const { agentId = '' } = (await stores.sessions.find('ann', session_id)) ?? {};
    expect(await refused(url, `/api/v1/agents/${agentId}/live`, { headers: ANN })).toMatchObject({ status: 404 });
    expect(await refused(url, `${PATH}?token=x`, { headers: ANN })).toMatchObject({ status: 401 });
  });
});
