/** What a rule of a tool is. */
import type { JsonObject } from '../../json.js';
import type { Utterance } from './utterance.js';

/** A call that words ask for. */
export interface Wanted {
  readonly args: JsonObject;
  /** Required arguments that the words do not give. @default none */
  readonly missing?: readonly string[];
}

/** How a tool is recognised in words: one file in `rules/`, one line in its index, one table in the tests. */
export interface ToolRule {
  /** Name of the tool. */
  readonly tool: string;
  /**
   * Calls of the tool that the words ask for; empty when they ask for something else. Reads at most `MAX_RULED` characters, in time that grows no faster
   * than their number; patterns are our own, never made of the words.
   */
  find(utterance: Utterance): readonly Wanted[];
}

/** UTF-16 units of words that rules look at; what is longer is a text to be talked about, for the knowledge base. */
export const MAX_RULED = 2_000;

/** Nothing is asked for. */
export const NOTHING: readonly Wanted[] = [];

/** Words of courtesy around what is wanted, in both languages; they say nothing about it. */
export const COURTESY_ZH =
  '请问一下|请问|麻烦你|麻烦|劳驾|请你|请帮我|请|帮我|帮忙|给我|替我|我想知道|我想问一下|我想问|我想|我要|想知道|想问|能不能|能否|可不可以|可以|能|告诉我|说一下|看一下|看看|查一下|查下|查查|查询一下|查询|问一下|一下|一共|到底|大概|大约|目前|现在|当前|此刻|谢谢|多谢|拜托|你好|您好|嗨|哎|那么|那|呢|吗|嘛|吧|啊|呀|哦|了|的话|的';
export const COURTESY_EN =
  "could you please|can you please|would you please|could you|can you|would you|will you|please|pls|plz|kindly|tell me|show me|give me|let me know|i want to know|i'd like to know|i would like to know|i want to|i'd like to|i need to know|i need to|do you know|i wonder|just|hey|hi|hello|thanks|thank you|for me|right now|at the moment|currently|now|quickly|exactly|so|ok|okay|well|um|uh|and";

/** A text without the words of a pattern, which has the flag `g`; blanks are single again. */
export function without(text: string, ...patterns: readonly RegExp[]): string {
  return patterns
    .reduce((left, pattern) => left.replaceAll(pattern, ' '), text)
    .replaceAll(/\s+/g, ' ')
    .trim();
}

/** Words of courtesy, for {@link without}. */
export const COURTESY: readonly RegExp[] = [
  new RegExp(COURTESY_ZH, 'g'),
  new RegExp(String.raw`\b(?:${COURTESY_EN})\b`, 'g'),
  /[?!.,;:。、~"']/g,
];
