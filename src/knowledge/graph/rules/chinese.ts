/** Relations that Chinese sentences state, by the verb between two phrases. */
import type { Span } from './sentences.js';
import type { StatedClause } from './stated-relation.js';

/** A way to say a relation; groups 1 and 2 are the phrases around it. */
interface ChinesePattern {
  readonly relation: string;
  readonly pattern: RegExp;
  readonly isReversed?: boolean;
}

const MAYBE = '(?:也|还|都|则|会|可以|能够|能|可|主要|直接|默认|已经|已|将|同时|目前|正在|全面|完全)*';

/** The seven relations of Chinese; passive forms first. */
const PATTERNS: readonly ChinesePattern[] = [
  {
    relation: 'replaces',
    pattern: /^(.+?)(?:已经|已|将)?(?:被|由)(.+?)(?:所)?(?:替代|取代|代替|替换)了?(?:。|$)/u,
    isReversed: true,
  },
  { relation: 'uses', pattern: /^(.+?)被(.+?)(?:所)?(?:使用|采用)了?(?:。|$)/u, isReversed: true },
  { relation: 'includes', pattern: /^(.+?)被包含(?:在|于)(.+?)(?:之?中|里)?$/u, isReversed: true },
  { relation: 'evolves_into', pattern: /^(.+?)(?:是)?(?:由|从)(.+?)演进(?:而来|来的|而成)/u, isReversed: true },
  { relation: 'evolves_into', pattern: new RegExp(`^(.*?)${MAYBE}(?:逐步|逐渐)?演进(?:为|到|成|至)了?(.+)$`, 'u') },
  {
    relation: 'integrates_with',
    pattern: new RegExp(`^(?:将)?(.+?)${MAYBE}(?:与|和|同|跟)(.+?)(?:相|进行|深度|的)?融合`, 'u'),
  },
  { relation: 'integrates_with', pattern: new RegExp(`^(.*?)${MAYBE}融合了?(.+)$`, 'u') },
  { relation: 'includes', pattern: new RegExp(`^(.*?)${MAYBE}(?:包含|包括)了?(.+)$`, 'u') },
  { relation: 'supports', pattern: new RegExp(`^(.*?)${MAYBE}支持(?!者|度)(.+)$`, 'u') },
  { relation: 'depends_on', pattern: new RegExp(`^(.*?)${MAYBE}依赖(?:于|着)?(?!项|性|关系)(.+)$`, 'u') },
  { relation: 'replaces', pattern: new RegExp(`^(.*?)${MAYBE}(?:替代|取代|代替)了?(.+)$`, 'u') },
  { relation: 'uses', pattern: new RegExp(`^(.*?)${MAYBE}(?:使用|采用)了?(?!者|率)(.+)$`, 'u') },
  { relation: 'is_a', pattern: /^(.+?)是(?:一种|一个|一款|一项|一类|一门|一套)(.+)$/u },
];

const NEGATION = /不|没|未|无法|无需|并非|从未|毫无|非/u;
/** What denies at the end of a subject. */
const DENIED_END = /(?:并不|并未|并没有|不再|从不|从未|不|没有|没|未|并)$/u;
const DOUBT = /如果|假如|假设|倘若|要是|若|一旦|除非|只要|只有|万一|否则|可能|也许|或许|是否|能否|可否/u;
const QUESTION = /[?？]["”』」）)]*$|吗[。！]?$|呢[。！]?$|什么|哪些|哪个|为何|如何|怎么|怎样|谁/u;

const LEAD =
  /^(?:其中|因此|所以|目前|现在|同时|另外|此外|并且|并|而且|而|也|还|都|则|会|例如|比如|其实|当前|默认情况下|该|这个|那个|这种|一种|一个|一款|多种|多个|各种|了|着|过|到|为|成|于|对|在|由|将|把|和|与|以及)+/u;
const TAIL = /(?:等(?:等|功能|技术|组件|模块|协议|格式|数据库)?|之间|之中|中|里|内部|的时候|时|后|进行|所|已经|已)+$/u;
const PRONOUN = /^(?:它们?|这|那|其|我们|他们?|她们?|你们?|此|该|本|大家|有些|一些|这些|那些|两者|二者)(?:的|是)?$/u;
const OBJECT_END = /[，,。；;：:！!（(]|来(?=[^源])|进行|作为|用于|以便|以(?!及|太)|从而|实现|并且|并(?!行|发)|的方式/u;

/** Letters of a phrase that is no known name. */
const MAX_PHRASE = 24;

/** Whether a sentence asks, or says what may be. */
export function isDoubtfulInChinese(sentence: string): boolean {
  return QUESTION.test(sentence) || DOUBT.test(sentence);
}

/** Whether a part of a sentence denies. */
export function isDeniedInChinese(text: string): boolean {
  return NEGATION.test(text);
}

/** The relations of a clause; one that begins with its verb is about the subject of the clause before. */
export function chineseRelations(clause: Span, sentence: Span, subject: string | undefined): StatedClause {
  if (isDoubtfulInChinese(sentence.text)) return { relations: [] };
  const text = clause.text.replace(/[。！!；;]+$/u, '').trim();
  for (const { relation, pattern, isReversed = false } of PATTERNS) {
    const match = pattern.exec(text);
    if (match === null) continue;
    const [, before = '', after = ''] = match;
    const between = text.slice(before.length, text.length - after.length);
    const isDenied = NEGATION.exec(before.slice(-4)) ?? NEGATION.exec(between);
    const own = phrasesOf(before.replace(DENIED_END, ''));
    if (isDenied !== null) return { relations: [], subject: own[0] };
    const sources = own.length > 0 || subject === undefined || before.trim() !== '' ? own : [subject];
    const targets = phrasesOf(after.split(OBJECT_END)[0] ?? '');
    const relations = sources.flatMap((source) =>
      targets.flatMap((target) => {
        if (source === target) return [];
        return [isReversed ? { source: target, relation, target: source } : { source, relation, target }];
      }),
    );
    return { relations, subject: sources[0] };
  }
  return { relations: [] };
}

/** The clauses of a sentence between commas, with their places. */
export function chineseClauses({ text, start }: Span): Span[] {
  const clauses: Span[] = [];
  for (const { 0: part, index } of text.matchAll(/[^，,；;]+/gu))
    if (part.trim() !== '') clauses.push({ text: part.trim(), start: start + index });
  return clauses;
}

/** The phrases of a list. */
function phrasesOf(text: string): string[] {
  return text.split(/、|以及|及|和|与|或者|或|\s+(?:and|or)\s+/u).flatMap((part) => {
    const phrase = part
      .trim()
      .replace(LEAD, '')
      .replace(TAIL, '')
      .replace(/^[的\s]+|[的了\s]+$/gu, '')
      .trim();
    const isOne = phrase !== '' && phrase.length <= MAX_PHRASE && !PRONOUN.test(phrase);
    return isOne ? [phrase.replace(/^[“"「《『]|[”"」》』]$/gu, '')] : [];
  });
}
