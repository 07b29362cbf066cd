/** Finds and reads references such as `{llm_0@content}`, `{{sys.query}}` and `{item.name}` in texts and parameters. */
import { wrongValue } from './wrong-value.js';

/** What a reference names. `path` holds the dot segments behind the root value, in order. */
export type Reference =
  | { readonly kind: 'output'; readonly component: string; readonly name: string; readonly path: readonly string[] }
  | { readonly kind: 'variable'; readonly key: string }
  | { readonly kind: 'alias'; readonly name: AliasName; readonly path: readonly string[] };

/** Short names that the nearest enclosing Iteration, Loop or Parallel body gives to its current values. */
export type AliasName = 'item' | 'index' | 'result';

/** A reference found in a text: `text` is the source from `start` to `end`, braces included. */
export interface ReferenceMatch {
  readonly reference: Reference;
  readonly start: number;
  readonly end: number;
  readonly text: string;
}

/** A piece of a text that is split at its references. */
export type TemplatePart =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'reference'; readonly reference: Reference; readonly text: string };

/** A run of opening braces with a reference in it; positions are offsets into the text. */
export interface BracedReference {
  readonly reference: Reference;
  /** How many braces open and close it; they need not be equal. */
  readonly openers: number;
  readonly closers: number;
  /** The end of the closing braces. */
  readonly end: number;
  /** The end of the closing braces that stand against opening ones; in a template the others are its own. */
  readonly balancedEnd: number;
}

// One class per part and no nesting, so that each attempt is linear in the word that it reads.
const NAME = /[A-Za-z0-9_:]+@[A-Za-z0-9_.-]+|(?:sys|env)\.[A-Za-z0-9_.]+|(?:item|index|result)(?:\.[A-Za-z0-9_.-]+)?/y;
const UPPER_NAMESPACE = /(?:sys|env)\.[A-Za-z0-9_.]+/iy;
const WORD = /[A-Za-z0-9_:]*/y;
const ALIAS = /^(item|index|result)(?:\.(.+))?$/s;
const NAMESPACE = /^(?:sys|env)\../is;

/**
 * Finds every reference in a text, in order and without overlap.
 *
 * Any number of braces counts, also with blanks or line ends between them and the name, and one more pair of brace
 * groups set off by blanks (`{ {a@b} }`). Closing braces beyond the opening ones count too, unless an open brace of the
 * text waits for them, as in `{"q": {a@b}}`. Blanks outside of the braces are never part of a match. The time is linear
 * in the length of the text, whatever it holds.
 */
export function findReferences(text: string): readonly ReferenceMatch[] {
  const found: ReferenceMatch[] = [];
  let from = 0;
  let waiting = 0;
  let counted = 0;
  for (let at = text.indexOf('{'); at !== -1; at = text.indexOf('{', from)) {
    const braced = matchReference(text, at);
    if (braced === undefined) {
      from = skipBraces(text, at, '{');
      continue;
    }
    waiting = countOpen(text, counted, at, waiting);
    const surplus = Math.max(0, braced.closers - braced.openers);
    const [start, end] = widen(text, at, braced.end - Math.min(surplus, waiting), counted);
    for (let outer = start; outer < at; outer++) if (text[outer] === '{') waiting--;
    found.push({ reference: braced.reference, start, end, text: text.slice(start, end) });
    counted = end;
    from = end;
  }
  return found;
}

/** Longest reference that a document may have, in characters without its braces. */
export const LONGEST_REFERENCE = 1_000;

/** What {@link measureReferences} counts. */
export interface ReferenceMeasures {
  /** References in braces. */
  readonly found: number;
  /** Groups of opening braces, also those of no reference. */
  readonly groups: number;
  /** Length of the longest reference, without its braces. */
  readonly longest: number;
}

/** Counts the references of a text and its groups of opening braces, up to one more than `most` groups. */
export function measureReferences(text: string, most: number): ReferenceMeasures {
  let found = 0;
  let groups = 0;
  let longest = 0;
  for (let at = text.indexOf('{'); at !== -1 && groups <= most; ) {
    groups += 1;
    const openEnd = skipBraces(text, at, '{');
    const nameStart = skipBlanks(text, openEnd);
    const nameEnd = nameStart + (readName(text, nameStart)?.length ?? 0);
    const isReference = nameEnd > nameStart && text[skipBlanks(text, nameEnd)] === '}';
    if (isReference) {
      found += 1;
      longest = Math.max(longest, nameEnd - nameStart);
    }
    at = text.indexOf('{', isReference ? nameEnd : openEnd);
  }
  return { found, groups, longest };
}

/** Splits a text into literals and references, in order; the texts of all parts joined are the text again. */
export function splitTemplate(text: string): readonly TemplatePart[] {
  const parts: TemplatePart[] = [];
  let from = 0;
  for (const match of findReferences(text)) {
    if (match.start > from) parts.push({ kind: 'text', text: text.slice(from, match.start) });
    parts.push({ kind: 'reference', reference: match.reference, text: match.text });
    from = match.end;
  }
  if (from < text.length) parts.push({ kind: 'text', text: text.slice(from) });
  return parts;
}

/**
 * Reads a whole parameter as one reference, with or without braces: `begin@x`, `{ begin@x }`, `{{sys.query}}`.
 *
 * Names may hold any character but blanks and braces here: the parameter is known to be a reference, so nothing else
 * can be meant. Gives undefined for every other text.
 */
