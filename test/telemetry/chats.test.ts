import { describe, expect, it } from 'vitest';
import { openStream } from '../transport/support/event-stream.js';
import { startServer } from '../transport/support/server.js';
import { startTracedServer } from './support/traced-server.js';

const MODELS = JSON.stringify({
  factories: {},
  defaults: { chat: 'scripted' },
  scripted: { default: { reply: 'It turns.' } },
});

/** A question to the model, and one that rules answer. */
const FREE = { message: 'Please write about the lighthouse of Ushant', options: { mode: 'SYSTEM' } };
const HELLO = { message: 'hello' };

async function ask(url: string, body: object): Promise<void> {
  const client = await openStream(`${url}/api/v1/chat/stream`, { body });
  const frames = await client.rest();
  expect(frames.at(-2)?.json).toMatchObject({ type: 'final' });
}

describe('chats in traces', () => {
  it('have a span for each stage and call within that of their node, and no text', async () => {
    const { url, flush, collector } = await startTracedServer({ models: MODELS });
    await ask(url, FREE);
    await flush();
    const { spans, span } = collector;
    const node = span('chat_0');
    const stages = spans.filter(({ name }) => name.startsWith('stage '));
    expect(stages.map(({ name }) => name)).toEqual(
      expect.arrayContaining(['stage Memory Load', 'stage Query Rewrite', 'stage Streaming Output']),
    );
    for (const stage of stages) {
      expect(stage.parentId).toBe(node.spanId);
      expect(stage.attributes['runnel.chat.stage.status']).toMatch(/^(?:ok|degraded|skipped)$/);
    }
    expect(spans.filter(({ name }) => name.startsWith('chat ')).length).toBeGreaterThan(0);
    expect(JSON.stringify(spans)).not.toMatch(/Ushant|It turns/);
  });

  it('hold the question and the answer where the operator wants that', async () => {
    const { url, flush, collector } = await startTracedServer({ models: MODELS, showsTexts: true });
    await ask(url, FREE);
    await flush();
    const root = collector.spans.find(({ name }) => name.startsWith('invoke_agent '));
    expect(root?.attributes).toMatchObject({ 'input.value': FREE.message, 'output.value': 'It turns.' });
    expect(collector.spans.filter(({ attributes }) => 'input.value' in attributes)).toHaveLength(1);
  });
});

it('counts stages, short circuits, caches and first pieces', async () => {
  const { url } = await startServer({ models: MODELS });
  await ask(url, HELLO);
  await ask(url, FREE);
  const text = await (await fetch(`${url}/metrics`)).text();
  for (const line of [
    'runnel_chat_shortcuts_total{kind="B"} 1',
    'runnel_chat_first_token_seconds_count 2',
    'runnel_chat_stages_total{stage="Memory Load",status="ok"} 2',
    'runnel_chat_stages_total{stage="Multi-Channel",status="skipped"} 1',
    'runnel_chat_stage_duration_seconds_count{stage="Memory Load",status="ok"} 2',
    'runnel_queue_depth{queue="chats"} 0',
    'runnel_search_passages 0',
  ]) {
    expect(text).toContain(`${line}\n`);
  }
});
