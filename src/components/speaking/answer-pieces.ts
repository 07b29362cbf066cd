import { concat, defer, EMPTY, from, type MonoTypeOperatorFunction, Observable, tap } from 'rxjs';
import { type Reference, splitTemplate, type TemplatePart } from '../../dsl/reference.js';
import type { Activation } from '../../graph/node.js';
import { type Delta, delta } from '../../graph/node-events.js';
import { addTo } from '../../group-by.js';
import { isJinja, type TemplateEngine } from '../../templates/template.js';
import { nameReference, type TextReader } from '../values/text-reader.js';
import { type Downloads, filesAlone } from './files.js';
import { splitThinkTags, THINK_OPEN } from './think-text.js';

/** The output whose text may come live. */
const LIVE_OUTPUT = 'content';

/** A stretch of an answer: what can be written at once, or one reference whose text may come live. */
export type Stretch =
  | { readonly kind: 'settled'; readonly parts: readonly TemplatePart[] }
  | { readonly kind: 'live'; readonly name: string; readonly reference: Reference };

/** One text of an answer, ready to be spoken. */
export type AnswerTemplate =
  | { readonly kind: TemplateEngine; readonly text: string }
  | {
      readonly kind: 'stretches';
      readonly stretches: readonly Stretch[];
      /** Names of live references that stand more than once; further on they belong to settled stretches. */
      readonly repeated: ReadonlySet<string>;
    };

/**
 * Reads a text once, so that every run of it only goes through its stretches. `live` names what is read live; with `none`
 * the text comes in one piece and is always a template, as in RAGFlow, also without tags.
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

/** What an answer is made from. */
export interface AnswerSources {
  readonly activation: Activation;
  /** Its values are rendered by `downloads.take`. */
  readonly reader: TextReader;
  readonly downloads: Downloads;
}

/**
 * The text of an answer piece by piece, in the order of its template: what is settled at once, live text as it comes.
 * Synchronous when nothing is live.
 *
 * ```text
 * template  "A:{l@content}:Z"
 * l         --x--y--|
 * result    A-x--y--(Z|)
 * ```
 *
 * Thinking comes on the port `thinking`, also from text with think tags. A text that stands twice is read once.
 */
export function answerPieces(template: AnswerTemplate, sources: AnswerSources): Observable<Delta> {
  if (template.kind !== 'stretches') {
    return from(splitThinkTags(sources.reader.render(template.text, template.kind)));
  }
  const { stretches, repeated } = template;
  const [first] = stretches;
  if (first === undefined) return EMPTY;
  const firstTexts: FirstTexts = new Map();
  if (stretches.length === 1 && first.kind === 'settled') return from(settledPieces(first.parts, sources, firstTexts));
  return concat(
    ...stretches.map((stretch) =>
      defer(() => {
        if (stretch.kind === 'settled') return settledPieces(stretch.parts, sources, firstTexts);
        const pieces$ = livePieces(stretch.name, stretch.reference, sources);
        return repeated.has(stretch.name)
          ? pieces$.pipe(tap((piece) => addTo(firstTexts, stretch.name, piece)))
          : pieces$;
      }),
    ),
  );
}

/** What repeated references gave the first time, by name. */
type FirstTexts = Map<string, Delta[]>;

function livePieces(name: string, reference: Reference, { activation, downloads, reader }: AnswerSources) {
  const lookup = reader.lookup(reference);
  // Only a text can have come live; files are offered and not spoken.
  if (lookup.status === 'found' && (typeof lookup.value !== 'string' || filesAlone(lookup.value) !== undefined)) {
    return from(splitThinkTags(downloads.take(lookup.value)));
  }
  return activation.stream(name).pipe(cutAtThinkTags());
}

/** The text of parts that can be read at once, neighbours of one port joined. */
function settledPieces(parts: readonly TemplatePart[], { reader }: AnswerSources, firstTexts: FirstTexts): Delta[] {
  const pieces: Delta[] = [];
  const add = (piece: Delta): void => {
    const last = pieces.at(-1);
    if (last?.port === piece.port) pieces[pieces.length - 1] = delta(last.port, last.text + piece.text);
    else if (piece.text !== '') pieces.push(piece);
  };
  for (const part of parts) {
    if (part.kind === 'text') add(delta('content', part.text));
    else {
      const { reference, text } = part;
      const known = firstTexts.get(nameReference(reference));
      for (const piece of known ?? piecesOf(reader.textOf(reference, text), reference)) add(piece);
    }
  }
  return pieces;
}

/** Think tags have a meaning in outputs of nodes; in texts of a user they are characters. */
function piecesOf(text: string, reference: Reference): Delta[] {
  return reference.kind === 'output' ? splitThinkTags(text) : [delta('content', text)];
}

/** Cuts pieces at think tags, which a text has that was settled before it was read; drops empty pieces. */
function cutAtThinkTags(): MonoTypeOperatorFunction<Delta> {
  return (source) =>
    new Observable((subscriber) =>
      source.subscribe({
        next: (piece) => {
          if (piece.text === '') return;
          if (piece.port !== 'content' || !piece.text.includes(THINK_OPEN)) subscriber.next(piece);
          else for (const part of splitThinkTags(piece.text)) subscriber.next(part);
        },
        error: (error) => subscriber.error(error),
        complete: () => subscriber.complete(),
      }),
    );
}
