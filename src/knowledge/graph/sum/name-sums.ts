/** What all contributions together say of each name, kept up to date. */
import type { ChunkContribution, GraphLayer, Mention } from '../facts.js';
import type { KeyPair } from '../names/group-names.js';
import { keyOfForm, type NameForm } from '../names/name-forms.js';
import { countNames, isName, type NameStats } from './name-stats.js';

/** A name with another one that means the same, and the keys of both. */
export interface KeyedAlias {
  readonly names: readonly [name: string, alias: string];
  readonly keys: KeyPair;
}

/** Names of the layer `links` count where they are a title of some document. */
export class NameSums {
  readonly #formOf: (name: string) => NameForm;
  /** Contributions that mention a name, whether it counts or not. */
  readonly #mentioning = new Map<string, ChunkContribution[]>();
  /** Those names, by their keys. */
  readonly #spellings = new Map<string, Set<string>>();
  readonly #stats = new Map<string, NameStats>();
  /** How often a key is a title. */
  readonly #titles = new Map<string, number>();
  /** What contributions with other names of something say of them. */
  readonly #given = new Map<ChunkContribution, readonly KeyedAlias[]>();
  readonly #told = new Map<ChunkContribution, readonly KeyedAlias[]>();

  constructor(formOf: (name: string) => NameForm) {
    this.#formOf = formOf;
  }

  /** Spellings that texts mention. */
  get size(): number {
    return this.#mentioning.size;
  }

  /** Takes contributions out and adds others; gives the names of which something else may be known now. */
  change(removed: Iterable<ChunkContribution>, added: Iterable<ChunkContribution>): ReadonlySet<string> {
    const changed = new Set<string>();
    const titles = new Map<string, number>();
    for (const one of removed) this.#leave(one, changed, titles);
    for (const one of added) this.#enter(one, changed, titles);
    for (const [key, more] of titles) {
      const before = this.#titles.get(key) ?? 0;
      if (before + more === 0) this.#titles.delete(key);
      else this.#titles.set(key, before + more);
      // A name of texts begins to count, or ceases to.
      if ((before === 0) !== (before + more === 0))
        for (const name of this.#spellings.get(key) ?? []) changed.add(name);
    }
    const concerned = new Set<ChunkContribution>();
    for (const name of changed) for (const one of this.#mentioning.get(name) ?? []) concerned.add(one);
    const counted = countNames(concerned, changed, (mention, layer) => this.#counts(mention, layer));
    for (const name of changed) {
      const stats = counted.get(name);
      if (stats === undefined) this.#stats.delete(name);
      else this.#stats.set(name, stats);
    }
    return changed;
  }

  /** What is known of a name; undefined for one that does not count. */
  statsOf(name: string): NameStats | undefined {
    return this.#stats.get(name);
  }

  /** Whether a name of this key counts. */
  has(key: string): boolean {
    for (const name of this.#spellings.get(key) ?? []) if (this.#stats.has(name)) return true;
    return false;
  }

  mentioning(name: string): readonly ChunkContribution[] {
    return this.#mentioning.get(name) ?? [];
  }

  /** Other names that users give. */
  get givenAliases(): readonly KeyedAlias[] {
    return [...this.#given.values()].flat();
  }

  /** Other names that texts tell. */
  get toldAliases(): readonly KeyedAlias[] {
    return [...this.#told.values()].flat();
  }

  /** An alias with its keys. */
  keyed(names: readonly [string, string]): KeyedAlias {
    return { names, keys: [this.#keyOf(names[0]), this.#keyOf(names[1])] };
  }

  #enter(one: ChunkContribution, changed: Set<string>, titles: Map<string, number>): void {
    for (const name of namesOf(one)) {
      changed.add(name);
      const own = this.#mentioning.get(name);
      if (own !== undefined) own.push(one);
      else {
        this.#mentioning.set(name, [one]);
        const key = this.#keyOf(name);
        const spellings = this.#spellings.get(key);
        if (spellings === undefined) this.#spellings.set(key, new Set([name]));
        else spellings.add(name);
      }
    }
    this.#countTitles(one, titles, 1);
    const aliases = one.mentions.flatMap(({ name, aliases: others = [] }) =>
      others.map((alias) => this.keyed([name, alias])),
    );
    if (aliases.length > 0) (one.layer === 'given' ? this.#given : this.#told).set(one, aliases);
  }

  #leave(one: ChunkContribution, changed: Set<string>, titles: Map<string, number>): void {
    for (const name of namesOf(one)) {
      changed.add(name);
      const own = this.#mentioning.get(name) ?? [];
      const at = own.indexOf(one);
      if (at !== -1) own.splice(at, 1);
      if (own.length > 0) continue;
      this.#mentioning.delete(name);
      const key = this.#keyOf(name);
      const spellings = this.#spellings.get(key);
      spellings?.delete(name);
      if (spellings?.size === 0) this.#spellings.delete(key);
    }
    this.#countTitles(one, titles, -1);
    this.#given.delete(one);
    this.#told.delete(one);
  }

  #countTitles({ layer, mentions }: ChunkContribution, titles: Map<string, number>, step: number): void {
    if (layer === 'given') return;
    for (const { name, isTitle = false } of mentions) {
      if (!isTitle) continue;
      const key = this.#keyOf(name);
      titles.set(key, (titles.get(key) ?? 0) + step);
    }
  }

  #counts({ name }: Mention, layer: GraphLayer): boolean {
    return layer !== 'links' || this.#titles.has(this.#keyOf(name));
  }

  #keyOf(name: string): string {
    return keyOfForm(this.#formOf(name));
  }
}

/** The names that a contribution mentions, each once. */
function namesOf({ mentions }: ChunkContribution): ReadonlySet<string> {
  const names = new Set<string>();
  for (const { name } of mentions) if (isName(name)) names.add(name);
  return names;
}
