import { type Reference, splitTemplate, type TemplatePart } from '../../dsl/reference.js';
import { isJinja } from '../../templates/template.js';
import { nameReference } from '../values/text-reader.js';

/** The output whose text may come live. */
const LIVE_OUTPUT = 'content';

/** A stretch of an answer: what can be written at once, or one reference whose text may come live. */
export type Stretch =
  | { readonly kind: 'settled'; readonly parts: readonly TemplatePart[] }
  | { readonly kind: 'live'; readonly name: string; readonly reference: Reference };

/** One text of an answer, ready to be spoken. */
export type AnswerTemplate =
  | { readonly kind: 'jinja'; readonly text: string }
  | {
      readonly kind: 'stretches';
      readonly stretches: readonly Stretch[];
      /** Names of live references that stand more than once; further on they belong to settled stretches. */
      readonly repeated: ReadonlySet<string>;
    };

/**
 * Reads a text once, so that every run of it only goes through its stretches. `live` names what is read live, or says that
 * nothing is: then the text is said in one piece and is always a template, as in RAGFlow, also without tags.
 */
export function parseAnswer(text: string, live: ReadonlySet<string> | 'none'): AnswerTemplate {
  if (live === 'none' || isJinja(text)) return { kind: 'jinja', text };
  const stretches: Stretch[] = [];
  let parts: TemplatePart[] = [];
  const uses = new Map<string, number>();
  for (const part of splitTemplate(text)) {
    const name = part.kind === 'reference' ? nameReference(part.reference) : '';
    const earlier = uses.get(name) ?? 0;
    uses.set(name, earlier + 1);
    // From the second time on the text is known.
    if (part.kind === 'text' || !live.has(name) || earlier > 0) {
      parts.push(part);
      continue;
    }
    if (parts.length > 0) stretches.push({ kind: 'settled', parts });
    parts = [];
    stretches.push({ kind: 'live', name, reference: part.reference });
  }
  if (parts.length > 0) stretches.push({ kind: 'settled', parts });
  const repeated = new Set([...uses].filter(([name, count]) => live.has(name) && count > 1).map(([name]) => name));
  return { kind: 'stretches', stretches, repeated };
}

/**
 * The references that texts can be spoken from while they come: `node@content`.
 *
 * Not those of a node of which a text reads anything else, because that is only there when the node has ended; and none
 * at all beside a template, which needs every text whole.
 */
export function liveReferences(texts: readonly string[]): string[] {
  if (texts.some(isJinja)) return [];
  const namesByNode = new Map<string, Set<string>>();
  for (const part of texts.flatMap((text) => splitTemplate(text))) {
    if (part.kind !== 'reference' || part.reference.kind !== 'output') continue;
    const { component } = part.reference;
    const names = namesByNode.get(component) ?? new Set();
    namesByNode.set(component, names.add(nameReference(part.reference)));
  }
  const isLive = ([node, names]: [string, Set<string>]) => names.size === 1 && names.has(`${node}@${LIVE_OUTPUT}`);
  return [...namesByNode].filter(isLive).map(([node]) => `${node}@${LIVE_OUTPUT}`);
}
