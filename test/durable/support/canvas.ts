import type { JsonObject } from '../../../src/json.js';
import { documentOf } from '../../transport/support/documents.js';

/** Nodes of {@link callingCanvas} that call the ledger. */
export const CALLERS = ['A', 'B1', 'B2', 'C'] as const;

/** What a run of it says in the end. */
export const ANSWER = 'one two three four five six seven eight: A B1 B2 C';

/** Calls one server after another and side by side, then says something slowly. */
export function callingCanvas(ledger: string): JsonObject {
  const call = (node: string, downstream: string[]): [string, string[], JsonObject] => [
    'Invoke',
    downstream,
    { url: ledger, method: 'post', variables: [{ key: 'node', value: node }] },
  ];
  return documentOf({
    begin: ['Begin', ['Invoke:A']],
    'Invoke:A': call('A', ['Invoke:B1', 'Invoke:B2']),
    'Invoke:B1': call('B1', ['Invoke:C']),
    'Invoke:B2': call('B2', ['Invoke:C']),
    'Invoke:C': call('C', ['LLM:Say']),
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
