/** The conversations that are killed at every step. Their models know nothing but the messages, since processes come and go. */
import { concat, defer, delay, EMPTY, NEVER, Observable, of, Subject, tap } from 'rxjs';
import { z } from 'zod';
import {
  type AnyAgent,
  agent,
  agentTool,
  backgroundWork,
  type CancelRequest,
  type LiveStop,
  parallelAgents,
  supervisor,
  type UserInput,
} from '../../../../src/entries/agents.js';
import { type ChatDelta, type ChatModel, type ChatRequest, defineTool } from '../../../../src/index.js';

/** The world outside of the process. */
export interface Client {
  /** Something was done that cannot be undone. */
  did(name: string, key: string): void;
  /** A model was asked. */
  asked(): void;
  say(input: UserInput): void;
}

/** A conversation. */
export interface Program {
  readonly agent: AnyAgent;
  readonly question: string;
  readonly answerTo: (question: unknown) => unknown;
  readonly cancel$: Observable<CancelRequest>;
  /** Its question opens a long conversation, which this ends. @default it is one turn, and those that inputs open */
  readonly stop$?: Observable<LiveStop>;
}

type Said = ChatRequest['messages'];
type Answer = string | Observable<ChatDelta> | readonly (readonly [id: string, tool: string, args?: object])[];

function model(client: Client, answerTo: (messages: Said) => Answer): ChatModel {
  return {
    chat: ({ messages }) =>
      defer(() => {
        client.asked();
        return piecesOf(answerTo(messages));
      }),
  };
}

function piecesOf(answer: Answer): Observable<ChatDelta> {
  if (answer instanceof Observable) return answer;
  if (typeof answer === 'string') {
    return of<ChatDelta[]>({ type: 'text', text: answer }, { type: 'finish', reason: 'stop' });
  }
  const calls = answer.map(
    ([id, name, args = {}], index): ChatDelta => ({
      type: 'tool-call',
      index,
      id,
      name,
      arguments: JSON.stringify(args),
    }),
  );
  return of<ChatDelta[]>(...calls, { type: 'finish', reason: 'tool_calls' });
}

const hasResult = (messages: Said, id: string): boolean =>
  messages.some((message) => message.role === 'tool' && message.toolCallId === id);
const hasHeard = (messages: Said, text: string): boolean =>
  messages.some(({ role, content }) => role === 'user' && String(content).includes(text));

function effect({ did }: Client, name: string) {
  return defineTool({
    name,
    description: `Does "${name}".`,
    run: (_, { key }) => {
      did(name, key);
      return `${name}: done`;
    },
  });
}

const answered = { answerTo: () => true, cancel$: EMPTY } as const;

