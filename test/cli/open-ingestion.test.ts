import { describe, expect, it } from 'vitest';
import { openIngestion } from '../../src/cli/open-ingestion.js';
import { EngineError } from '../../src/errors.js';
import type { ChatChoice, Models } from '../../src/models/router.js';
import { createMemoryStores } from '../../src/stores/memory-stores.js';
import { parserOf, pipelineOf } from '../canvas/support/pipeline-base.js';
import { agentRecord } from '../stores/support/records.js';

const SETTINGS = { chromium: undefined, layoutUrl: undefined, layoutUrlBefore: undefined };

/** Models of which each says whether it sees pictures. */
function modelsOf(sees: Readonly<Record<string, boolean>>, visionModels: readonly string[] = []): Models {
  const chat = (id: string): ChatChoice => {
    const name = id === '' ? 'default' : id;
    if (!Object.hasOwn(sees, name)) throw new EngineError('MODEL_UNKNOWN', `There is no model "${name}".`);
    const provider = name === 'scripted' ? 'scripted' : 'A';
    return { name, provider, supportsImages: sees[name] === true } as unknown as ChatChoice;
  };
  return { chat, describe: () => ({ visionModels }) } as unknown as Models;
}

const open = (models: Models, agents = createMemoryStores().agents, settings: object = {}) =>
  openIngestion(agents, { models }, { ...SETTINGS, ...settings });

describe('what ingestion uses', () => {
  it('are models of the configuration, of those that see pictures where that is needed', () => {
    const { chat } = open(modelsOf({ default: false, eyes: true, scripted: true }, ['eyes']));
    const nameOf = (id: string, needs?: 'images') => chat?.('t', id, needs)?.name;
    expect([nameOf(''), nameOf('', 'images'), nameOf('default', 'images')]).toEqual(['default', 'eyes', 'default']);
    expect([nameOf('unknown'), nameOf('scripted')]).toEqual([undefined, undefined]);
    expect(open(modelsOf({ default: false })).chat?.('t', '', 'images')).toBeUndefined();
  });

  it('are canvases of the tenant: what is published, else the draft', async () => {
    const { agents } = createMemoryStores();
    const draft = pipelineOf(['File'], parserOf(['md']), ['OneChunker'], ['Tokenizer']);
    const published = pipelineOf(['File'], parserOf(['md']), ['PageChunker'], ['Tokenizer']);
    await agents.insert('t', agentRecord({ id: 'a', dsl: draft }));
    await agents.insert('t', agentRecord({ id: 'b', dsl: draft, published: { dsl: published, at: 1 } }));
    await agents.insert('t', agentRecord({ id: 'c', dsl: { components: {} } }));
    const { pipelines } = open(modelsOf({}), agents);
    const hashes = await Promise.all(['a', 'b'].map(async (id) => (await pipelines?.('t', id))?.hash));
    expect(new Set(hashes).size).toBe(2);
    await expect(pipelines?.('t', 'c')).rejects.toMatchObject({ code: 'INGEST_FAILED' });
    for (const [tenant, id] of [
      ['other', 'a'],
      ['t', '__proto__'],
    ] as const) {
      await expect(pipelines?.(tenant, id)).rejects.toThrow(`There is no agent "${id}"`);
    }
  });

  it('see the layout of pages where a server is named, by either of its names', () => {
    expect(open(modelsOf({})).layout).toBeUndefined();
    for (const name of ['layoutUrl', 'layoutUrlBefore']) {
      expect(open(modelsOf({}), undefined, { [name]: 'http://127.0.0.1:1' }).layout).toBeTypeOf('function');
    }
  });
});
