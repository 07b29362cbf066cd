import { expect, it } from 'vitest';
import { startServer } from './support/server.js';

const AGENTS = '/api/v1/agents';

it('every template can become an agent that can be published', async () => {
  const { call } = await startServer();
  const templates = (await call('GET', `${AGENTS}/templates`)).body.data;
  expect(templates.map(({ id }: { id: string }) => id)).toContain('hello');
  for (const { title, description, dsl, canvas_type, canvas_types } of templates) {
    expect(description.en).not.toBe('');
    expect(canvas_types).toEqual([canvas_type]);
    const made = await call('POST', AGENTS, { title: title.en, dsl, release: true });
    expect(made.body, title.en).toMatchObject({ code: 0, data: { release: true } });
  }
});

it('prompts come under the names that RAGFlow uses', async () => {
  const { call } = await startServer();
  const prompts = (await call('GET', `${AGENTS}/prompts`)).body.data;
  expect(Object.keys(prompts)).toEqual(['task_analysis', 'plan_generation', 'reflection', 'citation_guidelines']);
});
