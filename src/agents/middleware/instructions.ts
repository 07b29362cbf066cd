/** What middlewares add to the instructions of a round. */
import type { RoundRequest } from '../loop/middleware.js';

/** A request with a text behind its instructions. */
export function withInstructions(request: RoundRequest, text: string): RoundRequest {
  if (text === '') return request;
  return { ...request, instructions: request.instructions === '' ? text : `${request.instructions}\n\n${text}` };
}

/** A text of at most so many characters, which says when it was cut; never ends inside a surrogate pair. */
export function cutText(text: string, maxCharacters: number, cut: string): string {
  if (text.length <= maxCharacters) return text;
  return `${startOf(text, maxCharacters)}\n${cut}`;
}

/** The first characters of a text; never ends inside a surrogate pair. */
export function startOf(text: string, characters: number): string {
  return (text.codePointAt(characters - 1) ?? 0) > 0xffff ? text.slice(0, characters - 1) : text.slice(0, characters);
}
