/** Refusals of chats, in the words that RAGFlow's clients match on. */
import { EngineError } from '../../errors.js';

/** The chat does not exist, or is not the caller's; the answer is the same. */
export const noChat = (): EngineError => new EngineError('NO_AUTHORIZATION', 'no authorization');

/** What is asked for cannot be done with what was sent, or with what there is. */
export const dataError = (message: string): EngineError => new EngineError('NOT_FOUND', message);

/** Another request changes the chat, for longer than this one can wait. */
export const chatBusy = (): EngineError =>
  new EngineError('CONFLICT', 'The chat is being changed by another request; try again.', { retryable: true });

/** The session does not exist, or is not of this assistant. */
export const noChatSession = (): EngineError => dataError('Session not found!');
