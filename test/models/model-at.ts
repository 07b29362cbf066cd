import { lastValueFrom, toArray } from 'rxjs';
import { expect, onTestFinished } from 'vitest';
import { EngineError } from '../../src/errors.js';
import type { ChatDelta, ChatModel, ChatRequest } from '../../src/models/chat-model.js';
import { createDispatcher } from '../../src/models/dispatcher.js';
import { createOpenaiCompatible } from '../../src/models/openai-compatible.js';
import { createProvider, type ProviderOptions } from '../../src/models/provider.js';

export const KEY = 'sk-very-secret';

export const hello: ChatRequest = { model: 'gpt', messages: [{ role: 'user', content: 'hi' }] };

export function modelAt(baseUrl: string, options: Partial<ProviderOptions> = {}, streamUsage?: boolean): ChatModel {
  const dispatcher = createDispatcher();
  onTestFinished(() => dispatcher.destroy());
  return createOpenaiCompatible(createProvider({ baseUrl, apiKey: KEY, dispatcher, ...options }), { streamUsage });
}

export const all = (model: ChatModel, request = hello): Promise<ChatDelta[]> =>
  lastValueFrom(model.chat(request).pipe(toArray()));

export async function failureOf(promise: Promise<unknown>): Promise<EngineError> {
  const error = await promise.then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  expect(error).toBeInstanceOf(EngineError);
  return error as EngineError;
}
