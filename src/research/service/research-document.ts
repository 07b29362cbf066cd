/** The document of a research: a canvas of one node; and the agent that researches for a tenant. */
import { createHash } from 'node:crypto';
import { EngineError } from '../../errors.js';
import type { JsonObject } from '../../json.js';
import type { AgentStore } from '../../records/agents.js';
import { RESEARCH_NODE } from './research-frames.js';

/** The category of agents that research. */
export const RESEARCH_CATEGORY = 'research';

/** The document of a research whose node has these parameters. */
export function researchDocument(params: JsonObject = {}): JsonObject {
  return {
    components: {
      begin: {
        obj: {
          component_name: 'Begin',
          params: { mode: 'conversational', prologue: '', enablePrologue: false, inputs: {} },
        },
        downstream: [RESEARCH_NODE],
        upstream: [],
      },
      [RESEARCH_NODE]: { obj: { component_name: 'DeepSearch', params }, downstream: [], upstream: ['begin'] },
    },
    history: [],
    path: [],
    retrieval: [],
    globals: { 'sys.query': '', 'sys.user_id': '', 'sys.conversation_turns': 0, 'sys.files': [] },
  };
}

/** Id of the agent that researches for a tenant; the same in every process. */
export function researchAgentId(tenant: string): string {
  return createHash('sha256')
    .update(JSON.stringify(['research', tenant]))
    .digest('hex')
    .slice(0, 32);
}

/** Gives its id, and makes it when there is none. Errors: those of the store, QUOTA_EXCEEDED. */
export async function openResearchAgent(
  agents: Pick<AgentStore, 'find' | 'insert'>,
  tenant: string,
  now: number,
): Promise<string> {
  const id = researchAgentId(tenant);
  if ((await agents.find(tenant, id)) !== undefined) return id;
  try {
    await agents.insert(tenant, {
      id,
      title: `research ${id.slice(0, 8)}`,
      description: 'Answers questions by sub-questions, with a report.',
      avatar: null,
      permission: 'me',
      canvasType: null,
      canvasCategory: RESEARCH_CATEGORY,
      tags: '',
      dsl: researchDocument(),
      createdAt: now,
      updatedAt: now,
    });
  } catch (error) {
    // Two first questions at once.
    if (!EngineError.is(error) || error.code !== 'CONFLICT') throw error;
    if ((await agents.find(tenant, id)) === undefined) throw error;
  }
  return id;
}
