/**
 * Three conversations that may lose their process at any step, each with a person who goes on with what is there: `interrupt` asks before it sends,
 * `team` hands work over, `steer` is told something while it works. Effects, calls of models and questions are written to a ledger.
 */
import { appendFileSync, existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { concat, defer, EMPTY, lastValueFrom, NEVER, of, tap } from 'rxjs';
import {
  type AnyAgent,
  agent,
  approve,
  createRunner,
  fileSessions,
  fileTurnLogs,
  parallelAgents,
  type RunnerEvent,
  type SessionStore,
  supervisor,
  type TurnLogs,
} from '../../../src/entries/agents.js';
import { type ChatDelta, type ChatModel, type ChatRequest, defineTool } from '../../../src/index.js';

export const PROGRAMS = ['interrupt', 'team', 'steer'] as const;
export type ProgramName = (typeof PROGRAMS)[number];

/** One line of the ledger. */
export interface Noted {
  readonly kind: 'effect' | 'called' | 'model' | 'asked' | 'accepted' | 'delivered';
  readonly what: string;
}

/** What a process is made with. */
export interface ProcessOptions {
  readonly folder: string;
  /** Called at every step that is worth losing the process at. */
  readonly step: () => void;
  /** Milliseconds since 1970. */
  readonly now?: () => number;
}

/** Works on the program until its conversation is over; gives the text of the answer. */
export async function runProgram(name: ProgramName, { folder, step, now = Date.now }: ProcessOptions): Promise<string> {
  const ledger = new Ledger(path.join(folder, 'ledger.jsonl'), step);
  const runner = createRunner({
    agent: AGENTS[name](ledger),
    sessions: steppedSessions(fileSessions(path.join(folder, 'sessions')), step),
    logs: steppedLogs(fileTurnLogs(path.join(folder, 'turns'), { now, leaseMs: 60_000 }), step),
  });
  const input$ = name === 'steer' ? of({ id: 'word', content: 'In one line!' }) : NEVER;
  const heard = (event: RunnerEvent): void => {
    if (event.type === 'input-accepted') ledger.note('accepted', event.id);
    if (event.type === 'input-delivered') ledger.note('delivered', event.id);
  };
  const options = name === 'steer' ? { input$ } : {};
  let answers: Record<string, unknown> = {};
  for (let rounds = 0; rounds < 20; rounds += 1) {
    const { turns } = await runner.session('s');
    const last = turns.at(-1);
    if (last?.status === 'succeeded') return textOf(last.messages);
    // A person who comes back to a question asks for it anew, and answers it then.
    const events$ =
      last === undefined
        ? runner.run('Go.', { session: 's', ...options })
        : runner.resume('s', answers, last.status === 'waiting' ? {} : options);
    const end = await lastValueFrom(events$.pipe(tap(heard)));
    if (end.type !== 'turn-ended') throw new Error('The turn has no end.');
    if (end.status === 'failed') throw new Error(end.error.message);
    answers = {};
    if (end.status !== 'waiting') continue;
    for (const { address } of end.questions) {
      ledger.note('asked', address);
      answers[address] = { approved: true };
    }
  }
  throw new Error('The program did not end.');
}

function textOf(messages: ChatRequest['messages']): string {
  const content = messages.at(-1)?.content;
  return typeof content === 'string' ? content : '';
}

/** What happened, over all processes. */
export class Ledger {
  readonly #file: string;
  readonly #step: () => void;

  constructor(file: string, step: () => void) {
    this.#file = file;
    this.#step = step;
  }

  get all(): readonly Noted[] {
    if (!existsSync(this.#file)) return [];
    return readFileSync(this.#file, 'utf8')
      .trim()
      .split('\n')
      .filter(Boolean)
      .map((line) => JSON.parse(line));
  }

  note(kind: Noted['kind'], what: string): void {
    appendFileSync(this.#file, `${JSON.stringify({ kind, what })}\n`);
    this.#step();
  }

  /** An effect that its key makes once, as a payment with an idempotency key. */
  once(what: string): void {
    this.note('called', what);
    if (!this.all.some((noted) => noted.kind === 'effect' && noted.what === what)) this.note('effect', what);
  }
}

/** A model that answers by how often it has answered, and by what it was told. */
function model(ledger: Ledger, name: string, ...replies: readonly (string | { readonly call: string })[]): ChatModel {
  return {
    chat: ({ messages }) =>
      defer(() => {
        const said = messages.filter(({ role }) => role === 'assistant').length;
        const reply = replies[Math.min(said, replies.length - 1)] as (typeof replies)[number];
        ledger.note('model', `${name} ${said}`);
        if (typeof reply === 'string') {
          const words = messages.filter(({ content }) => content === 'In one line!').length;
          const text = reply.replace('%', String(words));
          return of<ChatDelta[]>({ type: 'text', text }, { type: 'finish', reason: 'stop' });
        }
        const call: ChatDelta = {
          type: 'tool-call',
          index: 0,
          id: `${name}-${said}`,
          name: reply.call,
          arguments: '{}',
        };
        return concat(of(call), of<ChatDelta>({ type: 'finish', reason: 'tool_calls' }), EMPTY);
      }),
  };
}

function effect(ledger: Ledger, name: string) {
  return defineTool({
    name,
    description: 'Does something that must not be done twice.',
    run: (_, call) => {
      ledger.once(`${name} ${call.key}`);
      return `${name} is done.`;
    },
  });
}

const AGENTS: Readonly<Record<ProgramName, (ledger: Ledger) => AnyAgent>> = {
  interrupt: (ledger) =>
    agent({
      name: 'host',
      model: model(ledger, 'host', { call: 'search' }, { call: 'send' }, 'Invited.'),
      tools: [effect(ledger, 'search'), effect(ledger, 'send')],
      use: [approve(['send'])],
    }),
  team: (ledger) =>
    supervisor({
      name: 'team',
      lead: agent({
        name: 'lead',
        model: model(ledger, 'lead', { call: 'transfer_to_both' }, { call: 'transfer_to_writer' }, 'All done.'),
      }),
      agents: [
        parallelAgents({
          name: 'both',
          agents: ['a', 'b'].map((name) =>
            agent({
              name,
              model: model(ledger, name, { call: `find_${name}` }, 'Found.'),
              tools: [effect(ledger, `find_${name}`)],
            }),
          ),
        }),
        agent({
          name: 'writer',
          model: model(ledger, 'writer', { call: 'write' }, 'Written.'),
          tools: [effect(ledger, 'write')],
        }),
      ],
    }),
  steer: (ledger) =>
    agent({
      name: 'reader',
      model: model(ledger, 'reader', { call: 'read' }, { call: 'read' }, 'Told % times.'),
      tools: [effect(ledger, 'read')],
    }),
};

function steppedSessions(sessions: SessionStore, step: () => void): SessionStore {
  return {
    ...sessions,
    append: async (...given) => {
      const entries = await sessions.append(...given);
      step();
      return entries;
    },
  };
}

function steppedLogs(logs: TurnLogs, step: () => void): TurnLogs {
  return {
    ...logs,
    open: async (...given) => {
      const { log, stored } = await logs.open(...given);
      step();
      let taken = 0;
      // What is not stored yet is lost wherever the process is lost before.
      const flush = async (): Promise<void> => {
        const before = taken;
        taken = 0;
        await log.flush();
        if (before > 0) step();
      };
      const take = <T>(bytes: T): T => {
        taken += 1;
        return bytes;
      };
      return {
        log: {
          append: (event) => take(log.append(event)),
          snapshot: (checkpoint) => take(log.snapshot(checkpoint)),
          flush,
          close: () => log.close(),
        },
        stored,
      };
    },
  };
}
