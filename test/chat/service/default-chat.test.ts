import { describe, expect, it } from 'vitest';
import { chatDocument, chatParamsOf } from '../../../src/chat/service/chat-document.js';
import { defaultChatId, openDefaultChat } from '../../../src/chat/service/default-chat.js';
import { createMemoryStores } from '../../../src/stores/memory-stores.js';

describe('the chat of a tenant that names none', () => {
  it('is made with its first question, once for each tenant', async () => {
    const { agents } = createMemoryStores();
    const ids = await Promise.all([1, 2, 3].map(() => openDefaultChat(agents, 'ann', 7)));
    expect(new Set(ids)).toEqual(new Set([defaultChatId('ann')]));
    expect(await agents.find('ann', ids[0] as string)).toMatchObject({
      title: 'default',
      canvasCategory: 'chat_assistant',
    });
    expect(await openDefaultChat(agents, 'bob', 7)).not.toBe(ids[0]);
    expect(await agents.find('bob', ids[0] as string)).toBeUndefined();
  });

  it('stands beside a chat of the user that has its title', async () => {
    const { agents } = createMemoryStores();
    const id = await openDefaultChat(agents, 'ann', 7);
    const made = await agents.find('ann', id);
    await agents.delete('ann', id);
    if (made !== undefined) await agents.insert('ann', { ...made, id: 'mine', title: 'Default' });
    expect(await openDefaultChat(agents, 'ann', 7)).toBe(id);
    expect((await agents.find('ann', id))?.title).toBe(`default ${id.slice(0, 8)}`);
  });
});

describe('the document of a chat', () => {
  it('gives its parameters back, and none of other documents', () => {
    expect(chatParamsOf(chatDocument({ top_n: 3 }))).toEqual({ top_n: 3 });
    expect(chatParamsOf({ components: { chat_0: [] } })).toBeUndefined();
    expect(chatParamsOf({})).toBeUndefined();
  });
});
