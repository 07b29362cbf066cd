import type { Observable } from 'rxjs';
import { describe, it } from 'vitest';
import { loadCanvas } from '../../src/canvas/load-canvas.js';
import { runTurn, type Session, type Turn, type TurnOptions } from '../../src/canvas/turn.js';
import { answer } from '../../src/components/answer.js';
import { delta, interrupt, notice } from '../../src/graph/node-events.js';
import type { ChatDelta } from '../../src/models/chat-model.js';
import { chatServices } from '../../test/components/text-activation.js';
import { createNode, fakeActivation, perform } from '../support/activation.js';
import { marbles } from '../support/scheduler.js';
import { words } from './flow-run.js';

const REPLY = { reply: { turn: 'run/1', text: 'hello' }, 'sys.conversation_turns': 1 };
const PIECES: Record<string, ChatDelta> = { t: { type: 'text', text: 'hello' }, f: { type: 'finish', reason: 'stop' } };

const node = (type: string, params: object, downstream: string[]) => ({
  obj: { component_name: type, params },
  downstream,
  upstream: [],
});
const canvas = loadCanvas({
  components: {
    begin: node('Begin', {}, ['talk']),
    talk: node('Answer', {}, ['write']),
    write: node('Generate', { llm_id: 'm', prompt: 'Be kind.' }, ['talk']),
  },
  path: [],
  history: [],
  retrieval: [],
});

/** What happens to the nodes in one turn. The model is asked once and answers with `reply$`. */
function turn(query: string, reply$: Observable<ChatDelta>, options: TurnOptions = {}): Observable<string> {
  const { services } = chatServices({ chat: () => reply$ });
  const said: Turn = { query };
  return words(runTurn(canvas, said, { run: 'run', ...options, services }), 'begin', 'talk', 'write', 'run');
}

describe('Answer', () => {
  it('says what was written, then waits', () =>
    marbles(({ expectObservable }) => {
      const inputs = { query: { name: 'Your message', type: 'paragraph', value: null } };
      const values = {
        t: delta('content', 'hello'),
        e: notice('message-ended'),
        p: { type: 'progress', nodeState: 'hello' },
        w: interrupt({ kind: 'form', inputs, tips: '' }, { content: 'hello' }),
      };

      const said$ = perform(createNode(answer, {}, { downstream: ['x'] }), fakeActivation({ variables: REPLY }));

      expectObservable(said$).toBe('(tepw|)', values);
    }));

  it('makes one circle a turn', () => {
    let session: Session | undefined;
    const onSession = (next: Session) => {
      session = next;
    };
    const values = { b: 'begin', a: 'talk', w: 'write', q: 'talk?', r: 'run?' };
    marbles(({ cold, expectObservable }) => {
      expectObservable(turn('hi', cold('--t-(f|)', PIECES), { onSession })).toBe('(ba)(wqr|)', values);
    });
    marbles(({ cold, expectObservable }) => {
      const options = { onSession, session: session as Session };
      expectObservable(turn('and you?', cold('-t(f|)', PIECES), options)).toBe('a-(wqr|)', values);
    });
  });

  it('is not reached when the model fails', () =>
    marbles(({ cold, expectObservable }) => {
      const reply$ = cold<ChatDelta>('--t-#', PIECES, new Error('down'));
      const values = { b: 'begin', a: 'talk', f: 'write!', r: 'run!' };
      expectObservable(turn('hi', reply$)).toBe('(ba)(fr|)', values);
    }));

  it('stops with its run', () =>
    marbles(({ cold, expectObservable, expectSubscriptions }) => {
      const reply$ = cold('--t----t(f|)', PIECES);
      expectObservable(turn('hi', reply$), '^---!').toBe('(ba)', { b: 'begin', a: 'talk' });
      expectSubscriptions(reply$.subscriptions).toBe('^---!');
    }));

  it('waits at once in a turn that brings no text, and asks no model', () =>
    marbles(({ cold, expectObservable, expectSubscriptions }) => {
      const reply$ = cold('t(f|)', PIECES);
      expectObservable(turn('', reply$)).toBe('(bqr|)', { b: 'begin', q: 'talk?', r: 'run?' });
      expectSubscriptions(reply$.subscriptions).toBe([]);
    }));
});
