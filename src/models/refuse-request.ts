import { EngineError } from '../errors.js';
import type { ChatMessage } from './messages.js';

/** The error for a request that an API has no words for, found before anything is sent: `MODEL_REQUEST`, not retryable. */
export function refuseRequest(model: string, what: string, remedy: string): EngineError {
  return new EngineError('MODEL_REQUEST', `Model "${model}" cannot be called: ${what}. ${remedy}`);
}

/** Where a part stands, for errors: `message 2 (user), part 0, an image`. */
export interface PartPlace {
  readonly model: string;
  /** Position of the message in the request. */
  readonly message: number;
  readonly role: string;
  readonly part: number;
}

/** The place of the part of a message with that position. */
export type PlaceOf = (part: number) => PartPlace;

/** What every message of a conversation becomes in the words of an API, in order; `write` may ask where a part stands. */
export function writeMessages<T>(
  model: string,
  messages: readonly ChatMessage[],
  write: (message: ChatMessage, placeOf: PlaceOf) => readonly T[],
): T[] {
  return messages.flatMap((message, at) =>
    write(message, (part) => ({ model, message: at, role: message.role, part })),
  );
}

/** The error for a part of a message that an API cannot hold; `what` says which kind of part, such as `a video`. */
export function refusePart({ model, message, role, part }: PartPlace, what: string, remedy?: string): EngineError {
  const usual =
    role === 'assistant' ? 'Send the message without parts.' : 'Leave the part out, or choose another model.';
  return refuseRequest(
    model,
    `its API has no place for ${what} (message ${message}, role ${role}, part ${part})`,
    remedy ?? usual,
  );
}
