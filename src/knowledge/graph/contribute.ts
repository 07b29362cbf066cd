/** What a chunk contributes to a graph without a model. */
import { type Contribution, LINKS_TO, MAX_NAME } from './facts.js';
import { titleName } from './graph-session.js';
import type { ExtractByRules } from './rules/extract-by-rules.js';

/** A chunk as layers read it. */
export interface ReadChunk {
  readonly text: string;
  /** Name of its document, or the title that a document tells. */
  readonly title: string;
  /** Whether it is the first of its document, which its title is about most. */
  readonly isFirst: boolean;
}

/** The layer `links`: the title as a name, and the names in the text, which count where they are a title. */
export function linksOf({ text, title, isFirst }: ReadChunk, rules: ExtractByRules): Contribution {
  const name = titleName(title);
  const names = rules(text).mentions;
  if (name === '' || name.length > MAX_NAME) return { mentions: names, relations: [] };
  const own = isFirst ? [{ name, type: 'concept', start: 0, end: 0, isTitle: true }] : [];
  const relations = names
    .filter((mention) => mention.name !== name)
    .map(({ name: target }) => ({
      source: name,
      target,
      relation: LINKS_TO,
      description: '',
      weight: 1,
      isExplicit: true,
    }));
  return { mentions: [...own, ...names], relations: isFirst ? relations : [] };
}
