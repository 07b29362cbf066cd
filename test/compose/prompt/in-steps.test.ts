import { describe, expect, it } from 'vitest';
import { chain } from '../../../src/compose/chain.js';
import { system, user } from '../../../src/compose/prompt/message-template.js';
import { fString } from '../../../src/compose/prompt/prompt.js';
import { invoke } from '../../../src/compose/run.js';
import { knowledgeDocument } from '../../../src/knowledge/knowledge-document.js';
import { memoryIndex } from '../../../src/knowledge/memory-index.js';
import { multiQuery } from '../../../src/knowledge/retrievers/multi-query.js';
import { splitByCharacters } from '../../../src/knowledge/splitters/split-by-characters.js';

describe('functions of documents and prompts as steps', () => {
  it('load, split and store in a chain', async () => {
    const { index, retrieve } = memoryIndex();
    const store = chain(
      (text: string) => [knowledgeDocument({ id: 'd', text })],
      splitByCharacters({ size: 20 }),
      index,
    );
    expect(await invoke(store, 'The pump needs oil. The valve does not.')).toEqual(['d#0', 'd#1']);
    expect((await retrieve('oil')).map(({ id }) => id)).toEqual(['d#0']);
  });

  it('find documents and make messages of them', async () => {
    const { index, retrieve } = memoryIndex();
    await index([knowledgeDocument({ id: 'a', text: 'The pump needs oil.' })]);
    const ask = chain(
      multiQuery({ retriever: retrieve, rewrite: () => ['pump'] }),
      (documents) => ({ found: documents.map(({ text }) => text).join('\n') }),
      fString(system('You know: {found}'), user('What does it need?')),
    );
    expect(await invoke(ask, 'oil')).toEqual([
      { role: 'system', content: 'You know: The pump needs oil.' },
      { role: 'user', content: 'What does it need?' },
    ]);
  });
});
