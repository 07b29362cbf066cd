/** Questions made fit for a search by rules: pronouns, spoken words, questions for several things. */
import { languageOf, plainText } from '../intents/utterance.js';
import type { PastMessage } from './stage-result.js';

/** Rewrites of one question at most. */
export const MAX_REWRITES = 3;

/** UTF-16 units of a question that rules rewrite; what is longer is searched for as it is. */
const MAX_LENGTH = 1_000;
/** Messages of the last three turns. */
export const REWRITE_HISTORY = 6;

const FILLERS_ZH =
  /^(?:请问一下|请问|麻烦问一下|麻烦你|麻烦|我想问一下|我想问问|我想问|我想知道|我想了解一下|我想了解|想问一下|想问|想知道|你好|您好|那个|就是说|就是|嗯|呃|帮我|请|能不能|能否|可不可以|可以)+[, ]*(?:告诉我|说说|讲讲|解释一下|介绍一下|看看)?(?:一下)?[, ]*/;
const TONE_ZH = /(?:呢|啊|吧|嘛|呀|哦|哈|啦|了吗|好吗|行吗|谢谢|多谢)+$/;
const FILLERS_EN =
  /^(?:(?:hi|hey|hello|um|uh|so|well|ok|okay|please|pls|by the way|actually|basically|just),? )*(?:(?:could|can|would|will) you (?:please )?(?:tell me|explain(?: to me)?|show me|describe|let me know)(?: about)? |i (?:was wondering|wonder|want to know|would like to know|need to know)(?: about)?,? |i'd like to know(?: about)?,? |do you know |tell me(?: about)? )?(?:please )?/i;
const SPOKEN_ZH: readonly (readonly [RegExp, string])[] = [
  [/为啥|咋会|为毛/g, '为什么'],
  [/咋样/g, '怎么样'],
  [/咋|怎样才能|要怎么/g, '怎么'],
  [/啥时候/g, '什么时候'],
  [/啥/g, '什么'],
  [/干嘛/g, '做什么'],
  [/有木有/g, '有没有'],
];
const SPOKEN_EN: readonly (readonly [RegExp, string])[] = [
  [/\bwhat's\b/gi, 'what is'],
  [/\bhow's\b/gi, 'how is'],
  [/\bwhere's\b/gi, 'where is'],
  [/\bit's\b/gi, 'it is'],
  [/\bgonna\b/gi, 'going to'],
  [/\bwanna\b/gi, 'want to'],
  [/\bcan't\b/gi, 'cannot'],
  [/\bdoesn't\b/gi, 'does not'],
  [/\bdon't\b/gi, 'do not'],
];

const PRONOUN_ZH =
  /它们|它|前者|后者|上述|这个东西|那个东西|(?:这个|那个|这|那|该|此)(?=是|的|怎么|如何|为什么|什么|有|会|能|要|呢|支持|可以|$)|其(?=[\p{Script=Han}])(?!他|它|余|实|中|次)/u;
const PRONOUN_EN =
  /\b(?:its|it|they|them|their|this one|that one|these|those|the former|the latter|this|that)\b(?! (?:stage|tool|run|file|page|way|is why|case|mean that))/i;

const FOLLOW_UP_ZH = /^(?:那么|那|还有)?(.{1,12})呢$/;
const FOLLOW_UP_EN = /^(?:and|what about|how about|and what about)\s+(.{2,40})$/i;

/** Where the subject of a question ends. */
const SUBJECT_END_ZH =
  /有(?:哪些|什么|几|多少)|是(?:什么|怎么|如何|谁|哪)|(?:怎么|如何|为什么|什么时候|何时|会不会|能不能|是否|多少|多长|多大|在哪|支持|可以|应该|需要|分为|包含|包括|吗)/;
const BEFORE_SUBJECT_ZH =
  /^(?:什么是|请问|介绍一下|介绍|解释一下|解释|说明|关于|谈谈|讲讲|说说|为什么|怎么|如何|哪些|什么)+/;
const BEFORE_SUBJECT_EN =
  /^(?:what|which|how|why|when|where|who|does|do|did|is|are|was|were|can|could|should|would|will|many|much|about|explain|describe|tell me|define|compare|show|me|the difference between|happens?|to|if|i|we|you|a|an|the|there|of|with|in|on|kind|kinds|type|types)(?=\s)\s+/i;
const SUBJECT_END_EN =
  /\s+(?:is|are|was|were|does|do|did|has|have|had|can|could|should|would|will|work|works|open|opens|close|closes|mean|means|look|looks|need|needs|use|uses|get|gets|store|stores|start|starts|end|ends|fail|fails|run|runs|made|stored|used|defined|configured|implemented|handled|measured|when|if|after|before|while|with|without|in|on|for|from|to|by|at|and|or|that|which|again|there|here)\b.*$/i;

/** Words in which the joining characters mean something else. */
const NOT_A_JOINT = /和平|和谐|温和|饱和|总和|共和|调和|缓和|之和|和弦|柔和|与否|参与|给与|赋予|与其|与会/;
const COMPARISON_ZH =
  /^(.{1,40}?)\s*(?:和|与|跟|同|vs\.?|VS\.?)\s*(.{1,40}?)(?:之间)?(?:的|有什么|有何|有哪些)?(区别|差别|不同|异同|差异|关系|联系|对比|比较|哪个好|哪个更好|优缺点)(.*)$/i;
const COMPOUND_ZH =
  /^(.{1,40}?)\s*(?:和|与|以及|、)\s*(.{1,40}?)(分别是什么|分别有哪些|分别|各是什么|是什么|有哪些|怎么.{0,20}|如何.{0,20}|为什么.{0,20})?$/;
const COMPARISON_EN =
  /\b(?:differences? between|compare|comparison (?:of|between)|relation(?:ship)? between)\s+(.{2,60}?)\s+(?:and|with|to|vs\.?|versus)\s+(.{2,60}?)$/i;
const VERSUS = /^(.{1,60}?)\s+(?:vs\.?|versus)\s+(.{1,60}?)$/i;
const COMPOUND_EN =
  /^((?:what|how|why|when|where|which|who|explain|describe|define)\b(?:\s+(?:is|are|does|do|did|was|were|can|should|the))*)\s+(.{2,60}?)\s+and\s+(.{2,60}?)$/i;
const CLAUSES_EN = /^(.{6,120}?)\s+and\s+((?:what|how|why|when|where|which|who)\b.{4,120})$/i;

/** A question as searches read it, the whole first where it was taken apart; 1 to 3, each once. */
export function rewriteByRules(message: string, history: readonly PastMessage[] = []): readonly string[] {
  if (message.length > MAX_LENGTH) return [message];
  const plain = plainText(message).replace(/[?？!！。.\s]+$/u, '');
  const written = toWritten(plain);
  const resolved = withSubject(written === '' ? plain : written, history.slice(-REWRITE_HISTORY));
  const found = [...new Set(splitCompound(resolved).map((one) => one.trim()))].filter((one) => one !== '');
  return found.length === 0 ? [message] : found.slice(0, MAX_REWRITES);
}

/** Without words of courtesy and tone; spoken forms in written ones. */
function toWritten(text: string): string {
  if (languageOf(text) === 'zh') {
    const polite = text.replace(FILLERS_ZH, '');
    const bare = followUpOf(polite, true) === undefined ? polite.replace(TONE_ZH, '') : polite;
    return SPOKEN_ZH.reduce((left, [pattern, written]) => left.replaceAll(pattern, written), bare).trim();
  }
  const bare = text.replace(FILLERS_EN, '');
  return SPOKEN_EN.reduce((left, [pattern, written]) => left.replaceAll(pattern, written), bare).trim();
}

/** With what the last question was about in the place of a pronoun. */
function withSubject(text: string, history: readonly PastMessage[]): string {
  const isChinese = languageOf(text) === 'zh';
  const pronoun = (isChinese ? PRONOUN_ZH : PRONOUN_EN).exec(text);
  const followUp = followUpOf(text, isChinese);
  if (pronoun === null && followUp === undefined) return text;
  const subject = lastSubject(history);
  if (subject === undefined) return text;
  if (pronoun === null) return `${subject} ${followUp}`;
  const word = pronoun[0];
  const isPossessive = /^(?:its|their)$/i.test(word);
  const replaced = isPossessive ? `${subject}'s` : isChinese && word === '其' ? `${subject}的` : subject;
  return `${text.slice(0, pronoun.index)}${replaced}${text.slice(pronoun.index + word.length)}`;
}

/** 那超时呢, "what about the timeout": what is named without being asked of; a whole question is none. */
function followUpOf(text: string, isChinese: boolean): string | undefined {
  const named = (isChinese ? FOLLOW_UP_ZH : FOLLOW_UP_EN).exec(text)?.[1];
  return named === undefined || (isChinese && SUBJECT_END_ZH.test(named)) ? undefined : named;
}

/** The subject of the newest question that names one. */
function lastSubject(history: readonly PastMessage[]): string | undefined {
  for (const { role, content } of [...history].reverse()) {
    if (role !== 'user' || content.length > MAX_LENGTH) continue;
    const subject = subjectOf(toWritten(plainText(content).replace(/[?？!！。.\s]+$/u, '')));
    if (subject !== undefined) return subject;
  }
  return undefined;
}

/** What a question is about; undefined when that is a pronoun again, or nothing is left. */
export function subjectOf(question: string): string | undefined {
  const subject = languageOf(question) === 'zh' ? chineseSubject(question) : englishSubject(question);
  const isNamed =
    subject.length > 1 &&
    subject.length <= 60 &&
    !PRONOUN_ZH.test(subject) &&
    !/^(?:it|its|they|this|that|these|those|you|i|we)\b/i.test(subject);
  return isNamed ? subject : undefined;
}

function chineseSubject(question: string): string {
  const bare = question.replace(BEFORE_SUBJECT_ZH, '');
  const end = bare.search(SUBJECT_END_ZH);
  const named = end > 0 ? bare.slice(0, end) : bare;
  // 断路器的状态: what is asked of it is not it.
  return named
    .replace(/的[^的]{1,6}$/, '')
    .replace(/[,，、]\s*$/, '')
    .trim();
}

function englishSubject(question: string): string {
  let rest = question;
  for (let round = 0; round < 8; round += 1) {
    const next = rest.replace(BEFORE_SUBJECT_EN, '');
    if (next === rest) break;
    rest = next;
  }
  return rest.replace(SUBJECT_END_EN, '').trim();
}

/** Comparisons keep the whole in front of their sides; other compounds become questions of their own. */
function splitCompound(text: string): readonly string[] {
  if (languageOf(text) === 'zh') return splitChinese(text);
  const compared = COMPARISON_EN.exec(text) ?? VERSUS.exec(text);
  if (compared !== null) return [text, bareSide(compared[1]), bareSide(compared[2])];
  const clauses = CLAUSES_EN.exec(text);
  if (clauses !== null) return [clauses[1] ?? '', clauses[2] ?? ''];
  const compound = COMPOUND_EN.exec(text);
  if (compound === null || /\b(?:between|both)\b/i.test(text)) return [text];
  return [`${compound[1]} ${compound[2]}`, `${compound[1]} ${compound[3]}`];
}

function splitChinese(text: string): readonly string[] {
  if (NOT_A_JOINT.test(text)) return [text];
  const compared = COMPARISON_ZH.exec(text) ?? VERSUS.exec(text);
  if (compared !== null) return [text, bareSide(compared[1]), bareSide(compared[2]?.replace(/的$/, ''))];
  const compound = COMPOUND_ZH.exec(text);
  if (compound === null) return [text];
  const [, left = '', right = '', tail = ''] = compound;
  if (left.length < 2 || right.length < 2) return [text];
  const asked = tail.replace(/^分别|^各/, '');
  return SUBJECT_END_ZH.test(left) || asked === '' ? [left, right] : [`${left}${asked}`, `${right}${asked}`];
}

function bareSide(side = ''): string {
  return side.replace(/^(?:what is|what are|the|a|an|explain|describe|请问|比较)\s*/i, '').trim();
}
