/** Calls that a person has to allow, where a document says so of the tool. */
import type { ToolContent } from '../compose/tools/step-tool.js';
import type { AgentTool } from './agent-tool.js';

/** Whether a person allowed a call, and the reason given. */
export interface Approval {
  readonly isAllowed: boolean;
  readonly reason: string;
}

/** Whether calls of a tool, by the name that the model has for it, need an approval. */
export function needsApproval(tools: readonly AgentTool[], name: string): boolean {
  return tools.some((tool) => tool.definition.name === name && tool.needsApproval);
}

/** What stands for the result of a call that a person did not allow; undefined for one that may be made. */
export function declinedResult(approval: Approval | undefined): ToolContent | undefined {
  if (approval === undefined || approval.isAllowed) return undefined;
  const { reason } = approval;
  // As an error, so that the same call is made when the model asks again and the person thinks otherwise.
  return { text: `The user declined this call${reason === '' ? '.' : `: ${reason}`}`, isError: true };
}
