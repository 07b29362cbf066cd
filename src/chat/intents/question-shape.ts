/** What kind of question it is, as far as its words tell: which ones one search may not answer. */
import { splitParts } from './split-parts.js';

/** `simple`: one search may answer it. */
export type QuestionShape = 'simple' | 'compound' | 'comparative' | 'relational' | 'multi-hop';

/** UTF-16 units of a question that are looked at. */
const MAX_LOOKED_AT = 2_000;

const COMPARATIVE = [
  /\b(?:compare[ds]?|comparison|comparing|versus|vs\.?|differ|differs|differences?|advantages? (?:of|over)|pros and cons|in contrast to)\b/i,
  /\b(?:which|who) (?:\S+ ){0,6}(?:\w+er|more \w+|less \w+|first),? \S.* or \S/i,
  /比较|对比|区别|差异|有(?:何|什么)不同|相比|优缺点|哪个更|哪一个更|孰/,
];

const RELATIONAL = [
  /\bhow (?:are|is|were|was) .+ (?:connected|related|linked|tied)\b/i,
  /\bhow (?:do|does|did) .+ relate\b/i,
  /\b(?:connections?|relations?|relationships?|links?|ties) between\b/i,
  /\b(?:to do with|in common)\b/i,
  /(?:之间|和.+|与.+)(?:有)?(?:什么|何|哪些)?(?:的)?(?:关系|关联|联系)|如何(?:关联|相连)|有何关联|共同点/,
];

/** How the parts of a compound question begin. */
const ASKS =
  /^(?:and |also |then |so )*(?:what|who|whom|whose|where|when|which|how|why|is|are|was|were|do|does|did|can|list|name|compare|explain|describe|tell|give|show)\b/i;
const ASKS_CHINESE = /什么|谁|哪|几|多少|怎么|怎样|如何|为什么|为何|吗|介绍|说明|列出|解释/;

/** What leads from one thing to another: "of Orion", "Orion's", "that Orion", "who wrote". */
const STEPS =
  /\b(?:of|behind|by|from) (?:the (?:\p{Ll}+ )?)?(?:\p{Lu}|["“«])|\bof the \p{Ll}+(?= (?:that|who|which|whose|where)\b)|\p{L}['’]s (?=\p{L})| (?:that|who|which|whose|where) /gu;
const BY_PROPERTY = /^(?:what|who)(?: (?:is|are|was|were)|['’]s)\b/i;
const BY_PLACE =
  /^(?:in |at |on |from |to )?(?:where|when|which|what|who|whose|how (?:many|much|old|long|far|tall|large|high))\b/i;
const OF_CHINESE = /[^的，,。\s]{2,}的/g;

/**
 * Tells by rules, in English and Chinese. `multi-hop` asks for something of a thing that is not named but described: "the town in which the writer of Orion
 * lives". What is none of the others is `simple`.
 */
export function shapeOf(question: string): QuestionShape {
  const text = question.normalize('NFKC').replace(/\s+/g, ' ').trim().slice(0, MAX_LOOKED_AT);
  if (COMPARATIVE.some((rule) => rule.test(text))) return 'comparative';
  if (RELATIONAL.some((rule) => rule.test(text))) return 'relational';
  const asking = splitParts(text).filter((part) => ASKS.test(part) || ASKS_CHINESE.test(part));
  if (asking.length > 1) return 'compound';
  return isMultiHop(text) ? 'multi-hop' : 'simple';
}

function isMultiHop(text: string): boolean {
  const isChinese = /\p{Script=Han}/u.test(text);
  if (isChinese) return (text.match(OF_CHINESE) ?? []).length > 1 && ASKS_CHINESE.test(text);
  if (!BY_PLACE.test(text)) return false;
  const steps = (text.match(STEPS) ?? []).length;
  // "What is the capital of France" takes one step, "where was the writer of Orion born" two.
  return steps > (BY_PROPERTY.test(text) ? 1 : 0);
}
