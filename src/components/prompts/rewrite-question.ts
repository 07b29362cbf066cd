import { oneLine } from './one-line.js';

const REWRITE = `Rewrite the last question of the conversation so that it can be understood alone: put in what "it", "there" or "yesterday" stand for,
and leave everything else as it is. Answer with the question and nothing else, in the language of the question. When it is
clear already, repeat it word for word.`;

/** Asks for a question that needs no conversation around it. */
export function rewritePrompt(
  turns: readonly { readonly role: string; readonly content: string }[],
  today: string,
): string {
  const lines = turns.map(({ role, content }) => `${role.toUpperCase()}: ${oneLine(content)}`);
  return `${REWRITE}\n\nToday is ${today}.\n\nConversation:\n${lines.join('\n')}`;
}
