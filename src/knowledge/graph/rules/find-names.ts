/** Names in a text: terms of a dictionary, quoted and capitalised names, stages, layers and priorities. */
import { STOP_WORDS } from '../../words/stop-words.js';
import { MAX_NAME } from '../facts.js';
import type { Span } from './sentences.js';
import type { TechnicalTerm } from './technical-terms.js';

/** A name where it stands. */
export interface FoundName {
  /** As the dictionary writes it, else as the text does. */
  readonly name: string;
  readonly type: string;
  readonly start: number;
  readonly end: number;
  /** Whether its only sign is a capital letter at the beginning of a sentence. */
  readonly isWeak: boolean;
  /** Whether no longer name takes its place. @default false */
  readonly isWhole?: boolean;
}

/** Finds names. */
export interface NameFinder {
  /** Names of a sentence in their order, none inside of another. */
  namesIn(sentence: Span): FoundName[];
}

interface Entry {
  readonly name: string;
  readonly type: string;
  /** As it is looked for. */
  readonly form: string;
  readonly isExact: boolean;
}

/** Terms that are words of other meanings unless they are written as they are. */
const EXACT_FORMS: ReadonlySet<string> = new Set('Fusion React Git MAP MRR SCP Caddy Koa Llama LLM RAG S3'.split(' '));

const WORD_LETTER = /[\p{L}\p{N}_]/u;
const SPACELESS = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}]/u;

/** A word of a script with spaces, with the marks that may stand inside of it. */
const LETTER = '(?![\\p{Script=Han}\\p{Script=Hiragana}\\p{Script=Katakana}])[\\p{L}\\p{N}]';
const WORD = new RegExp(`${LETTER}(?:(?:['’_.+#&/-]*${LETTER})*[+#]*)`, 'gu');

/** Small words inside of names. */
const LINK = /^\s+(?:(?:of|de|du|da|di|van|von|der|den|la|le|el|al|bin)\s+(?:(?:the|der|la)\s+)?)?$/;

const QUOTED = /“([^”\n]{2,60})”|"([^"\s][^"\n]{0,58}[^"\s])"|[「『]([^」』\n]{1,60})[」』]|《([^》\n]{1,60})》/gu;

/** Names that are a kind and a number. */
const NUMBERED: readonly (readonly [type: string, pattern: RegExp])[] = [
  [
    'stage',
    /\b(?:Stage|Phase)\s+(?:\d+|[A-Z])\b|(?:第?[一二三四五六七八九十\d]+阶段|阶段\s*[一二三四五六七八九十\d]+)/gu,
  ],
  ['shortcut', /\bShortcut\s+(?:\d+|[A-Z])\b|短路\s*[A-Z\d]\b/gu],
  ['layer', /\bLayer\s+(?:\d+|[A-Z])\b|\bL\d\b|第[一二三四五六七八九十\d]+层/gu],
  ['priority', /\bP[0-4]\b/gu],
];

/** Capitalised words that name a time, or begin sentences. */
const NO_NAMES: ReadonlySet<string> = new Set(
  'january february march april may june july august september october november december monday tuesday wednesday thursday friday saturday sunday today yesterday tomorrow however therefore moreover furthermore finally then thus also although because since while after before during according many most some several both another each every such one two three first second third here there note see let please yes no'.split(
    ' ',
  ),
);

/** Makes what finds names, of terms whose aliases count as they do. */
export function createNameFinder(terms: readonly TechnicalTerm[]): NameFinder {
  const entries = new Map<string, Entry[]>();
  for (const { name, type, aliases = [] } of terms) {
    for (const written of [name, ...aliases]) {
      const isExact = EXACT_FORMS.has(written) || /^.{1,2}$/u.test(written);
      const form = isExact ? written : written.toLowerCase();
      if (form === '') continue;
      const first = form[0] as string;
      const own = entries.get(first) ?? [];
      own.push({ name, type, form, isExact });
      entries.set(first, own);
    }
  }
  for (const own of entries.values()) own.sort((left, right) => right.form.length - left.form.length);
  return {
    namesIn: ({ text, start }) => {
      const found = [
        ...knownNames(text, entries),
        ...numberedNames(text),
        ...quotedNames(text),
        ...capitalisedNames(text),
      ];
      return withoutOverlaps(found).map((one) => ({ ...one, start: one.start + start, end: one.end + start }));
    },
  };
}

