/** What is stored once in the log of a run is whole in every answer, also when it is read back from a store. */
import { expect, it } from 'vitest';
import { createMemoryStores } from '../../src/stores/memory-stores.js';
import { documentOf } from './support/documents.js';
import { startServer } from './support/server.js';

const LONG = 'A pump moves water uphill. '.repeat(60).trim();

/** As stores outside of the process: what is read is text alone. */
function storesOfText() {
  const stores = createMemoryStores();
  const { log } = stores;
  const read: typeof log.read = async (...asked) =>
    (await log.read(...asked))?.map(({ seq, event, json }) => ({ seq, event, json }));
  return { stores: { ...stores, log: { ...log, read } }, log };
}

it('is whole in what components did, for a text that two of them gave', async () => {
  const { stores, log } = storesOfText();
  const models = JSON.stringify({ scripted: { default: { reply: LONG } } });
  const server = await startServer({ stores, models });
  const agent = await server.agent(
    documentOf({
      begin: ['Begin', ['LLM:Write']],
      'LLM:Write': [
        'LLM',
        ['Message:Reply'],
        { llm_id: 'scripted', prompts: [{ role: 'user', content: '{sys.query}' }] },
      ],
      'Message:Reply': ['Message', [], { content: ['{LLM:Write@content}'] }],
    }),
  );
  const { body } = await server.call('POST', `/api/v1/agents/${agent}/run`, { query: 'pumps?' });
  const { run_id: run, message_id: message } = body.data;
  const stored = (await log.read('local', run, 0, { maxEvents: 100, maxBytes: 1e6 })) ?? [];
  expect(stored.some(({ json }) => json.includes(',"repeats":[['))).toBe(true);
  const logs = await server.call('GET', `/api/v1/agents/${agent}/logs/${message}`);
  const outputs = logs.body.data.map((one: { component_id: string; trace: { outputs?: { content?: string } }[] }) => [
    one.component_id,
    one.trace.at(-1)?.outputs?.content,
  ]);
  expect(outputs).toContainEqual(['LLM:Write', LONG]);
  expect(outputs).toContainEqual(['Message:Reply', LONG]);
});
