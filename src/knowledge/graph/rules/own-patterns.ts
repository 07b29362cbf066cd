/** Patterns of users for relations: read by `re2js`, which takes time that is linear in the text. */
import { hasHan } from '../../words/split-words.js';
import { UNWRITABLE } from '../given/problems.js';
import { isDeniedInChinese, isDoubtfulInChinese } from './chinese.js';
import { isDeniedInEnglish, isDoubtfulInEnglish } from './english.js';
import type { FindStated } from './extract-by-rules.js';
import { clausesOf } from './sentences.js';
import type { StatedRelation } from './stated-relation.js';

/** A pattern with the groups `source` and `target`, and the relation that it states. */
export interface OwnPattern {
  /** In the syntax of RE2: `(?P<source>[A-Z]\w+) is hosted on (?P<target>[A-Z]\w+)`. */
  readonly pattern: string;
  readonly relation: string;
}

/** What is used of a compiled pattern. */
interface Compiled {
  matcher(text: string): {
    find(): boolean;
    start(): number;
    end(): number;
    group(name: string): string | null;
  };
}

/** UTF-16 units of a pattern, and relations that one pattern finds in a sentence. */
const MAX_PATTERN = 500;
const MAX_FOUND = 50;
/** UTF-16 units before what fits in which English denies, as with our own patterns. */
const DENIED_BEFORE = 60;
const GROUPS = ['source', 'target'] as const;

/** Sentences that say nothing of two things: what fits all of a language fits everything. */
const PLAIN: readonly (readonly string[])[] = [
  [
    'The morning was cold and nothing moved.',
    'Please read both letters before noon!',
    'Seven boats left early that day.',
    'We saw him again in the old town.',
  ],
  ['今天早上天气很冷。', '请在中午以前看完两封信', '七条船很早就离开了港口。', '我们在老城又见到了他'],
];

/** Compiles a pattern, or says what is wrong with it. */
export async function compilePattern(
  pattern: string,
): Promise<{ readonly compiled?: Compiled; readonly problem?: string }> {
  if (pattern.trim() === '') return { problem: 'it is empty' };
  if (pattern.length > MAX_PATTERN)
    return { problem: `it has ${pattern.length} characters; at most ${MAX_PATTERN} are taken` };
  if (UNWRITABLE.test(pattern))
    return { problem: 'it holds a control character, or half of a character; write it as \\t, \\n or \\x{…}' };
  const { RE2JS } = await import('../../chunkers/re2js-library.js');
  try {
    const compiled = RE2JS.compile(pattern);
    const names = compiled.namedGroups();
    const lacking = GROUPS.filter((name) => names[name] === undefined);
    if (lacking.length > 0)
      return { problem: `it has no group "${lacking.join('" and no group "')}", written (?P<${lacking[0]}>…)` };
    if (compiled.matcher('').find()) return { problem: 'it fits an empty text, and so everything' };
    const fitsAll = PLAIN.some((sentences) => sentences.every((text) => compiled.matcher(text).find()));
    if (fitsAll) return { problem: 'it fits every sentence; put words into it that state the relation' };
    return { compiled };
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    return { problem: `it cannot be read: ${why}; write it in the syntax of RE2, without references and look-around` };
  }
}

/** Finds what patterns state in sentences. What cannot be compiled any more finds nothing. */
export async function findByPatterns(patterns: readonly OwnPattern[]): Promise<FindStated> {
  const ready: { readonly compiled: Compiled; readonly relation: string }[] = [];
  for (const { pattern, relation } of patterns) {
    const { compiled } = await compilePattern(pattern);
    if (compiled !== undefined) ready.push({ compiled, relation });
  }
  return (sentence) => {
    if (ready.length === 0 || isDoubtful(sentence)) return [];
    return ready.flatMap(({ compiled, relation }) => statedBy(compiled, relation, sentence));
  };
}

function statedBy(compiled: Compiled, relation: string, sentence: string): StatedRelation[] {
  const stated: StatedRelation[] = [];
  const matcher = compiled.matcher(sentence);
  while (stated.length < MAX_FOUND && matcher.find()) {
    const [source, target] = GROUPS.map((name) => matcher.group(name)?.trim() ?? '') as [string, string];
    if (source === '' || target === '' || source === target) continue;
    if (!isDenied(sentence, matcher.start(), matcher.end())) stated.push({ source, relation, target });
  }
  return stated;
}

/** Questions and conditionals state nothing. */
function isDoubtful(sentence: string): boolean {
  return isDoubtfulInEnglish(sentence) || (hasHan(sentence) && isDoubtfulInChinese(sentence));
}

/** Whether what fits is denied: inside of it, or before it in its clause. */
function isDenied(sentence: string, start: number, end: number): boolean {
  const clause = clausesOf({ text: sentence, start: 0 })
    .filter((one) => one.start <= start)
    .at(-1);
  const from = Math.max(clause?.start ?? 0, start - DENIED_BEFORE);
  const text = sentence.slice(from, end);
  if (isDeniedInEnglish(text)) return true;
  return hasHan(text) && isDeniedInChinese(sentence.slice(Math.max(clause?.start ?? 0, start - 4), end));
}
