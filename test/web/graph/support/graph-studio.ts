/** The studio of a server whose dataset has documents that name each other. */
import { expect } from 'vitest';
import { type DatasetStudio, type DatasetStudioOptions, openDatasets } from '../../support/dataset-studio.js';

/** What the documents say: name, text. */
export const WORLD: Readonly<Record<string, string>> = {
  'Orion.md': 'Orion uses Kafka. Orion was written by Ada Lenz.',
  'Ada Lenz.md': 'Ada Lenz lives in Port Soller. She also wrote the Lyra Scheduler.',
  'Port Soller.md': 'Port Soller is a town by the sea. The Lyra Scheduler depends on Redis.',
};

export interface GraphStudio extends DatasetStudio {
  readonly id: string;
  /** Path of the API of the graph. */
  readonly path: string;
  /** Address of the page. */
  readonly address: string;
  /** Builds links and rules, to the end. */
  build(): Promise<void>;
}

/** Opens it with documents, which are parsed. */
export async function openGraph(
  texts: Readonly<Record<string, string>> = WORLD,
  options: DatasetStudioOptions = {},
): Promise<GraphStudio> {
  const studio = await openDatasets(options);
  const id = await studio.dataset('world');
  for (const [name, text] of Object.entries(texts)) await studio.ingest(id, name, text);
  const path = `/datasets/${id}/graph`;
  return {
    ...studio,
    id,
    path,
    address: `/graph/${id}`,
    async build() {
      await studio.ask('POST', path, {});
      const state = async () => (await studio.ask('GET', `${path}/build`)).state;
      await expect.poll(state, { timeout: 60_000, interval: 20 }).toBe('DONE');
    },
  };
}
