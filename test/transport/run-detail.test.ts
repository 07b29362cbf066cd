/** What the engine's events tell of the questions to models, beside what RAGFlow's do. */
import { describe, expect, it } from 'vitest';
import { countingModels } from './support/counting-models.js';
import { MODEL } from './support/documents.js';
import { openStream } from './support/event-stream.js';
import { startServer } from './support/server.js';

const QUESTION = 'a question that only its log has';

async function eventsOf(view: string, env = {}) {
  const server = await startServer({ env, services: countingModels({ default: { reply: 'answer' } }).services });
  const agent = await server.agent(MODEL);
  const { run_id } = (await server.call('POST', `/api/v1/agents/${agent}/run`, { query: QUESTION })).body.data;
  return (await openStream(`${server.url}/api/v1/agents/${agent}/runs/${run_id}/events?view=${view}`)).rest();
}

describe('the events of a run', () => {
  it('tell what a model was asked, once', async () => {
    const frames = await eventsOf('engine');
    const asked = frames.flatMap(({ json }) => (json?.call?.asked === undefined ? [] : [json]));
    expect(asked).toMatchObject([
      {
        type: 'node-call',
        node: 'LLM:M',
        call: {
          type: 'started',
          asked: {
            messages: [
              { role: 'system', content: 'Be brief.' },
              { role: 'user', content: QUESTION },
            ],
          },
        },
      },
    ]);
  });

  it.each([
    [
      'as much as is allowed',
      8,
      [
        { role: 'system', content: 'Be b', isCut: true },
        { role: 'user', content: 'a qu', isCut: true },
      ],
    ],
    ['nothing where that is nothing', 0, undefined],
  ])('tell %s', async (_, bytes, messages) => {
    const frames = await eventsOf('engine', { RUNNEL_RUN_DETAIL_BYTES: String(bytes) });
    const calls = frames.flatMap(({ json }) => (json?.call?.type === 'started' ? [json.call.asked?.messages] : []));
    expect(calls).toEqual([messages]);
  });

  it("tell nothing of it in RAGFlow's format", async () => {
    const text = JSON.stringify(await eventsOf('ragflow'));
    expect(text).toContain('answer');
    expect(text).not.toContain('asked');
    expect(text).not.toContain('Be brief.');
  });
});
