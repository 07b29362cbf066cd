import { concat, concatMap, defer, map, type Observable, of } from 'rxjs';
import type { Activation } from '../../graph/component.js';
import type { NodeEvent } from '../../graph/node-events.js';
import { type ChatMessage, contentText } from '../../models/chat-model.js';
import { collectAnswer } from '../../models/collect-answer.js';
import { rewritePrompt } from '../prompts.js';
import { usageEvent } from './answers.js';
import type { Chat } from './open-chat.js';

/** Turns from which on a question may lean on what was said before. */
const MIN_TURNS = 3;

/** What rewriting a question gives: events of the call, and at the end the messages with the new question. */
export type Rewriting = { readonly event: NodeEvent } | { readonly messages: readonly ChatMessage[] };

/**
 * Puts the last question of a conversation so that it can be understood alone, by one call of the model; a conversation of fewer
 * than three turns stays as it is.
 *
 * Errors: those of the model.
 */
export function rewriteQuestion(
  activation: Activation,
  chat: Chat,
  messages: readonly ChatMessage[],
): Observable<Rewriting> {
  const turns = messages.filter(({ role }) => role === 'user' || role === 'assistant');
  const last = messages.at(-1);
  if (turns.length < MIN_TURNS || last?.role !== 'user' || typeof last.content !== 'string') return of({ messages });
  const today = new Date(activation.now()).toISOString().slice(0, 10);
  const prompt = rewritePrompt(
    turns.map(({ role, content }) => ({ role, content: contentText(content) })),
    today,
  );
  let question = last.content;
  const asked$ = chat.ask(
    chat.request([{ role: 'user', content: prompt }]),
    (answer$) =>
      answer$.pipe(
        collectAnswer(),
        concatMap(({ text, usage }): NodeEvent[] => {
          question = text.trim() || question;
          return usage === undefined ? [] : [usageEvent(usage)];
        }),
      ),
    'rewrite',
  );
  return concat(
    asked$.pipe(map((event): Rewriting => ({ event }))),
    defer(() => of<Rewriting>({ messages: [...messages.slice(0, -1), { role: 'user', content: question }] })),
  );
}
