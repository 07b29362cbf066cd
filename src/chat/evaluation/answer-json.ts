/** An answer to a golden question as results have it. */
import type { Json, JsonObject } from '../../json.js';
import type { GoldenAnswer } from './golden-result.js';
import type { ChatEnd } from './score-answer.js';

/**
 * The way that an answer took: `A`, `B` or `C` for a short circuit, `failed` for a chat that failed, else how it was grounded (`KB`, `MCP`,
 * `HYBRID`, `SYSTEM`).
 */
export function answerRoute(end: ChatEnd): string {
  return end.type === 'error' ? 'failed' : (end.shortcut ?? end.mode);
}

/** One answer with what it is worth, the way that it took, and what it cost: milliseconds, tokens of models where they are known. */
export function answerJson({ question: { id, category }, end, score, judgement }: GoldenAnswer): JsonObject {
  const scored = { ...score } as unknown as JsonObject;
  const about = {
    id,
    category,
    ...scored,
    route: answerRoute(end),
    ...(judgement && { judgement: judgementJson(judgement) }),
  };
  if (end.type === 'error') return { ...about, error: end.code };
  const { response, evidence, shortcut, model, total_ms: ms, first_token_ms: firstTokenMs, usage } = end;
  const tokens: Json | undefined = usage.total_tokens;
  return {
    ...about,
    response,
    sources: evidence.map(({ source }) => source),
    shortcut,
    model,
    ms,
    ...(firstTokenMs !== undefined && { first_token_ms: firstTokenMs }),
    ...(typeof tokens === 'number' && { tokens }),
  };
}

function judgementJson({ verdict, reasons }: NonNullable<GoldenAnswer['judgement']>): JsonObject {
  return { verdict, reasons: [...reasons] };
}
