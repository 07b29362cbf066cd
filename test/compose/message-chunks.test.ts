import { from } from 'rxjs';
import { describe, expect, it } from 'vitest';
import { type AssistantChunk, chain, generator, invoke, operator, step } from '../../src/index.js';

const chunk = (fields: Partial<AssistantChunk>): AssistantChunk => ({ role: 'assistant', ...fields });

const CALL: readonly AssistantChunk[] = [
  chunk({ content: 'I will look. ' }),
  ...Array.from({ length: 40 }, (_, at) =>
    chunk({
      toolCalls: [
        { index: at % 2, id: at < 2 ? `c${at}` : '', name: at < 2 ? 'find' : '', arguments: at < 2 ? '{' : ' ' },
      ],
    }),
  ),
  chunk({ toolCalls: [{ index: 0, id: '', name: '', arguments: '}' }] }),
  chunk({ toolCalls: [{ index: 1, id: '', name: '', arguments: '}' }] }),
];

const speak = step('speak', () => from(CALL));

describe('chunks of messages that become one', () => {
  it('are a message without the indexes that joined them', async () => {
    const message = await invoke(
      chain(speak, (whole) => whole),
      undefined,
    );
    expect(message).toMatchObject({
      content: 'I will look. ',
      toolCalls: [
        { id: 'c0', name: 'find' },
        { id: 'c1', name: 'find' },
      ],
    });
    expect(message.toolCalls?.some((call) => 'index' in call)).toBe(false);
  });

  it('are the same message when a slow reader got them joined in parts', async () => {
    const seen: number[] = [];
    const slow = generator(async function* (chunks: AsyncIterable<AssistantChunk>) {
      let count = 0;
      for await (const one of chunks) {
        count += 1;
        await Promise.resolve();
        yield one;
      }
      seen.push(count);
    });
    const direct = await invoke(
      chain(speak, (whole) => whole),
      undefined,
    );
    expect(
      await invoke(
        chain(speak, slow, (whole) => whole),
        undefined,
      ),
    ).toEqual(direct);
    expect(seen[0]).toBeLessThan(CALL.length);
  });

  it('are a message when there is only one of them', async () => {
    const one = step('one', () => from([chunk({ toolCalls: [{ index: 0, id: 'c', name: 'f', arguments: '' }] })]));
    const message = await invoke(
      chain(
        one,
        operator((chunks) => chunks),
      ),
      undefined,
    );
    expect(message).toEqual({ role: 'assistant', content: '', toolCalls: [{ id: 'c', name: 'f', arguments: '{}' }] });
  });
});
