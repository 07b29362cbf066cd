/** Finds the entities that a question names. */
import { foldText, runsOf } from '../../words/split-words.js';
import { STOP_WORDS } from '../../words/stop-words.js';
import type { GraphEntity, SummedGraph } from '../graph-records.js';
import { disambiguate } from '../names/disambiguate.js';
import type { NameForm, Simplify } from '../names/name-forms.js';
import { TECHNICAL_TERMS } from '../rules/technical-terms.js';

/** Words, or letters of Chinese, of the longest name that is looked for. */
const MAX_NAME_WORDS = 14;
/** Share of the documents that mention an entity beyond which a single word of a question is not taken for it. */
const COMMON_SHARE = 0.05;
/** Entities that a question names at most. */
const MAX_NAMED = 16;
/** Names that are compared letter by letter with one that is not known. */
const MAX_COMPARED = 400;

/** What an index is made with. */
export interface NameIndexOptions {
  /** How many documents contribute to the graph. */
  readonly documents: number;
  /** The form of a name. */
  readonly formOf: (name: string) => NameForm;
  /** @default traditional letters stay */
  readonly simplify?: Simplify | undefined;
}

/** The names of a graph, by their keys. */
export class NameIndex {
  readonly #graph: SummedGraph;
  readonly #formOf: (name: string) => NameForm;
  readonly #simplify: Simplify | undefined;
  readonly #documents: number;
  readonly #ids = new Map<string, string[]>();
  readonly #byFirst = new Map<string, string[]>();

  constructor(graph: SummedGraph, { documents, formOf, simplify }: NameIndexOptions) {
    this.#graph = graph;
    this.#formOf = formOf;
    this.#simplify = simplify;
    this.#documents = documents;
    for (const [name, id] of graph.idOf) {
      const { key } = formOf(name);
      const own = this.#ids.get(key);
      if (own === undefined) this.#ids.set(key, [id]);
      else if (!own.includes(id)) own.push(id);
    }
    // Names of a graph come in no order.
    for (const ids of this.#ids.values()) if (ids.length > 1) ids.sort();
    // Texts with another name of a term are read as the term, so no spelling of the graph has it.
    for (const { name, aliases = [] } of TECHNICAL_TERMS) {
      const ids = this.#ids.get(formOf(name).key);
      if (ids === undefined) continue;
      for (const alias of aliases) {
        const { key } = formOf(alias);
        if (!this.#ids.has(key)) this.#ids.set(key, ids);
      }
    }
    for (const entity of graph.entities.values()) {
      const first = entity.id[0] ?? '';
      const own = this.#byFirst.get(first) ?? [];
      own.push(entity.id);
      this.#byFirst.set(first, own);
    }
  }

  /** Entities of a name, an alias or an id; several for namesakes. */
  find(name: string): readonly GraphEntity[] {
    const byId = this.#graph.entities.get(name);
    if (byId !== undefined) return [byId];
    const { key } = this.#formOf(name);
    return this.#entities(this.#ids.get(key) ?? []);
  }

  /** The entity of a name that may be mistyped or short; undefined where none is sure. */
  resolve(name: string, about = ''): GraphEntity | undefined {
    const [exact] = this.find(name);
    if (exact !== undefined) return exact;
    const { key } = this.#formOf(name);
    const near = (this.#byFirst.get(key[0] ?? '') ?? []).filter((id) => Math.abs(id.length - key.length) <= 3);
    const short = this.#withInitials(name);
    const candidates = this.#entities([...short, ...near.slice(0, MAX_COMPARED)]);
    const found = disambiguate(
      { name, about },
      candidates.map(({ id, name: own, aliases, descriptions }) => ({
        id,
        name: own,
        aliases,
        about: descriptions.join(' '),
      })),
      this.#simplify,
    );
    return found.verdict === 'same' && found.id !== undefined ? this.#graph.entities.get(found.id) : undefined;
  }

  /** Entities that stand in a question, in its order; of names inside of each other the longest. */
  named(question: string): readonly GraphEntity[] {
    const folded = foldText(this.#simplify === undefined ? question : this.#simplify(question));
    const words = [...runsOf(folded)].flatMap(({ text, kind }) =>
      kind === 'word' ? [{ text, isLetter: false }] : Array.from(text, (letter) => ({ text: letter, isLetter: true })),
    );
    const found: GraphEntity[] = [];
    for (let at = 0; at < words.length && found.length < MAX_NAMED; ) {
      const taken = this.#longestAt(words, at);
      found.push(...taken.entities);
      at += Math.max(1, taken.size);
    }
    return [...new Set(found)].slice(0, MAX_NAMED);
  }

  #longestAt(words: readonly { readonly text: string; readonly isLetter: boolean }[], at: number) {
    for (let size = Math.min(MAX_NAME_WORDS, words.length - at); size > 0; size -= 1) {
      const part = words.slice(at, at + size);
      const entities = this.#entities(this.#ids.get(part.map(({ text }) => text).join('')) ?? []);
      if (entities.length === 0) continue;
      const [first] = part;
      if (size === 1 && first !== undefined && !this.#isName(first, entities)) continue;
      return { entities, size };
    }
    return { entities: [], size: 0 };
  }

  /** Whether a single word of a question is likely to mean what has its name. */
  #isName({ text, isLetter }: { readonly text: string; readonly isLetter: boolean }, entities: readonly GraphEntity[]) {
    if (isLetter || STOP_WORDS.has(text) || /^\d{1,2}$/.test(text)) return false;
    const most = Math.max(...entities.map(({ documents }) => documents.length));
    return entities.some(({ titleOf }) => titleOf.length > 0) || most <= Math.max(20, this.#documents * COMMON_SHARE);
  }

  #withInitials(name: string): string[] {
    if (!/^\p{Lu}{2,8}$/u.test(name)) return [];
    const initials = name.toLowerCase();
    return [...this.#graph.entities.values()]
      .filter((entity) => this.#formOf(entity.name).initials === initials)
      .slice(0, MAX_COMPARED)
      .map(({ id }) => id);
  }

  #entities(ids: readonly string[]): GraphEntity[] {
    return ids.flatMap((id) => this.#graph.entities.get(id) ?? []);
  }
}
