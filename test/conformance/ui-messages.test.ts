import { describe, expect, it } from 'vitest';
import type { RunEvent } from '../../src/graph/events.js';
import { chunksOf, readChunks } from '../ui-messages/support/read-chunks.js';
import { readCases } from './case.js';
import { playCase } from './play.js';

describe("messages of the AI SDK's pages, of the golden cases", () => {
  for (const golden of readCases()) {
    it(golden.name, async () => {
      const runs = new Map<number, RunEvent[]>();
      await playCase(golden, { listener: (event, run) => runs.set(run, [...(runs.get(run) ?? []), event]) });
      for (const events of runs.values()) {
        const chunks = chunksOf(events);
        expect(chunks[0]).toMatchObject({ type: 'start' });
        expect(['finish', 'abort']).toContain(chunks.at(-1)?.type);
        await readChunks(chunks);
      }
      // All runs of a conversation are one message where they go on with each other.
      const all = [...runs.values()].flat();
      if (all.length > 0) await readChunks(chunksOf(all));
    });
  }
});
