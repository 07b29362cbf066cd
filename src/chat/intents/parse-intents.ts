/** Stage 3 by rules: what a user wants, without a model. */
import { CONFIDENCE, type Intent } from './intent.js';
import { MAX_RULED, type ToolRule } from './rule.js';
import { toolRules } from './rules/index.js';
import { isPolite, smallTalkOf } from './small-talk.js';
import { splitAtAnd, splitParts } from './split-parts.js';
import { languageOf, plainText, readUtterance } from './utterance.js';
import { withSimplifiedLetters } from './words/traditional.js';

/** What rules know beside the words. */
export interface ParseOptions {
  /** Milliseconds since 1970, for days such as "next Monday". @default now */
  readonly now?: number;
  /** Zone of the user, for the time where they are. @default that of the language: Asia/Shanghai or UTC */
  readonly timezone?: string;
  /** @default those of the eight tools */
  readonly rules?: readonly ToolRule[];
  /** Names of tools that may be called; rules of others are not asked. @default all */
  readonly tools?: readonly string[];
}

/** Intents of one message at most. */
const MAX_INTENTS = 8;

/**
 * The intents of a message, the surest first; at least one, for what no rule knows is for the knowledge base, with a confidence of 0.7.
 *
 * Small talk counts only when it is all that is said. A message of more than 2,000 characters is for the knowledge base.
 */
export function parseIntents(message: string, options: ParseOptions = {}): readonly Intent[] {
  const fallback: Intent = { kind: 'KB', confidence: CONFIDENCE.fallback };
  if (message.length > MAX_RULED) return [fallback];
  const text = withSimplifiedLetters(plainText(message));
  const said = splitParts(text);
  const talk = talkOf(said);
  if (talk !== undefined) return [talk];
  const read = readerOf(text, options);
  const whole = read(text);
  const parts = said.flatMap((part) => callsOf(part, read));
  const intents = parts.length > 1 ? (severalIn(parts, read, whole) ?? whole) : whole;
  return intents.length === 0 ? [fallback] : bySureness(intents).slice(0, MAX_INTENTS);
}

/** Small talk, when every part is. The last topic is what is answered: "hi, thanks" is thanks. */
function talkOf(parts: readonly string[]): Intent | undefined {
  let topic: Intent['topic'];
  for (const part of parts) {
    const lower = part.toLowerCase();
    const found = smallTalkOf(lower);
    if (found === undefined && !isPolite(lower)) return undefined;
    topic = found === undefined || (found === 'greeting' && topic !== undefined) ? topic : found;
  }
  return topic === undefined ? undefined : { kind: 'SYSTEM', topic, confidence: CONFIDENCE.system };
}

type Reader = (part: string, follows?: string) => readonly Intent[];

/** "Q2 sales and open tickets" is two parts, as each is a whole call of a tool of its own; "sales in the north and south" is one. */
function callsOf(part: string, read: Reader): readonly string[] {
  const calls = splitAtAnd(part);
  if (calls.length === 1 || read(part)[0]?.tool === LOOK_UP) return [part];
  const tools = calls.map((call) => {
    const [intent, more] = read(call);
    return more === undefined && intent?.missing === undefined ? intent?.tool : undefined;
  });
  return tools.every((tool) => tool !== undefined && tool !== LOOK_UP) && new Set(tools).size === tools.length
    ? calls
    : [part];
}

/** Takes all words behind it for what is looked up. */
const LOOK_UP = 'knowledge_lookup';

/** Asks the rules in their order; the first that finds something wins. */
function readerOf(text: string, { now = Date.now(), timezone, rules = toolRules, tools }: ParseOptions): Reader {
  const language = languageOf(text);
  const open = tools === undefined ? rules : rules.filter(({ tool }) => tools.includes(tool));
  return (part, follows) => {
    const utterance = readUtterance(part, { now, timezone, follows, language });
    for (const { tool, find } of open) {
      const wanted = find(utterance);
      if (wanted.length > 0) {
        return wanted.map(({ args, missing = [] }): Intent => {
          const confidence = missing.length === 0 ? CONFIDENCE.complete : CONFIDENCE.incomplete;
          return { kind: 'MCP', tool, args, ...(missing.length > 0 && { missing }), text: part, confidence };
        });
      }
    }
    return [];
  };
}

/** Intents of the parts, when they ask for more than the whole does; undefined when the whole is one request. */
function severalIn(parts: readonly string[], read: Reader, whole: readonly Intent[]): readonly Intent[] | undefined {
  const intents: Intent[] = [];
  const asked: string[] = [];
  let last: Intent | undefined;
  for (const part of parts) {
    if (isPolite(part.toLowerCase()) || smallTalkOf(part.toLowerCase()) !== undefined) continue;
    const own = read(part);
    const found = own.length > 0 || last?.tool === undefined ? own : read(fragmentOf(part), last.tool);
    if (found.length > 0) {
      intents.push(...found);
      last = found.at(-1);
    } else if (isQuestion(part)) asked.push(part);
  }
  // What no tool answers is one question to the documents; without any tool that is the whole message.
  if (intents.length === 0) return undefined;
  if (asked.length > 0) intents.push({ kind: 'KB', text: asked.join('\n'), confidence: CONFIDENCE.fallback });
  const complete = distinct(intents.filter(({ missing }) => missing === undefined));
  const tools = new Set(complete.map(({ tool, kind }) => tool ?? kind));
  if (tools.size > 1) return complete;
  // Of one tool: parts that say more of the same request are read together.
  const isOneRequest =
    whole.length === 1 && whole[0]?.missing === undefined && intents.some(({ missing }) => missing !== undefined);
  if (isOneRequest) return undefined;
  return complete.length > 1 || (complete.length > 0 && whole.length === 0) ? complete : undefined;
}

/** 上海呢, "and Shanghai": what is left names an argument. */
function fragmentOf(part: string): string {
  return part.replace(/^(?:那么?|还有|以及|and|or|how about|what about)\s*/i, '').replace(/(?:呢|吗|怎么样|如何)$/, '');
}

/** Whether a part without a tool asks for something by itself. */
function isQuestion(part: string): boolean {
  return (
    /什么|怎么|怎样|如何|为什么|哪|多[少大长久]|几|吗|是不是|有没有|能否|介绍|解释|说明|了解|讲|区别|原理/.test(part) ||
    /\b(?:what|how|why|when|where|which|who|explain|describe|does|do|can|is|are|tell me about)\b/i.test(part)
  );
}

function distinct(intents: readonly Intent[]): readonly Intent[] {
  const keys = intents.map(({ tool, kind, args }) => JSON.stringify([tool ?? kind, args]));
  return intents.filter((_, index) => keys.indexOf(keys[index] ?? '') === index);
}

/** Stable: of equal ones the first that was said is the first. */
function bySureness(intents: readonly Intent[]): readonly Intent[] {
  return [...intents].sort((a, b) => b.confidence - a.confidence);
}