function* knownNames(text: string, entries: ReadonlyMap<string, readonly Entry[]>): Generator<FoundName> {
  const lower = text.toLowerCase();
  // Letters whose lower case is longer would move all places behind them.
  const folded = lower.length === text.length ? lower : text;
  for (let at = 0; at < text.length; at += 1) {
    const before = text[at - 1];
    const here = text[at] as string;
    if (before !== undefined && joins(before, here)) continue;
    const candidates = [
      ...(entries.get(here) ?? []),
      ...(folded[at] === here ? [] : (entries.get(folded[at] ?? '') ?? [])),
    ];
    const entry = candidates.find(({ form, isExact }) => {
      const after = text[at + form.length];
      const isThere = (isExact ? text : folded).startsWith(form, at);
      return isThere && !(after !== undefined && joins(form.at(-1) as string, after));
    });
    if (entry === undefined) continue;
    const { name, type, form } = entry;
    yield { name, type, start: at, end: at + form.length, isWeak: false };
    at += form.length - 1;
  }
}

/** Whether two neighbouring letters are of one word. */
function joins(left: string, right: string): boolean {
  return WORD_LETTER.test(left) && WORD_LETTER.test(right) && !SPACELESS.test(left) && !SPACELESS.test(right);
}

function* numberedNames(text: string): Generator<FoundName> {
  for (const [type, pattern] of NUMBERED) {
    for (const { 0: name, index: start } of text.matchAll(pattern))
      yield { name: name.replace(/\s+/g, ' '), type, start, end: start + name.length, isWeak: false, isWhole: true };
  }
}

function* quotedNames(text: string): Generator<FoundName> {
  for (const match of text.matchAll(QUOTED)) {
    const inner = match.slice(1).find((one) => one !== undefined) ?? '';
    const name = inner.trim().replace(/[,.，。]$/u, '');
    if (!/[\p{L}\p{N}]/u.test(name) || name.split(/\s+/).length > 8 || /[.!?。！？]\s/u.test(name)) continue;
    const start = match.index + match[0].indexOf(name);
    yield { name, type: 'concept', start, end: start + name.length, isWeak: false };
  }
}

interface Word {
  readonly text: string;
  readonly start: number;
  readonly isName: boolean;
}

function* capitalisedNames(text: string): Generator<FoundName> {
  const words = [...text.matchAll(WORD)].map(
    ({ 0: word, index: start }): Word => ({ text: word, start, isName: isCapitalised(word) }),
  );
  const isRow = (left: Word, right: Word): boolean =>
    LINK.test(text.slice(left.start + left.text.length, right.start)) && (right.isName || isNumber(right.text));
  for (let at = 0; at < words.length; at += 1) {
    const first = words[at] as Word;
    const next = words[at + 1];
    const isYear = /^\d{4}$/.test(first.text) && next?.isName === true && isRow(first, next);
    if (!first.isName && !isYear) continue;
    let last = at;
    for (;;) {
      const following = words.slice(last + 1, last + 4);
      const step = following.findIndex((word) => isRow(words[last] as Word, word));
      if (step < 0) break;
      last += step + 1;
    }
    const isFirst = !/[\p{L}\p{N}]/u.test(text.slice(0, first.start));
    let begin = at;
    while (begin <= last && STOP_WORDS.has((words[begin] as Word).text.toLowerCase())) begin += 1;
    at = last;
    if (begin > last) continue;
    const [opening, closing] = [words[begin] as Word, words[last] as Word];
    const end = closing.start + closing.text.length;
    const name = text
      .slice(opening.start, end)
      .replace(/['’]s?$/u, '')
      .replace(/\s+/g, ' ');
    if (name.length < 2 || name.length > MAX_NAME || isNumber(name)) continue;
    if (begin === last && NO_NAMES.has(name.toLowerCase())) continue;
    const isWeak = isFirst && begin === last && /^\p{Lu}[\p{Ll}'’-]*$/u.test(name);
    yield { name, type: 'concept', start: opening.start, end: opening.start + name.length, isWeak };
  }
}

function isCapitalised(word: string): boolean {
  return /^\p{Lu}/u.test(word) || /^\p{Ll}+\p{Lu}/u.test(word);
}

function isNumber(word: string): boolean {
  return /^[\d.,]+$/.test(word);
}

/** Of names that overlap the first kind, as the kinds stand in order of what they know; then in order of their places. */
function withoutOverlaps(found: readonly FoundName[]): FoundName[] {
  const kept: FoundName[] = [];
  for (const one of found) {
    // A longer capitalised name that holds a term is the name: "Redis Labs" is not Redis.
    const inside = kept.filter(({ start, end }) => one.start < end && start < one.end);
    if (inside.length === 0) kept.push(one);
    else if (inside.every((smaller) => smaller.isWhole !== true && isInside(smaller, one))) {
      for (const smaller of inside) kept.splice(kept.indexOf(smaller), 1);
      kept.push(one);
    }
  }
  return kept.sort((left, right) => left.start - right.start);
}

function isInside(smaller: FoundName, larger: FoundName): boolean {
  const isPart = larger.start <= smaller.start && smaller.end <= larger.end;
  return isPart && smaller.end - smaller.start < larger.end - larger.start;
}
