import { concat, defer, EMPTY, from, type MonoTypeOperatorFunction, Observable, tap } from 'rxjs';
import type { Reference, TemplatePart } from '../../dsl/reference.js';
import type { Activation } from '../../graph/component.js';
import { type Delta, delta } from '../../graph/node-events.js';
import { nameReference, type TextReader } from '../values/text-reader.js';
import type { AnswerTemplate } from './answer-template.js';
import { type Downloads, filesAlone } from './downloads.js';
import { splitThinkMarks, THINK_OPEN } from './think-text.js';

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
 * Thinking comes on the port `thinking`, also from text with think marks. A text that stands twice is read once.
 */
export function answerPieces(template: AnswerTemplate, sources: AnswerSources): Observable<Delta> {
  if (template.kind === 'jinja') return from(splitThinkMarks(sources.reader.readJinja(template.text)));
  const { stretches, repeated } = template;
  const [first] = stretches;
  if (first === undefined) return EMPTY;
  const heard: Heard = new Map();
  if (stretches.length === 1 && first.kind === 'settled') return from(settledPieces(first.parts, sources, heard));
  return concat(
    ...stretches.map((stretch) =>
      defer(() => {
        if (stretch.kind === 'settled') return settledPieces(stretch.parts, sources, heard);
        const pieces$ = livePieces(stretch.name, stretch.reference, sources);
        return repeated.has(stretch.name)
          ? pieces$.pipe(tap((piece) => remember(heard, stretch.name, piece)))
          : pieces$;
      }),
    ),
  );
}

/** What repeated references gave the first time, by name. */
type Heard = Map<string, Delta[]>;

function remember(heard: Heard, name: string, piece: Delta): void {
  const pieces = heard.get(name);
  if (pieces === undefined) heard.set(name, [piece]);
  else pieces.push(piece);
}

function livePieces(name: string, reference: Reference, { activation, downloads, reader }: AnswerSources) {
  const lookup = activation.lookup(name);
  if (lookup.status === 'unresolved' || lookup.status === 'undeclared') reader.unresolved(reference, lookup);
  // Only a text can have come live; files are offered and not spoken.
  if (lookup.status === 'found' && (typeof lookup.value !== 'string' || filesAlone(lookup.value) !== undefined)) {
    return from(splitThinkMarks(downloads.take(lookup.value)));
  }
  return activation.stream(name).pipe(cutMarks());
}

/** The text of parts that can be read at once, neighbours of one port joined. */
function settledPieces(parts: readonly TemplatePart[], { reader }: AnswerSources, heard: Heard): Delta[] {
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
      const known = heard.get(nameReference(reference));
      for (const piece of known ?? piecesOf(reader.textOf(reference, text), reference)) add(piece);
    }
  }
  return pieces;
}

/** Think marks have a meaning in what a node gave; a user who writes them means the characters. */
function piecesOf(text: string, reference: Reference): Delta[] {
  return reference.kind === 'output' ? splitThinkMarks(text) : [delta('content', text)];
}

/** Cuts pieces at think marks, which a text has that was settled before it was read; drops empty pieces. */
function cutMarks(): MonoTypeOperatorFunction<Delta> {
  return (source) =>
    new Observable((subscriber) =>
      source.subscribe({
        next: (piece) => {
          if (piece.text === '') return;
          if (piece.port !== 'content' || !piece.text.includes(THINK_OPEN)) subscriber.next(piece);
          else for (const part of splitThinkMarks(piece.text)) subscriber.next(part);
        },
        error: (error) => subscriber.error(error),
        complete: () => subscriber.complete(),
      }),
    );
}
