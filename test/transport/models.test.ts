import { describe, expect, it } from 'vitest';
import type { ListedModel, ModelList } from '../../src/transport/models/model-shapes.js';
import { startServer } from './support/server.js';

const MODELS = '/api/v1/models';

const FILE = {
  factories: {
    OpenAI: {
      base_url: 'https://api.example.com/v1?token=hidden-token',
      api_key: 'sk-very-secret-key',
      headers: { 'x-secret': 'secret-header' },
      models: ['gpt-5', 'shared'],
    },
    Anthropic: { kind: 'anthropic', base_url: 'https://claude.example.com', models: ['claude', 'shared'] },
  },
  defaults: { chat: 'gpt-5', embedding: 'embed-1@OpenAI' },
  vision_models: ['gpt-5', 'seer@Anthropic'],
  context_lengths: { claude: 200_000 },
  routes: { chat: ['gpt-5', 'claude@Anthropic'] },
};

describe('GET /models', () => {
  it('lists what the configuration names, each once, without keys and addresses', async () => {
    const { call } = await startServer({ models: JSON.stringify(FILE) });
    const { body } = await call('GET', MODELS);
    const { scripted, models, providers } = body.data as ModelList;
    expect(scripted).toBe(false);
    const line = ({ id, provider, kinds, default_for }: ListedModel) => [
      id,
      provider,
      kinds.join(),
      default_for.join(),
    ];
    expect(models.map(line)).toEqual([
      ['route:chat', 'route', 'chat', ''],
      ['gpt-5', 'OpenAI', 'chat', 'chat'],
      ['shared', 'OpenAI', 'chat,embedding,rerank,tts', ''],
      ['claude', 'Anthropic', 'chat', ''],
      ['shared@Anthropic', 'Anthropic', 'chat', ''],
      ['embed-1@OpenAI', 'OpenAI', 'embedding', 'embedding'],
      ['claude@Anthropic', 'Anthropic', 'chat', ''],
      ['seer@Anthropic', 'Anthropic', 'chat', ''],
    ]);
    expect(models.find(({ id }) => id === 'gpt-5')).toMatchObject({ vision: true, context_length: null });
    expect(models.find(({ id }) => id === 'claude')).toMatchObject({ vision: false, context_length: 200_000 });
    expect(models.find(({ id }) => id === 'seer@Anthropic')).toMatchObject({ vision: true });
    expect(providers).toEqual([
      { name: 'OpenAI', kinds: ['chat', 'embedding', 'rerank', 'tts'], has_key: true, takes_any: true },
      { name: 'Anthropic', kinds: ['chat'], has_key: false, takes_any: false },
    ]);
    expect(JSON.stringify(body)).not.toMatch(/secret|hidden|example\.com/);
  });

  it('names the built-in model where no provider is configured', async () => {
    const { call } = await startServer();
    const { data } = (await call('GET', MODELS)).body;
    expect(data).toMatchObject({ scripted: true, providers: [] });
    expect(data.models).toEqual([
      { id: 'scripted', provider: 'scripted', kinds: ['chat'], default_for: [], vision: false, context_length: null },
    ]);
  });

  it('names the provider of OPENAI_BASE_URL, whose models are not known', async () => {
    const { call } = await startServer({ env: { OPENAI_BASE_URL: 'http://127.0.0.1:9/v1' } });
    const { data } = (await call('GET', MODELS)).body;
    expect(data.models).toEqual([]);
    expect(data.providers).toMatchObject([{ name: 'default', takes_any: true, has_key: false }]);
  });

  it('needs a key', async () => {
    const { call } = await startServer({ env: { RUNNEL_API_KEYS: 'the-only-key-here' } });
    expect((await call('GET', MODELS)).status).toBe(401);
  });
});
