/** What has to compile, and with which types. Checked by the compiler alone; `types.test.ts` runs it under several versions. */
import { filter, map as mapChunks, of } from 'rxjs';
import { branch, streamBranch } from '../../../src/compose/branch.js';
import { chain } from '../../../src/compose/chain.js';
import { graph } from '../../../src/compose/graph.js';
import { optional } from '../../../src/compose/handles.js';
import { hasToolCall } from '../../../src/compose/has-tool-call.js';
import { loop } from '../../../src/compose/loop.js';
import { map } from '../../../src/compose/map.js';
import { parallel } from '../../../src/compose/parallel.js';
import type { Ref } from '../../../src/compose/reference.js';
import { defineState } from '../../../src/compose/state.js';
import type { Step } from '../../../src/compose/step.js';
import { as, ask, generator, operator, passthrough, pick, step } from '../../../src/compose/steps.js';
import { workflow } from '../../../src/compose/workflow.js';
import type { StandardSchema } from '../../../src/standard-schema.js';

type Same<A, B> = (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false;

/** Holds that something is true of types. */
function is<T extends true>(holds?: T): T | undefined {
  return holds;
}

interface User {
  readonly id: string;
  readonly born: Date;
  readonly profile?: { readonly name: string; readonly tags: string[] };
  readonly boss: { readonly name: string } | null;
}
interface Docs {
  readonly items: string[];
  readonly count: number;
}
interface Message {
  readonly role: string;
  readonly content: string;
  readonly toolCalls?: readonly { readonly name: string }[];
}
declare const approval: StandardSchema<unknown, { ok: boolean }>;
declare const length: StandardSchema<string, number>;
declare const loadUser: Step<{ id: string }, User>;
declare const search: Step<{ query: string; top: number }, Docs>;
declare const searchWeb: Step<string, Docs>;
declare const chatModel: (name: string) => Step<Message[], Message>;
declare const toolsNode: Step<Message, Message[]>;
const load = step('load', async (id: string) => ({ name: id, age: 3 }));

// A lambda gets its input from the step before, whatever that returns.
const made1 = chain(
  (n: number) => n + 1,
  async (n) => String(n),
  (text) => of(text),
  (text) => text.length,
);
is<Same<typeof made1, Step<number, number>>>();
const made2 = load.pipe(pick('name'), as('docs'), passthrough(), (all) => all.docs);
is<Same<typeof made2, Step<string, string>>>();
const made3 = chain(load, pick('age'));
is<Same<typeof made3, Step<string, number>>>();

// A question is no output.
const made4 = step('ask', (n: number, at) => (n > 1 ? at.interrupt('q') : n));
is<Same<typeof made4, Step<number, number>>>();
const made5 = step('ask', async (n: number, at) => (n > 1 ? at.interrupt('q') : n));
is<Same<typeof made5, Step<number, number>>>();
const made6 = chain(
  (n: number) => n,
  ask(approval, (n: number) => n),
  ({ ok }) => ok,
);
is<Same<typeof made6, Step<number, boolean>>>();
const made7 = ask(length, 'how?');
is<Same<typeof made7, Step<unknown, number>>>();

// Operators and generators get chunks.
const made8 = chain(
  (n: number) => of(n),
  operator(mapChunks((n) => n + 1)),
  operator(
    'even',
    filter((n) => n > 1),
  ),
);
is<Same<typeof made8, Step<number, number>>>();
const made9 = chain(
  (n: number) => of(n),
  generator(async function* (chunks) {
    for await (const chunk of chunks) yield chunk.toFixed();
  }),
);
is<Same<typeof made9, Step<number, string>>>();

// Parallels give objects; steps that need different objects get one with all keys.
const made10 = load.pipe(parallel({ a: (user) => user.age, b: async (user) => user.name }), ({ a, b }) => a + b.length);
is<Same<typeof made10, Step<string, number>>>();
export const all: Step<{ a: string; b: number }, { p: string; q: number }> = parallel({
  p: step('p', ({ a }: { a: string }) => a),
  q: step('q', ({ b }: { b: number }) => b),
});
declare const lenient: Step<string | number, boolean>;
const lenientTwice = parallel({ p: lenient, q: lenient });
is<Same<typeof lenientTwice, Step<string | number, { p: boolean; q: boolean }>>>();

// Branches give what any of their routes gives.
const made11 = load.pipe(
  branch(({ age }) => (age > 2 ? 'many' : 'few'), { many: (user) => user.age, few: ({ name }) => name }),
);
is<Same<typeof made11, Step<string, number | string>>>();
const made12 = branch(async (n: number) => (n > 2 ? 'many' : 'few'), { many: (n) => n, few: (n) => n * 2 });
is<Same<typeof made12, Step<number, number>>>();
const made13 = streamBranch(
  (chunks: readonly string[], isLast) => (isLast ? 'a' : chunks.length > 2 ? 'b' : undefined),
  {
    a: (text) => text.length,
    b: (text) => text,
  },
);
is<Same<typeof made13, Step<string, number | string>>>();
const made14 = map((n: number) => String(n));
is<Same<typeof made14, Step<readonly number[], string[]>>>();
const made15 = chain(
  (n: number) => [n],
  map((n) => n * 2),
);
is<Same<typeof made15, Step<number, number[]>>>();
const made16 = loop((n: number) => n + 1, { until: (n, round) => n > round, maxRounds: 5 });
is<Same<typeof made16, Step<number, number>>>();

// Graphs: hooks may change what a node takes and gives.
const Conversation = defineState('conversation', (): { messages: Message[] } => ({ messages: [] }));
export const react = graph<Message[], Message>(
  'react',
  (g) => {
    const model = g.node('model', chatModel('gpt-4o'), {
      before: (input, at) => at.state(Conversation).append('messages', ...input).messages,
    });
    const tools = g.node('tools', toolsNode, {
      before: (answer, at) => {
        at.state(Conversation).append('messages', answer);
        return answer;
      },
    });
    g.edge(g.start, model);
    g.streamBranch(model, { tools, end: g.end }, hasToolCall());
    g.edge(tools, model);
  },
  { state: Conversation, interruptBefore: ['tools'], maxSteps: 40 },
);
export const joined = graph<string, { docs: number; user: string; web?: boolean }>('joined', (g) => {
  const docs = g.node('docs', (text: string) => text.length, { after: (n) => [n] });
  const user = g.node('user', (text: string) => text, { before: (list: number[]) => list.join() });
  const web = g.node('web', (text: string) => text === '');
  const count = g.node('count', (list: number[]) => list.length);
  g.edge(g.start, docs);
  g.edge(docs, user);
  g.edge(docs, count);
  g.branch(g.start, { web, skip: g.passthrough<string>('skip') }, async (text) =>
    text === '' ? ['web', 'skip'] : 'skip',
  );
  g.join({ docs: count, user, web: optional(web) }, g.end);
});

// Workflows: paths into optional values, values at any depth, functions, one reference for all arms.
const write = step(
  'write',
  (at: { name: string | undefined; docs: Pick<Docs, 'items'>; tone: string; deep?: { list: (string | number)[] } }) =>
    at.tone,
);
export const report = workflow<{ userId: string; question: string }, { text: string; sources: string[] }>(
  'report',
  (input, w) => {
    const user = w.node('user', loadUser, { id: input.userId });
    const docs = w.node('docs', search, { query: input.question, top: 5 });
    const best = w.branch('enough', docs.count, (n) => (n > 0 ? 'yes' : 'no'), {
      yes: () => w.node('keep', ({ items }: Docs) => ({ items }), docs),
      no: () => w.node('again', searchWeb, input.question),
    });
    const optionals: Ref<string | undefined>[] = [
      user.profile.name,
      user.boss.name,
      docs.items[0],
      user.profile.tags[1],
    ];
    const sure: [Ref<string>, Ref<Date>, Ref<number>] = [user.id, user.born, docs.items.length];
    const text = w.node(
      'write',
      write,
      {
        name: user.profile.name,
        docs: best,
        tone: w.map(user, ({ id }) => id),
        deep: { list: [docs.count, 'x', sure[0], 5] },
      },
      { after: [docs, ...optionals] },
    );
    w.end({ text, sources: docs.items });
  },
);
