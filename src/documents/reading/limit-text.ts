import { cutText } from '../characters.js';

/** What ends a text that was cut; nothing else ends so. */
const CUT = /\[The rest of "[^\n]*" is left out after [\d,]+ characters\.\]$/;

/**
 * Cuts a text at `maxCharacters` UTF-16 units and says so in its last line: a model that reads half a document should know,
 * and so should the person who reads the answer.
 */
export function limitText(text: string, maxCharacters: number, name: string): string {
  if (text.length <= maxCharacters) return text;
  const kept = cutText(text, maxCharacters);
  return `${kept}\n\n[The rest of "${name}" is left out after ${kept.length.toLocaleString('en-US')} characters.]`;
}

/** Whether a text was cut by {@link limitText}. */
export function isCut(text: string): boolean {
  return CUT.test(text.slice(-1000));
}
