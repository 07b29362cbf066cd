import { isJsonObject, type JsonObject } from '../../json.js';
import type { TokenAlternative, TokenProbability } from '../messages.js';

/** Reads OpenAI's `logprobs`: a list of tokens, each with `logprob`, `bytes` and `top_logprobs`; what is none is left out. */
export function probabilitiesOf(tokens: unknown): TokenProbability[] {
  if (!Array.isArray(tokens)) return [];
  return tokens.filter(isJsonObject).flatMap((token) => {
    const one = alternativeOf(token);
    if (one === undefined) return [];
    const others = Array.isArray(token.top_logprobs) ? token.top_logprobs.filter(isJsonObject) : [];
    const alternatives = others.map(alternativeOf).filter((other) => other !== undefined);
    return [alternatives.length === 0 ? one : { ...one, alternatives }];
  });
}

function alternativeOf({ token, logprob, bytes }: JsonObject): TokenAlternative | undefined {
  if (typeof token !== 'string' || typeof logprob !== 'number') return undefined;
  const known = Array.isArray(bytes) ? bytes.filter((byte): byte is number => typeof byte === 'number') : undefined;
  return { token, logProbability: logprob, ...(known !== undefined && { bytes: known }) };
}
