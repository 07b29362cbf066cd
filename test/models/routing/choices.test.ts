import { lastValueFrom } from 'rxjs';
import { describe, expect, it, onTestFinished } from 'vitest';
import { collectAnswer } from '../../../src/models/collect-answer.js';
import { createModels, type Models } from '../../../src/models/router.js';
import { modelsFromEnvironment } from '../../../src/settings/read-settings.js';

async function modelsOf(file: object): Promise<Models> {
  const configuration = await modelsFromEnvironment({ RUNNEL_MODELS: 'f' }, async () => JSON.stringify(file));
  const models = createModels(configuration);
  onTestFinished(() => models.close());
  return models;
}

describe('a route as the id of a model', () => {
  it('answers without any server by the built-in model', async () => {
    const models = await modelsOf({ routes: { chat: ['a', 'b'] } });
    const { model, name, provider } = models.chat('route:chat');
    expect([name, provider]).toEqual(['route:chat', 'route']);
    const request = { model: name, messages: [{ role: 'user' as const, content: 'hi' }] };
    expect((await lastValueFrom(model.chat(request).pipe(collectAnswer()))).text).toBe('echo: hi');
  });

  it('sees and reads what all of its targets do', async () => {
    const models = await modelsOf({
      routes: { chat: ['v', 'w'], both: ['v', 'x'] },
      vision_models: ['v', 'x'],
      context_lengths: { v: 8_000, w: 4_000 },
    });
    const known = (id: string) => [models.chat(id).supportsImages, models.chat(id).contextLength];
    expect([known('route:chat'), known('route:both')]).toEqual([
      [false, 4_000],
      [true, 8_000],
    ]);
  });

  it('is what the empty id means when there is a route "chat" and no default model', async () => {
    const factories = { X: { base_url: 'http://x.test/v1' } };
    expect((await modelsOf({ factories, routes: { chat: ['a'] } })).chat('').name).toBe('route:chat');
    expect((await modelsOf({ factories, routes: { chat: ['a'] }, defaults: { chat: 'b@X' } })).chat('').name).toBe('b');
    expect(
      (await modelsOf({ factories, routes: { other: ['a'] }, defaults: { chat: 'route:other' } })).chat('').name,
    ).toBe('route:other');
  });

  it('names the routes that there are when there is none of that name', async () => {
    const models = await modelsOf({ routes: { summary: ['a'] } });
    expect(() => models.chat('route:sumary')).toThrow(
      /There is no route "sumary"\. Did you mean "summary"\?.*there are: summary/,
    );
    expect(() => models.chat('route:constructor')).toThrow(/There is no route "constructor"/);
  });

  it('is refused at the start when a target leads nowhere', async () => {
    const factories = { X: { base_url: 'http://x.test/v1' }, Y: { base_url: 'http://y.test/v1' } };
    await expect(modelsOf({ factories, routes: { chat: ['a@X', 'b@Z'] } })).rejects.toMatchObject({
      code: 'MODEL_UNKNOWN',
    });
  });
});
