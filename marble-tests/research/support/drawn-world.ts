/** What researches of marble tests work with: a world of three passages, a model that takes 10 ms a call, and a search that takes 5. */
import { map, type Observable, startWith } from 'rxjs';
import type { RunHelpers } from 'rxjs/testing';
import type { ChatDelta, ChatModel } from '../../../src/models/chat-model.js';
import { Budget, type BudgetLimits } from '../../../src/research/calls/budget.js';
import type { ResearchPlace } from '../../../src/research/deep/deep-ports.js';
import type { FoundEvidence } from '../../../src/research/evidence/evidence-table.js';
import type { Steer } from '../../../src/research/steer.js';

const TEXTS: Readonly<Record<string, string>> = {
  a: 'Ann built it.',
  b: 'Ann was born in Oslo.',
  c: 'It has nine lamps.',
};

/** Parts of the question: b waits for a, c for none. */
export const PARTS = [
  { id: 'a', question: 'Who built it?', depends_on: [] },
  { id: 'b', question: 'Where was {a} born?', depends_on: ['a'] },
  { id: 'c', question: 'How many lamps has it?', depends_on: [] },
];

/** Answers to the parts. */
export const ANSWERS: Readonly<Record<string, string>> = {
  'Who built it?': 'Ann',
  'Where was Ann born?': 'Oslo',
  'How many lamps has it?': 'nine lamps',
};

/** What a call of the model is asked. */
export interface CallInput {
  readonly question: string;
  /** What is known before questions are split. */
  readonly known?: unknown;
}

/** What a test draws of its world. */
export interface Drawn {
  /** Marbles of {@link WorldOptions.steers}. */
  readonly steers?: string;
  readonly limits?: BudgetLimits;
  readonly places?: readonly ResearchPlace[];
  /** Answers in place of the usual ones, by name of the call. */
  readonly answers?: Readonly<Record<string, (input: CallInput) => object | string | Observable<never>>>;
}

export interface WorldOptions {
  /** By the letters of the marbles. */
  readonly steers: Readonly<Record<string, Steer>>;
  /** The usual answer to a call. */
  readonly answerTo: (name: string, input: CallInput) => object | string;
  readonly now: () => number;
}

/** The ports of a research, where it searches, and the names of the calls that it made. */
export function drawnWorld({ cold }: RunHelpers, drawn: Drawn, { steers, answerTo, now }: WorldOptions) {
  const asked: string[] = [];
  const model: ChatModel = {
    chat: ({ jsonSchema, messages }) => {
      const name = jsonSchema?.name ?? 'write';
      const input = JSON.parse(String(messages.at(-1)?.content));
      asked.push(name);
      const own = drawn.answers?.[name]?.(input);
      if (typeof own === 'object' && 'subscribe' in own) return own as Observable<never>;
      const said = own ?? answerTo(name, input);
      const text = typeof said === 'string' ? said : JSON.stringify(said);
      return cold<ChatDelta>('----------(tf|)', { t: { type: 'text', text }, f: { type: 'finish', reason: 'stop' } });
    },
  };
  const found = Object.entries(TEXTS).map(
    ([id, text]): FoundEvidence => ({ id, where: 'kb', source: id, text, score: 1 }),
  );
  const place: ResearchPlace = { where: 'kb', find: () => cold('-----(r|)', { r: found }) };
  const ports = {
    asking: {
      model: { model, name: 'm' },
      budget: new Budget(drawn.limits ?? {}),
      journal: { find: () => undefined, keep: () => {} },
    },
    ...(drawn.steers !== undefined && {
      steers$: cold(drawn.steers, steers).pipe(
        map((steer) => [steer]),
        startWith([]),
      ),
    }),
    now,
  };
  return { ports, places: drawn.places ?? [place], asked };
}
