import { estimateTokens } from '../models/estimate-tokens.js';

/** Estimated tokens that a passage aims at; RAGFlow's default chunk size. */
const PASSAGE_TOKENS = 512;

/** Longest piece without a break that is kept together, in UTF-16 units. */
const MAX_PIECE = 2_000;

/** Cuts a text into passages of about 512 tokens, between paragraphs where it can, else between sentences or words. */
export function passagesOf(text: string): string[] {
  const passages: string[] = [];
  let current = '';
  let tokens = 0;
  const close = (): void => {
    if (current.trim() !== '') passages.push(current.trim());
    current = '';
    tokens = 0;
  };
  for (const piece of piecesOf(text)) {
    const cost = estimateTokens(piece);
    if (tokens > 0 && tokens + cost > PASSAGE_TOKENS) close();
    current += piece;
    tokens += cost;
  }
  close();
  return passages;
}

/** Paragraphs with the space behind them; long ones cut at the last sentence end or space before the limit. */
function* piecesOf(text: string): Generator<string> {
  let from = 0;
  while (from < text.length) {
    const end = text.indexOf('\n\n', from);
    const to = end === -1 ? text.length : end + 2;
    if (to - from <= MAX_PIECE) {
      yield text.slice(from, to);
      from = to;
      continue;
    }
    const part = text.slice(from, from + MAX_PIECE);
    const cut = Math.max(part.lastIndexOf('. '), part.lastIndexOf('。'), part.lastIndexOf('\n'), part.lastIndexOf(' '));
    const length = cut > MAX_PIECE / 2 ? cut + 1 : MAX_PIECE;
    yield text.slice(from, from + length);
    from += length;
  }
}
