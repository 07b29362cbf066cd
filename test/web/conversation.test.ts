/** The owner of a conversation, with a server that answers when it is told to. */
import { Subject } from 'rxjs';
import { describe, expect, it } from 'vitest';
import type { FeedNews } from '../../web/api/feed.js';
import { Conversation } from '../../web/run/conversation.js';
import type { ConversationServer } from '../../web/run/conversation-server.js';
import { RunStore } from '../../web/run/run-store.js';

/** A server that knows one run; `give` answers what it was asked first. */
function heldServer() {
  const feeds = new Map<string, Subject<FeedNews>>();
  const asked: { readonly give: (answer: unknown) => void; readonly refuse: (error: Error) => void }[] = [];
  const ask = () => new Promise<never>((give, refuse) => asked.push({ give: give as never, refuse }));
  const server: ConversationServer = {
    readRun: ask,
    readSession: ask,
    start: ask,
    store(run, nodes) {
      const news$ = new Subject<FeedNews>();
      feeds.set(run, news$);
      return new RunStore({ client: undefined as never, place: { agent: 'a', run, live: '', path: '' }, nodes, news$ });
    },
  };
  const next = () => asked.shift() as (typeof asked)[number];
  return { server, feeds, next };
}

const SESSION = {
  detail: { id: 's', name: '', update_time: 1, message: [], reference: [] },
  runs: [{ id: 'r', session_id: 's', message_id: 'm', parent_run_id: null, status: 'succeeded' }],
};

describe('a conversation that an address names by its run', () => {
  it('follows the run while it is found out where that belongs, and only once', async () => {
    const { server, feeds, next } = heldServer();
    const conversation = new Conversation(server);
    const shown = conversation.show({ run: 'r' });
    const news$ = feeds.get('r');
    expect(news$?.observed).toBe(true);
    next().give({ session_id: 's' });
    await Promise.resolve();
    next().give(SESSION);
    await shown;
    expect(feeds.get('r')).toBe(news$);
    expect(news$?.observed).toBe(true);
    expect(conversation.state.turns.map(({ store }) => store?.run)).toEqual(['r']);
    conversation.clear();
    expect(news$?.observed).toBe(false);
  });

  it('leaves the run when it cannot be found, and when something else is shown meanwhile', async () => {
    const { server, feeds, next } = heldServer();
    const conversation = new Conversation(server);
    const missing = conversation.show({ run: 'gone' });
    next().refuse(new Error('no such run'));
    await missing;
    expect(feeds.get('gone')?.observed).toBe(false);
    expect(conversation.state.error).toMatchObject({ message: 'no such run' });
    void conversation.show({ run: 'r' });
    void conversation.show({ run: 'other' });
    expect(feeds.get('r')?.observed).toBe(false);
    expect(feeds.get('other')?.observed).toBe(true);
    conversation.clear();
    expect(feeds.get('other')?.observed).toBe(false);
  });
});

describe('what is sent while a conversation is loaded', () => {
  /** Sends at once; `server` answers when it is told to. */
  function sending() {
    const { server, next } = heldServer();
    const sent: unknown[] = [];
    const start = async (input: unknown) => {
      sent.push(input);
      return 'r2';
    };
    const conversation = new Conversation({ ...server, start });
    const shown = conversation.show({ session: 's' });
    const run = conversation.send({ query: 'more' });
    return { conversation, sent, shown, run, next };
  }

  it('goes to that conversation once it is there, and is shown behind its turns', async () => {
    const { conversation, sent, shown, run, next } = sending();
    await new Promise(setImmediate);
    expect(sent).toEqual([]);
    expect(conversation.state.sending).toEqual({ query: 'more' });
    next().give(SESSION);
    await shown;
    expect(await run).toBe('r2');
    expect(sent).toEqual([{ query: 'more', session: 's' }]);
    expect(conversation.state.turns.map((turn) => turn.run)).toEqual(['r', 'r2']);
    conversation.clear();
  });

  it('is not sent where that cannot be loaded, or is left meanwhile', async () => {
    const { conversation, sent, shown, run, next } = sending();
    next().refuse(new Error('no such session'));
    await shown;
    expect(await run).toBeUndefined();
    expect(conversation.state).toMatchObject({ turns: [], error: { message: 'no such session' } });
    expect(conversation.state.sending).toBeUndefined();
    const left = sending();
    left.conversation.clear();
    left.next().give(SESSION);
    expect(await left.run).toBeUndefined();
    expect([...sent, ...left.sent]).toEqual([]);
  });
});
