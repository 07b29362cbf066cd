import { Observable, of } from 'rxjs';
import { type KnowledgeDocument, knowledgeDocument } from '../../../src/knowledge/knowledge-document.js';
import type { RetrieveFunction, RetrieveOptions } from '../../../src/knowledge/ports.js';
import type { ChatModel, ChatRequest } from '../../../src/models/chat-model.js';

/** Documents with nothing but ids; `a:0.5` has a score. */
export const found = (...written: readonly string[]): KnowledgeDocument[] =>
  written.map((one) => {
    const [id = '', score] = one.split(':');
    return knowledgeDocument({ id, text: `text of ${id}`, ...(score !== undefined && { score: Number(score) }) });
  });

export const ids = (documents: readonly KnowledgeDocument[]) => documents.map(({ id }) => id);

/** A retriever with an answer per query, and what it was asked. */
export function answering(answers: Readonly<Record<string, readonly string[]>>) {
  const asked: string[] = [];
  const options: (RetrieveOptions | undefined)[] = [];
  const retriever: RetrieveFunction = async (query, call) => {
    asked.push(query);
    options.push(call);
    return found(...(answers[query] ?? []));
  };
  return { retriever, asked, options };
}

/** A retriever that answers when it is let go; it tells when it was stopped. */
export function waiting() {
  const stopped: string[] = [];
  const retriever: RetrieveFunction = (query, { signal } = {}) =>
    new Promise((_, reject) => {
      signal?.addEventListener('abort', () => {
        stopped.push(query);
        reject(signal.reason);
      });
    });
  return { retriever, stopped };
}

/** A model that gives one answer, and what it was asked. */
export function saying(text: string) {
  const requests: ChatRequest[] = [];
  const model: ChatModel = {
    chat(request) {
      requests.push(request);
      return of({ type: 'text', text } as const, { type: 'finish', reason: 'stop' } as const);
    },
  };
  return { asked: { model, name: 'm1' }, requests };
}

/** A model that never answers, and whether it was stopped. */
export function silent() {
  const state = { isStopped: false };
  const model: ChatModel = { chat: () => new Observable(() => () => (state.isStopped = true)) };
  return { asked: { model, name: 'm1' }, state };
}
