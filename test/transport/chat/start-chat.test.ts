import { expect, it, vi } from 'vitest';
import { defaultChatId } from '../../../src/chat/service/default-chat.js';
import { SharedReads } from '../../../src/operators/shared-reads.js';
import { createMemoryStores } from '../../../src/stores/memory-stores.js';
import { chatOfRequest } from '../../../src/transport/chat/start-chat.js';

it('first chats of a tenant that come at once look twice for their assistant and make it once', async () => {
  const stores = createMemoryStores();
  const find = vi.spyOn(stores.agents, 'find');
  const insert = vi.spyOn(stores.agents, 'insert');
  const parts = { stores, now: () => 7, defaultChats: new SharedReads<string>() };
  const ids = await Promise.all(Array.from({ length: 100 }, () => chatOfRequest(parts, 'ann', undefined, undefined)));
  expect(new Set(ids)).toEqual(new Set([defaultChatId('ann')]));
  expect(insert).toHaveBeenCalledTimes(1);
  expect(find).toHaveBeenCalledTimes(2);
  await chatOfRequest(parts, 'bob', undefined, undefined);
  expect(insert).toHaveBeenCalledTimes(2);
});
