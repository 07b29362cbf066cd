import { describe, expect, it } from 'vitest';
import { INGESTION_STEPS } from '../../src/ingestion/pipeline.js';
import type { IngestionProgress } from '../../src/knowledge/base/ingestion-hub.js';
import { newBase, TENANT } from '../knowledge/base/support/new-base.js';

describe('a document that is parsed', () => {
  it('is cut, stored with places in its text, and found', async () => {
    const { base, start, dataset, ingest, found } = newBase();
    start();
    const id = await dataset();
    const text = '# Cats\r\n\r\nCats sleep.\n\n# Dogs\n\nDogs bark.\n';
    const document = await ingest(id, 'animals.md', text);
    expect(document).toMatchObject({ run: 'DONE', progress: 1, chunkCount: 1, suffix: 'md', type: 'doc' });
    expect(document.progressMsg).toContain('done, 1 chunks');
    expect(await found(id, 'bark')).toEqual(['animals.md: # Cats\n\nCats sleep.\n\n# Dogs\n\nDogs bark.']);
    const stored = await base.parts.texts.read(TENANT, base.parts.texts.idOf(document));
    const { items } = await base.chunks.list(TENANT, { documentId: document.id, offset: 0, limit: 10 });
    for (const { start: from, end, text: own } of items) expect(stored.text.slice(from ?? 0, end ?? 0)).toBe(own);
    expect(document.characters).toBe(stored.text.length);
  });

  it('tells its progress step by step, ever further', async () => {
    const { base, start, dataset, ingest } = newBase();
    start();
    const id = await dataset();
    const told: IngestionProgress[] = [];
    const subscription = base.progress(TENANT, id).subscribe((one) => told.push(one));
    await ingest(id, 'a.txt', 'one\n\ntwo');
    subscription.unsubscribe();
    const steps = [...new Set(told.map(({ step }) => step))];
    expect(steps).toEqual([...INGESTION_STEPS, '']);
    const shares = told.map(({ progress }) => progress);
    expect(shares).toEqual([...shares].sort((a, b) => a - b));
    expect(told.at(-1)).toMatchObject({ run: 'DONE', progress: 1, chunks: 1 });
  });
});
