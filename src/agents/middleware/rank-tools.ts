/** Tools by words: which of many a few words of a model mean. */
import { stem } from 'porter2';
import { foldText, runsOf } from '../../knowledge/words/split-words.js';
import { STOP_WORDS } from '../../knowledge/words/stop-words.js';
import type { ToolDefinition } from '../../models/chat-model.js';
import { nearestName } from '../../nearest-name.js';

/** What words find among tools. */
export interface RankedTools {
  /** Those that hold a word, the best first. */
  readonly hits: readonly ToolDefinition[];
  /** Without hits: those with a word or a name that is spelt nearly so. */
  readonly near: readonly ToolDefinition[];
}

/** Where a word stands says how much it tells of a tool. */
const WEIGHTS = { name: 4, description: 1, argument: 0.5 };
/** What the beginning of a word counts, compared to the word. */
const BEGINNING = 0.5;
/** Shorter words are no beginnings of others. */
const SHORTEST_BEGINNING = 3;
/** Words of a search that count; more say nothing more. */
const MAX_WORDS = 32;

/**
 * Makes the function that ranks tools by words: those of the name count most, then those of the description, then names of arguments; a word that
 * few tools hold counts more than one of many. Words are compared by their stems, Chinese by pairs of letters; nothing in them is a pattern.
 */
export function toolRanking(tools: readonly ToolDefinition[]): (words: string) => RankedTools {
  const indexed = tools.map((tool) => ({ tool, weights: weightsOf(tool) }));
  const holders = new Map<string, number>();
  for (const { weights } of indexed) for (const term of weights.keys()) holders.set(term, (holders.get(term) ?? 0) + 1);
  const rarity = (term: string): number => Math.log(1 + tools.length / (holders.get(term) ?? tools.length));
  return (words) => {
    const terms = [...new Set(termsOf(words))].slice(0, MAX_WORDS);
    const scored = indexed.map(({ tool, weights }, place) => ({ tool, place, score: scoreOf(terms, weights, rarity) }));
    const hits = scored.filter(({ score }) => score > 0).sort((a, b) => b.score - a.score || a.place - b.place);
    if (hits.length > 0) return { hits: hits.map(({ tool }) => tool), near: [] };
    const name = nearestName(
      words,
      tools.map((tool) => tool.name),
    );
    const spelt = new Set(terms.map((term) => nearestName(term, holders.keys())));
    const isNear = ({ tool, weights }: (typeof indexed)[number]): boolean =>
      tool.name === name || [...weights.keys()].some((term) => spelt.has(term));
    return { hits: [], near: indexed.filter(isNear).map(({ tool }) => tool) };
  };
}

function weightsOf({ name, description, parameters }: ToolDefinition): ReadonlyMap<string, number> {
  const weights = new Map<string, number>();
  const add = (text: string, weight: number): void => {
    for (const term of termsOf(text)) weights.set(term, Math.max(weight, weights.get(term) ?? 0));
  };
  add(name, WEIGHTS.name);
  add(description ?? '', WEIGHTS.description);
  for (const argument of Object.keys(parameters?.properties ?? {})) add(argument, WEIGHTS.argument);
  return weights;
}

function scoreOf(
  terms: readonly string[],
  weights: ReadonlyMap<string, number>,
  rarity: (term: string) => number,
): number {
  let score = 0;
  for (const term of terms) {
    const exact = weights.get(term);
    if (exact !== undefined) {
      score += exact * rarity(term);
      continue;
    }
    let best = 0;
    for (const [held, weight] of weights) if (isBeginning(term, held)) best = Math.max(best, weight * rarity(held));
    score += best * BEGINNING;
  }
  return score;
}

function isBeginning(one: string, other: string): boolean {
  const isLong = Math.min(one.length, other.length) >= SHORTEST_BEGINNING;
  return isLong && (one.startsWith(other) || other.startsWith(one));
}

/** Names are words too: `getWeather` and `get_weather` are the words of "get weather". */
function termsOf(text: string): string[] {
  const terms: string[] = [];
  for (const { text: run, kind } of runsOf(foldText(text.replace(/([a-z0-9])([A-Z])/g, '$1 $2')))) {
    if (kind !== 'word') terms.push(...pairsOf(run));
    else if (!STOP_WORDS.has(run)) terms.push(/^[a-z]+$/.test(run) ? stem(run) : run);
  }
  return terms;
}

function pairsOf(run: string): string[] {
  const letters = [...run];
  if (letters.length < 2) return letters;
  return letters.slice(1).map((letter, at) => `${letters[at]}${letter}`);
}
