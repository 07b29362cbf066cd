/** A chat whose process is lost, as all of its processes see it. */
import { createEgressClient } from '../../../../src/adapters/egress/egress-client.js';
import { chatDocument } from '../../../../src/chat/service/chat-document.js';
import type { Services } from '../../../../src/components/services.js';
import { createModels } from '../../../../src/models/router.js';
import type { AgentRecord } from '../../../../src/records/agents.js';
import type { ChatStore, TenantChats } from '../../../../src/records/chats.js';
import { modelsFromEnvironment } from '../../../../src/settings/read-settings.js';

export function chatRecord(): AgentRecord {
  return {
    ...{ id: 'a', title: 'A', description: null, avatar: null, permission: 'me', canvasType: null },
    ...{ canvasCategory: 'chat_assistant', tags: '', createdAt: 1, updatedAt: 1 },
    dsl: chatDocument({}),
  };
}

export async function chatServices(url: string, store: ChatStore): Promise<Services> {
  const configuration = JSON.stringify({
    factories: { Fake: { base_url: `${url}/v1`, api_key: 'k', models: ['m'] } },
    defaults: { chat: 'm@Fake' },
  });
  const models = createModels(
    await modelsFromEnvironment({ RUNNEL_MODELS: 'models.json', LLM_MAX_RETRIES: '0' }, async () => configuration),
  );
  const chats = (tenant: string): TenantChats => ({ tenant, store, forTenant: chats });
  return {
    models,
    chats: chats('t'),
    http: createEgressClient({ allowPrivateNetwork: true }),
    tools: { baseUrls: { weather: `${url}/weather` } },
  };
}
