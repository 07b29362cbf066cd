/** Asking a chat model for a list of lines. */
import { EngineError } from '../../errors.js';
import type { ChatModel } from '../../models/chat-model.js';
import { collectAnswer } from '../../models/collect-answer.js';
import type { ChatMessage } from '../../models/messages.js';
import { firstValue } from '../../operators/from-abortable.js';

/** A chat model by the name that its provider knows it by; what `models.chat(id)` gives fits. */
export interface AskedModel {
  readonly model: ChatModel;
  readonly name: string;
}

/** Longest answer that is read, in UTF-16 units, and the lines of it at most. */
const MAX_ANSWER = 65_536;
const MAX_LINES = 1_000;

/** A number, a dash or a star that models put before the items of a list. */
const MARK = /^(?:[-*•]|\(?\d{1,3}[.):])\s+/;

/** What a model answered. Errors: those of the model, and `MODEL_RESPONSE` for an answer of more than 65,536 characters. */
export async function askText(
  { model, name }: AskedModel,
  messages: readonly ChatMessage[],
  signal: AbortSignal | undefined,
): Promise<string> {
  const { text } = await firstValue(model.chat({ model: name, messages }).pipe(collectAnswer()), signal);
  if (text.length <= MAX_ANSWER) return text;
  throw new EngineError(
    'MODEL_RESPONSE',
    `The model "${name}" was asked for a few lines and answered ${text.length} characters; ${MAX_ANSWER} are read. Ask for less.`,
  );
}

/** The lines of an answer that hold something, without the marks of a list and quotes around them. */
export function linesOfAnswer(text: string): string[] {
  const lines = text.split(/\r?\n/, MAX_LINES).map((line) => {
    const plain = line.trim().replace(MARK, '').trim();
    return /^(["'`]).*\1$/.test(plain) && plain.length > 1 ? plain.slice(1, -1).trim() : plain;
  });
  return lines.filter((line) => line !== '');
}