export function parseReference(text: string): Reference | undefined {
  if (typeof text !== 'string') throw wrongValue('parseReference', 'text', 'a text', text);
  const name = normalizeReference(text);
  if (name === '' || /[\s{}]/.test(name)) return undefined;
  return toReference(name);
}

/** Strips all braces and blanks from both ends of a reference that is given as a whole parameter. */
export function normalizeReference(text: string): string {
  let start = 0;
  let end = text.length;
  while (start < end && isBraceOrBlank(text, start)) start++;
  while (end > start && isBraceOrBlank(text, end - 1)) end--;
  return text.slice(start, end);
}

/** Reads references at rising positions of one text. */
export interface ReferenceReader {
  /** Reads the braced reference that begins exactly at `at`. */
  readonly braced: (at: number) => BracedReference | undefined;
  /** Reads the text of the unbraced `component@name.path` that begins exactly at `at`. */
  readonly bare: (at: number) => string | undefined;
}

/** Builds a reader that remembers where nothing was found, so that asking at every position stays linear. */
export function createReferenceReader(text: string): ReferenceReader {
  let noBracedBefore = 0;
  let noBareBefore = 0;
  return {
    braced: (at) => {
      if (at < noBracedBefore) return undefined;
      const found = matchReference(text, at);
      if (found === undefined) noBracedBefore = skipBraces(text, at, '{');
      return found;
    },
    bare: (at) => {
      if (at < noBareBefore) return undefined;
      const name = readName(text, at);
      if (name?.includes('@')) return name;
      WORD.lastIndex = at;
      noBareBefore = at + (WORD.exec(text)?.[0].length ?? 0);
      return undefined;
    },
  };
}

/**
 * Tells a reference in the text of a template from braces of the template: `{{{a@b} | upper }}` lacks two closing braces,
 * which stand at the end of the tag. Short names in double braces are left to the template, which may have made them.
 */
export function belongsToText({ reference, openers, closers }: BracedReference): boolean {
  return reference.kind === 'alias' ? openers === 1 : openers - closers < 2;
}

/** Reads the braced reference that begins exactly at `at`; undefined when there is none. */
function matchReference(text: string, at: number): BracedReference | undefined {
  const openEnd = skipBraces(text, at, '{');
  if (openEnd === at) return undefined;
  const nameStart = skipBlanks(text, openEnd);
  const name = readName(text, nameStart);
  if (name === undefined) return undefined;
  const closeStart = skipBlanks(text, nameStart + name.length);
  const end = skipBraces(text, closeStart, '}');
  const reference = end === closeStart ? undefined : toReference(name);
  if (reference === undefined) return undefined;
  const openers = openEnd - at;
  const closers = end - closeStart;
  return { reference, openers, closers, end, balancedEnd: closeStart + Math.min(openers, closers) };
}

function readName(text: string, at: number): string | undefined {
  // Most braces of a text open no reference, and an attempt of the patterns takes ten times as long.
  if (!isWordCharacter(text.charCodeAt(at))) return undefined;
  for (const pattern of [NAME, UPPER_NAMESPACE]) {
    pattern.lastIndex = at;
    const name = pattern.exec(text)?.[0];
    if (name !== undefined) return name;
  }
  return undefined;
}

/** Whether a code unit is one with which a name may begin: a letter, a digit, `_` or `:`; NaN is none. */
function isWordCharacter(code: number): boolean {
  return (code >= 48 && code <= 58) || (code >= 65 && code <= 90) || code === 95 || (code >= 97 && code <= 122);
}

function toReference(name: string): Reference | undefined {
  const split = name.indexOf('@');
  if (split === 0) return undefined;
  if (split > 0) {
    const [root = '', ...path] = name.slice(split + 1).split('.');
    return { kind: 'output', component: name.slice(0, split), name: root, path };
  }
  const alias = ALIAS.exec(name);
  if (alias !== null) return { kind: 'alias', name: alias[1] as AliasName, path: alias[2]?.split('.') ?? [] };
  return NAMESPACE.test(name) ? { kind: 'variable', key: name } : undefined;
}

/** Takes in a further group of braces on both sides when blanks alone lie between: `{{ {a@b} }}`. */
function widen(text: string, start: number, end: number, floor: number): [number, number] {
  let before = start;
  while (before > floor && isSpace(text, before - 1)) before--;
  let outerStart = before;
  while (outerStart > floor && text[outerStart - 1] === '{') outerStart--;
  if (outerStart === before) return [start, end];
  let after = end;
  while (isSpace(text, after)) after++;
  const outerEnd = skipBraces(text, after, '}');
  return outerEnd === after ? [start, end] : [outerStart, outerEnd];
}

/** Counts the braces of a literal piece that are open at its end. */
function countOpen(text: string, start: number, end: number, open: number): number {
  let count = open;
  for (let i = start; i < end; i++) {
    if (text[i] === '{') count++;
    else if (text[i] === '}' && count > 0) count--;
  }
  return count;
}

function skipBraces(text: string, at: number, brace: '{' | '}'): number {
  let end = at;
  while (text[end] === brace) end++;
  return end;
}

function skipBlanks(text: string, at: number): number {
  let end = at;
  while (isBlank(text, end)) end++;
  return end;
}

function isSpace(text: string, at: number): boolean {
  return text[at] === ' ' || text[at] === '\t';
}

function isBlank(text: string, at: number): boolean {
  return isSpace(text, at) || text[at] === '\n' || text[at] === '\r' || text[at] === '\f';
}

function isBraceOrBlank(text: string, at: number): boolean {
  return text[at] === '{' || text[at] === '}' || isBlank(text, at);
}
