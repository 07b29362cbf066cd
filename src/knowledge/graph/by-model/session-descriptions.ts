/** The descriptions that a model made of several, as they fit to a graph in memory. */
import { createHash } from 'node:crypto';
import type { ChunkContribution } from '../facts.js';
import type { DescribedMaterial } from '../graph-answers.js';
import type { GraphEntity, SummedGraph } from '../graph-records.js';
import type { StaleUses } from '../stale-uses.js';
import type { WrittenDescription } from './written-description.js';

/** Descriptions, and UTF-16 units of all together, above which an entity gets one of a model. */
const MANY = 5;
const LONG = 1_000;
/** Descriptions that a model reads at most, and UTF-16 units of one. */
const MAX_READ = 30;
const MAX_UNITS = 500;

/** A contribution with the hash of the text that it was made of. */
type ReadContribution = ChunkContribution & { readonly textHash?: string | undefined };

/** A description by the layer of a model, with where it comes from. */
interface Source {
  /** Chunk and hash of its text. */
  readonly place: string;
  readonly text: string;
}

/** Descriptions of a session as it stands. */
export class SessionDescriptions {
  readonly #graph: SummedGraph;
  readonly #sources: ReadonlyMap<string, readonly Source[]>;
  readonly #written = new Map<string, WrittenDescription>();
  readonly #lost: string[] = [];
  readonly #uses: StaleUses;

  constructor(
    graph: SummedGraph,
    contributions: Iterable<ReadContribution>,
    written: readonly WrittenDescription[],
    uses: StaleUses,
  ) {
    this.#graph = graph;
    this.#uses = uses;
    this.#sources = sourcesOf(graph, contributions);
    for (const one of written) {
      const id = graph.idOf.get(one.name);
      // Two entities may have become one.
      if (id === undefined || this.#written.has(id) || !this.#isMany(id)) this.#lost.push(one.key);
      if (id !== undefined && !this.#written.has(id)) this.#written.set(id, one);
    }
  }

  /** What a model wrote of an entity; undefined where it wrote nothing, and once all that it read is gone or was changed. */
  of(id: string): { readonly text: string; readonly isStale: boolean } | undefined {
    const written = this.#written.get(id);
    if (written?.description === undefined) return undefined;
    const places = new Set(this.#sources.get(id)?.map(({ place }) => place));
    if (!written.sources.some((place) => places.has(place))) return undefined;
    return { text: written.description, isStale: written.fingerprint !== this.#fingerprintOf(id) };
  }

  /** {@link of}, for a search: that a stale one is used is noted. */
  serve(id: string): { readonly text: string; readonly isStale: boolean } | undefined {
    const found = this.of(id);
    const written = this.#written.get(id);
    if (found?.isStale === true && written !== undefined) this.#uses.note(written);
    return found;
  }

  /** What a model is to read to write the descriptions that are missing or stale: the stale ones that searches use most, then those of the most mentioned entities. */
  material(limit: number): { readonly material: readonly DescribedMaterial[]; readonly of: number; lost: string[] } {
    const usesOf = ({ id }: GraphEntity): number => this.#uses.of(this.#written.get(id));
    const wanted = [...this.#sources.keys()]
      .filter((id) => this.#isMany(id) && this.#written.get(id)?.fingerprint !== this.#fingerprintOf(id))
      .flatMap((id) => this.#graph.entities.get(id) ?? [])
      .sort((a, b) => usesOf(b) - usesOf(a) || b.mentionCount - a.mentionCount || (a.id < b.id ? -1 : 1));
    return {
      material: wanted.slice(0, limit).map((entity) => this.#materialOf(entity)),
      of: wanted.length,
      lost: [...this.#lost],
    };
  }

  #materialOf({ id, name }: GraphEntity): DescribedMaterial {
    const places = new Map<string, string>();
    for (const { text, place } of this.#sources.get(id) ?? []) if (!places.has(text)) places.set(text, place);
    // The longest say most.
    const read = [...places].sort(([a], [b]) => b.length - a.length || (a < b ? -1 : 1)).slice(0, MAX_READ);
    return {
      ...{ entity: id, name, fingerprint: this.#fingerprintOf(id) },
      descriptions: read.map(([text]) => text.slice(0, MAX_UNITS)),
      sources: [...new Set(read.map(([, place]) => place))],
    };
  }

  #isMany(id: string): boolean {
    const texts = new Set(this.#sources.get(id)?.map(({ text }) => text));
    const units = [...texts].reduce((sum, { length }) => sum + length, 0);
    return texts.size > MANY || (texts.size > 1 && units > LONG);
  }

  #fingerprintOf(id: string): string {
    const hash = createHash('sha256');
    for (const { place, text } of this.#sources.get(id) ?? []) hash.update(JSON.stringify([place, text]));
    return hash.digest('hex').slice(0, 24);
  }
}

/** What the layer of a model says of each entity, in an order that depends on that alone. */
function sourcesOf({ idOf }: SummedGraph, contributions: Iterable<ReadContribution>): Map<string, Source[]> {
  const sources = new Map<string, Source[]>();
  for (const { layer, chunkId, textHash = '', mentions } of contributions) {
    if (layer !== 'model') continue;
    for (const { name, description: text = '' } of mentions) {
      const id = idOf.get(name);
      if (id === undefined || text === '') continue;
      const own = sources.get(id) ?? [];
      own.push({ place: `${chunkId} ${textHash}`, text });
      sources.set(id, own);
    }
  }
  for (const own of sources.values())
    own.sort((a, b) => (a.place < b.place || (a.place === b.place && a.text < b.text) ? -1 : 1));
  return sources;
}
