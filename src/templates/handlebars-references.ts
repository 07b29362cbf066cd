import { belongsToText, createReferenceReader, type Reference, type ReferenceReader } from '../dsl/reference.js';
import { EngineError } from '../errors.js';

/** A Handlebars template whose references Handlebars can read. */
export interface MarkedTemplate {
  readonly template: string;
  /** References inside of tags; number n is `@reference_n` in the template. */
  readonly inTags: readonly Reference[];
  /** Puts the texts of the other references in their places. */
  readonly fill: (content: string, textOf: (reference: Reference, written: string) => string) => string;
}

/** The private use area: characters without a meaning, one of which a template surely does not have. */
const FIRST_MARK = 0xe000;
const LAST_MARK = 0xf8ff;

/** Replaces references inside of tags by data names, and those in the text by marks that Handlebars passes on as text. */
export function markReferences(text: string): MarkedTemplate {
  const mark = unusedCharacter(text);
  const inTags: Reference[] = [];
  const inText: { readonly reference: Reference; readonly written: string }[] = [];
  const reader = createReferenceReader(text);
  let template = '';
  let from = 0;
  for (let at = text.indexOf('{'); at !== -1; at = text.indexOf('{', from)) {
    template += text.slice(from, at);
    const braced = reader.braced(at);
    if (braced !== undefined && belongsToText(braced)) {
      template += `${mark}${inText.length}${mark}`;
      inText.push({ reference: braced.reference, written: text.slice(at, braced.balancedEnd) });
      from = braced.balancedEnd;
    } else if (text.startsWith('{{', at)) {
      const tag = markTag(text, at, reader, inTags);
      template += tag.marked;
      from = tag.end;
    } else {
      template += '{';
      from = at + 1;
    }
  }
  const marks = new RegExp(`${mark}(\\d+)${mark}`, 'g');
  return {
    template: template + text.slice(from),
    inTags,
    fill: (content, textOf) =>
      content.replace(marks, (_, index: string) => {
        const { reference, written } = inText[Number(index)] as (typeof inText)[number];
        return textOf(reference, written);
      }),
  };
}

/** Copies a tag up to the braces that close it, outside of quotes and `[…]`, with data names for its references. */
function markTag(
  text: string,
  start: number,
  reader: ReferenceReader,
  inTags: Reference[],
): { marked: string; end: number } {
  if (text.startsWith('{{!', start)) {
    const end = behind(text, text.startsWith('{{!--', start) ? '--}}' : '}}', start);
    return { marked: text.slice(start, end), end };
  }
  let marked = '{{';
  let at = start + 2;
  while (at < text.length && !text.startsWith('}}', at)) {
    const char = text[at] as string;
    const braced = char === '{' ? reader.braced(at) : undefined;
    if (braced !== undefined) {
      marked += `@reference_${inTags.push(braced.reference) - 1}`;
      at = braced.balancedEnd;
      continue;
    }
    const end =
      char === '"' || char === "'" ? behind(text, char, at + 1) : char === '[' ? behind(text, ']', at) : at + 1;
    marked += text.slice(at, end);
    at = end;
  }
  const end = at + (/^\}+/.exec(text.slice(at, at + 8))?.[0].length ?? 0);
  return { marked: marked + text.slice(at, end), end };
}

function behind(text: string, end: string, from: number): number {
  const at = text.indexOf(end, from);
  return at === -1 ? text.length : at + end.length;
}

function unusedCharacter(text: string): string {
  for (let code = FIRST_MARK; code <= LAST_MARK; code++) {
    const char = String.fromCharCode(code);
    if (!text.includes(char)) return char;
  }
  throw new EngineError(
    'TEMPLATE_INVALID',
    'The template uses every private character of Unicode. Take some of them out.',
  );
}
