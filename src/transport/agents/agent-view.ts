import type { Json } from '../../json.js';
import type { AgentRecord } from '../../records/stores.js';
import { formatTime } from '../format-time.js';

/** An agent in a list. Times are milliseconds since 1970. */
export function agentItem(agent: AgentRecord, tenant: string): Record<string, Json> {
  return {
    id: agent.id,
    avatar: agent.avatar,
    title: agent.title,
    description: agent.description,
    permission: agent.permission,
    user_id: tenant,
    tenant_id: tenant,
    nickname: tenant,
    tenant_avatar: null,
    create_time: agent.createdAt,
    update_time: agent.updatedAt,
    canvas_type: agent.canvasType,
    canvas_category: agent.canvasCategory,
    tags: agent.tags,
    release: agent.published !== undefined,
    release_time: agent.published?.at ?? null,
  };
}

/** An agent with its document. */
export function agentView(agent: AgentRecord, tenant: string): Record<string, Json> {
  return {
    ...agentItem(agent, tenant),
    create_date: formatTime(agent.createdAt),
    update_date: formatTime(agent.updatedAt),
    last_publish_time: agent.published?.at ?? null,
    dsl: agent.dsl,
  };
}
