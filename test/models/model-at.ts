import { lastValueFrom, toArray } from 'rxjs';
import { Agent } from 'undici';
import { expect, onTestFinished } from 'vitest';
import { EngineError } from '../../src/errors.js';
import type { ChatDelta, ChatModel, ChatRequest } from '../../src/models/chat-model.js';
import type { Connection, ConnectionOptions } from '../../src/models/connection.js';
import type { ProviderDefinition } from '../../src/models/define-provider.js';
import { openaiCompatible } from '../../src/models/providers/openai-compatible.js';
import { openConnection } from '../../src/models/router.js';

export const KEY = 'sk-very-secret';

export const hello: ChatRequest = { model: 'gpt', messages: [{ role: 'user', content: 'hi' }] };

export function connectionTo(
  baseUrl: string,
  options: Partial<ConnectionOptions> = {},
  definition: ProviderDefinition = openaiCompatible,
): Connection {
  const dispatcher = new Agent();
  onTestFinished(() => dispatcher.destroy());
  const { apiKey, headers, ...limits } = { apiKey: KEY, ...options };
  return openConnection(definition, { baseUrl, apiKey, headers }, { dispatcher, ...limits });
}

export function modelAt(baseUrl: string, options: Partial<ConnectionOptions> = {}, streamUsage = true): ChatModel {
  return openaiCompatible.chat(connectionTo(baseUrl, options), { streamUsage });
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
