/** A chat model that answers from a list and remembers what it was asked. */
import { from, NEVER, type Observable, throwError } from 'rxjs';
import type { StageModel } from '../../../../src/chat/stages/stage-result.js';
import { EngineError } from '../../../../src/errors.js';
import type { ChatDelta, ChatRequest } from '../../../../src/models/chat-model.js';

export interface AskedModel extends StageModel {
  readonly asked: readonly ChatRequest[];
}

/** Answers in their order, the last again and again; an Error is a failure. */
export function modelOf(...answers: readonly (string | Error | 'silence')[]): AskedModel {
  const asked: ChatRequest[] = [];
  return {
    name: 'small',
    asked,
    model: {
      chat(request): Observable<ChatDelta> {
        const answer = answers[Math.min(asked.length, answers.length - 1)] ?? '';
        asked.push(request);
        if (answer instanceof Error) return throwError(() => answer);
        if (answer === 'silence') return NEVER;
        const half = Math.floor(answer.length / 2);
        return from<readonly ChatDelta[]>([
          { type: 'text', text: answer.slice(0, half) },
          { type: 'text', text: answer.slice(half) },
          { type: 'finish', reason: 'stop' },
        ]);
      },
    },
  };
}

export const refused = new EngineError('MODEL_UNAVAILABLE', 'The model is away.');

/** The JSON of the last message of a request. */
export function inputOf(request: ChatRequest | undefined): unknown {
  return JSON.parse(String(request?.messages.at(-1)?.content));
}