export const PROGRAMS = {
  /** Two questions at once, answered one by one, with something done before, between and behind. */
  interrupt(client: Client): Program {
    const book = defineTool({
      name: 'book',
      description: 'Books one thing.',
      input: z.object({ what: z.string() }),
      run: ({ what }, call) => {
        if (call.answer === undefined) return call.interrupt({ what });
        client.did(`book-${what}`, call.key);
        return `${what}: ${call.answer}`;
      },
    });
    const guide = agent({
      name: 'guide',
      tools: [effect(client, 'reserve'), book, effect(client, 'pay')],
      model: model(client, (messages) => {
        if (!hasResult(messages, 'r')) return [['r', 'reserve']];
        if (!hasResult(messages, 'h')) {
          return [
            ['h', 'book', { what: 'hotel' }],
            ['f', 'book', { what: 'flight' }],
          ];
        }
        return hasResult(messages, 'p') ? 'Booked.' : [['p', 'pay']];
      }),
    });
    const answerTo = (question: unknown) => `yes, the ${(question as { what: string }).what}`;
    return { ...answered, agent: guide, question: 'A trip to Oslo.', answerTo };
  },

  /** A supervisor whose members do things, one of them through an agent of its own. */
  team(client: Client): Program {
    const library = agent({
      name: 'library',
      description: 'Knows books.',
      tools: [effect(client, 'fetch')],
      model: model(client, (messages) => (hasResult(messages, 'f') ? 'Seven.' : [['f', 'fetch']])),
    });
    const finder = agent({
      name: 'finder',
      description: 'Finds facts.',
      tools: [agentTool(library), effect(client, 'note')],
      model: model(client, (messages) => {
        if (!hasResult(messages, 'l')) {
          return [
            ['l', 'library', { request: 'How many?' }],
            ['n', 'note'],
          ];
        }
        return 'It has seven bridges.';
      }),
    });
    const writer = agent({
      name: 'writer',
      description: 'Writes.',
      tools: [effect(client, 'publish')],
      model: model(client, (messages) => (hasResult(messages, 'w') ? 'Published.' : [['w', 'publish']])),
    });
    const looking = ['left', 'right'].map((side) =>
      agent({
        name: side,
        tools: [effect(client, `look-${side}`)],
        model: model(client, (messages) => (hasResult(messages, side) ? 'Nothing there.' : [[side, `look-${side}`]])),
      }),
    );
    const both = parallelAgents({ name: 'both', agents: looking });
    const lead = agent({
      name: 'lead',
      model: model(client, (messages) => {
        if (!hasHeard(messages, 'It has seven bridges.')) return [['t1', 'transfer_to_finder']];
        if (!hasHeard(messages, 'Nothing there.')) return [['t2', 'transfer_to_both']];
        return hasHeard(messages, 'Published.') ? 'Here it is.' : [['t3', 'transfer_to_writer']];
      }),
    });
    const team = supervisor({ name: 'team', lead, agents: [finder, both, writer] });
    return { ...answered, agent: team, question: 'A line.' };
  },

  /** Inputs of every kind, and a stop at a safe point. */
  steer(client: Client): Program {
    const cancel$ = new Subject<CancelRequest>();
    const read = defineTool({
      name: 'read',
      description: 'Reads.',
      run: (_, { key }) => {
        client.did('read', key);
        client.say({ id: 'i1', content: 'one: shorter' });
        cancel$.next({ mode: 'after-tools' });
        return 'A book.';
      },
    });
    const pay = defineTool({
      name: 'pay',
      description: 'Pays.',
      run: (_, { key }) => {
        client.did('pay', key);
        client.say({ id: 'i3', content: 'three: later', when: 'next-turn' });
        client.say({ id: 'i4', content: 'four: other', when: 'preempt' });
        return 'Paid.';
      },
    });
    const half = concat(
      of<ChatDelta>({ type: 'text', text: 'Well, ' }),
      defer(() => {
        client.say({ id: 'i2', content: 'two: stop', when: 'now' });
        return NEVER;
      }),
    );
    const guide = agent({
      name: 'guide',
      tools: [read, pay],
      model: model(client, (messages) => {
        if (!hasResult(messages, 'r')) return [['r', 'read']];
        if (!hasHeard(messages, 'two: stop')) return half;
        return hasResult(messages, 'p') ? 'Done.' : [['p', 'pay']];
      }),
    });
    return { ...answered, agent: guide, question: 'Summarise.', cancel$ };
  },

  /** A long conversation whose agent holds a call for a while, rests while that goes on in the background, and is told something meanwhile. */
  background(client: Client): Program {
    const stop$ = new Subject<LiveStop>();
    const dig = defineTool({
      name: 'dig',
      description: 'Digs.',
      run: (_, { key }) => {
        client.did('dig', key);
        stop$.next({ mode: 'when-idle' });
        return of('gold').pipe(
          delay(4),
          tap(() => client.say({ id: 'i1', content: 'one: pay' })),
          delay(4),
        );
      },
    });
    const guide = agent({
      name: 'guide',
      tools: [dig, effect(client, 'pay')],
      use: [backgroundWork({ tools: ['dig'], afterMs: 2 })],
      model: model(client, (messages) => {
        if (!hasResult(messages, 'd')) return [['d', 'dig']];
        if (hasHeard(messages, 'one: pay') && !hasResult(messages, 'p')) return [['p', 'pay']];
        return 'I will tell you.';
      }),
    });
    return { ...answered, agent: guide, question: 'Find some.', stop$ };
  },
} as const;
