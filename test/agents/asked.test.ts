/** What the log of a run tells of a question to a model. */
import { describe, expect, it } from 'vitest';
import { askedOf } from '../../src/agents/asked.js';
import type { ChatMessage } from '../../src/models/chat-model.js';

const system = (content: string): ChatMessage => ({ role: 'system', content });
const user = (content: string): ChatMessage => ({ role: 'user', content });

describe('what a model was asked', () => {
  it('is its messages and the names of its tools, and nothing else of the request', () => {
    const tools = [{ name: 'search', description: 'Searches.', parameters: { secret: 'x' } }];
    const request = { model: 'm', user: 'someone', headers: { authorization: 'Bearer secret' }, tools };
    expect(askedOf({ ...request, messages: [system('Be brief.'), user('Why?')] }, 1_000)).toEqual({
      messages: [
        { role: 'system', content: 'Be brief.' },
        { role: 'user', content: 'Why?' },
      ],
      tools: ['search'],
    });
  });

  it('is not told without room for it', () => {
    expect(askedOf({ model: 'm', messages: [user('Why?')] }, 0)).toBeUndefined();
  });

  it('keeps the instructions and the newest messages where not all have room', () => {
    const messages = [system('s'.repeat(100)), user('first'), user('second'), user('last')];
    expect(askedOf({ model: 'm', messages }, 20)).toEqual({
      messages: [
        { role: 'system', content: 's'.repeat(10), isCut: true },
        { role: 'user', content: 'second' },
        { role: 'user', content: 'last' },
      ],
      omitted: 1,
    });
  });

  it('cuts no character in two, and counts bytes', () => {
    expect(askedOf({ model: 'm', messages: [user('a€€')] }, 6)).toEqual({
      messages: [{ role: 'user', content: 'a€', isCut: true }],
    });
    const picture = { type: 'image', url: 'data:image/png;base64,AAAA' } as const;
    const messages = [{ role: 'user', content: [{ type: 'text', text: 'see' }, picture] }] as unknown as ChatMessage[];
    expect(askedOf({ model: 'm', messages }, 100)).toEqual({ messages: [{ role: 'user', content: 'see' }] });
  });
});
