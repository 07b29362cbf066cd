import type { JsonObject } from '../../../src/json.js';
import { documentOf } from '../../transport/support/documents.js';

/** What a run of {@link callingCanvas} is asked: the items of its Parallel. */
export const ITEMS = ['P0', 'P1', 'P2'] as const;

/** Who calls the ledger in it: nodes, and rounds of one node in the body of the Parallel. */
export const CALLERS = ['A', 'B1', 'B2', 'C', ...ITEMS] as const;

/** The caller that a node is, by its id and the round that it is in; undefined for nodes that do not call. */
export function callerOf(component: string, within: string | undefined): string | undefined {
  if (!component.startsWith('Invoke')) return undefined;
  return within === undefined ? component.split(':')[1] : ITEMS[Number(within.split('/')[1])];
}

/** What a run of it says in the end. */
export const ANSWER = 'one two three four five six seven eight: A B1 B2 C';

/** What it says in the rounds of its body. */
export const ROUNDS = ITEMS.map((item, round) => [`Parallel:P/${round}`, `<${item} ${item}>`]);

/** Calls one server after another, side by side and in rounds of a body, each of which says who it was, then says something slowly. */
export function callingCanvas(ledger: string): JsonObject {
  const call = (node: string, downstream: string[]): [string, string[], JsonObject] => [
    'Invoke',
    downstream,
    { url: ledger, method: 'post', variables: [{ key: 'node', value: node }] },
  ];
  const document = documentOf({
    begin: ['Begin', ['Invoke:A']],
    'Invoke:A': call('A', ['Invoke:B1', 'Invoke:B2']),
    'Invoke:B1': call('B1', ['Invoke:C']),
    'Invoke:B2': call('B2', ['Invoke:C']),
    'Invoke:C': call('C', ['Parallel:P']),
    'Parallel:P': [
      'Parallel',
      ['LLM:Say'],
      { items_ref: 'env.items', max_concurrency: 3, outputs: { said: { ref: 'Invoke:Each@result' } } },
    ],
    'IterationItem:Each': ['IterationItem', ['Message:Before'], {}, 'Parallel:P'],
    'Message:Before': ['Message', ['Invoke:Each'], { content: ['<{item}'] }, 'Parallel:P'],
    'Invoke:Each': [...call('{item}', ['Message:Behind']), 'Parallel:P'],
    'Message:Behind': ['Message', [], { content: [' {Invoke:Each@result}>'] }, 'Parallel:P'],
    'LLM:Say': [
      'LLM',
      ['Message:Out'],
      { llm_id: 'scripted', sys_prompt: 'Count.', prompts: [{ role: 'user', content: '{sys.query}' }] },
    ],
    'Message:Out': [
      'Message',
      [],
      {
        content: ['{LLM:Say@content}: {Invoke:A@result} {Invoke:B1@result} {Invoke:B2@result} {Invoke:C@result}'],
      },
    ],
  });
  return { ...document, variables: { items: { type: 'array', value: [...ITEMS] } } };
}

/** The script of the built-in model, as the file of `RUNNEL_MODELS`. */
export const MODELS: JsonObject = {
  scripted: {
    default: {
      reply_stream: ['one ', 'two ', 'three ', 'four ', 'five ', 'six ', 'seven ', 'eight'],
      delay_ms: 10,
    },
  },
};
