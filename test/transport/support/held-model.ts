import { Observable, type Subscriber } from 'rxjs';
import { onTestFinished } from 'vitest';
import type { ChatDelta, ChatModel, ChatRequest } from '../../../src/models/chat-model.js';
import { createModels } from '../../../src/models/router.js';
import { modelsFromEnvironment } from '../../../src/settings/read-settings.js';

/** A call of the model, answered as the test says. */
export interface HeldCall {
  readonly request: ChatRequest;
  answer(text: string): void;
}

/** A model whose calls wait for the test, as the services of a server. Gone with the test. */
export async function heldModel() {
  const calls: HeldCall[] = [];
  const takers: ((call: HeldCall) => void)[] = [];
  const model: ChatModel = {
    chat: (request) =>
      new Observable((subscriber: Subscriber<ChatDelta>) => {
        const call: HeldCall = {
          request,
          answer: (text) => {
            subscriber.next({ type: 'text', text });
            subscriber.next({ type: 'finish', reason: 'stop' });
            subscriber.complete();
          },
        };
        const taker = takers.shift();
        if (taker === undefined) calls.push(call);
        else taker(call);
      }),
  };
  const next = (): Promise<HeldCall> => {
    const call = calls.shift();
    return call === undefined ? new Promise((resolve) => takers.push(resolve)) : Promise.resolve(call);
  };
  const models = createModels(await modelsFromEnvironment({}, async () => ''), { scripted: model });
  onTestFinished(() => models.close());
  return { services: { models }, next };
}
