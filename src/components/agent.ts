import { concat, concatMap, from, type Observable, of } from 'rxjs';
import { type AgentState, newAgentState, type PendingCall } from '../agents/agent-events.js';
import { runAgent } from '../agents/run-agent.js';
import type { Approval } from '../agents/run-calls.js';
import { type Activation, type Component, defineComponent } from '../graph/component.js';
import { interrupt, type NodeEvent } from '../graph/node-events.js';
import { tools } from '../tools/index.js';
import type { AnyTool } from '../tools/tool.js';
import { type AgentNode, approvalPayload, nodeEvents, readApprovals, readMemo } from './agents/agent-node.js';
import { type AgentParams, type AgentSpec, agentParams, readAgent } from './agents/agent-params.js';
import { type McpTools, type OpenAgent, openAgent, withMcpTools } from './agents/agent-setup.js';
import { rewriteQuestion } from './chat/rewrite-question.js';
import { llm } from './llm.js';
import { MarkedText } from './speaking/think-text.js';

/** Seconds that an agent may take; RAGFlow's. */
const TIMEOUT_SECONDS = 1200;

/**
 * Asks a model that may call tools, until it answers. Text and reasoning come as they are written, also while tools run.
 *
 * What tools found may be cited, what they made is linked below the answer. After every round the agent keeps where it stands, so
 * that a run that is lost goes on from there. Without tools it is an LLM. Errors: those of an LLM; a tool that fails is told to the
 * model.
 */
export const agent = agentComponent(tools);

/** The component Agent with other tools than the built-in ones; see {@link agent}. */
export function agentComponent(library: readonly AnyTool[]): Component<AgentParams> {
  return defineComponent<AgentParams>({
    ...llm,
    type: 'Agent',
    summary: 'Asks a model that may call tools and other agents until it has the answer.',
    params: agentParams as never,
    outputs: {
      content: {
        type: 'string',
        description: 'The answer, and links to what tools made; absent when a schema is set.',
      },
      structured: { type: 'object', description: 'The answer as an object of the schema, when one is set.' },
    },
    timeoutSeconds: TIMEOUT_SECONDS,
    check: (params, { name }) => readAgent(name, params, library).problems,
    advise: (params, { name }) => readAgent(name, params, library).missing,
    create(params, placement) {
      const { isStreamed } = placement;
      if ((params.tools ?? []).length === 0 && (params.mcp ?? []).length === 0) return llm.create(params, placement);
      const { spec } = readAgent(placement.name, params, library);
      return (activation) => withMcpTools(activation, spec, (mcp) => work({ activation, spec, isStreamed }, mcp));
    },
  });
}

interface Work {
  readonly activation: Activation;
  readonly spec: AgentSpec;
  readonly isStreamed: boolean;
}

function work({ activation, spec, isStreamed }: Work, { offered, warnings }: McpTools): Observable<NodeEvent> {
  const kept = readMemo(activation.nodeState);
  const opened = openAgent(activation, spec, offered);
  const warnings$ = from([...warnings, ...opened.warnings]);
  const speech = new MarkedText(kept?.said ?? '');
  const node: AgentNode = { activation, spec, opened, speech, isStreamed };
  if (kept === undefined) return concat(warnings$, firstRound(node));
  const { state } = kept;
  if (state.pending === undefined) return runFrom(node, state);
  const calls = callsToAllow(opened, state.pending.calls);
  const approvals = readApprovals(activation.node, activation.answer, calls);
  // An answer that leaves a call open asks again.
  return approvals === undefined ? of(interrupt(approvalPayload(spec.name, calls))) : runFrom(node, state, approvals);
}

/** Begins with the question, which may be put anew first. */
function firstRound(node: AgentNode): Observable<NodeEvent> {
  const { activation, spec, opened } = node;
  if (spec.params.optimize_multi_turn !== true) return runFrom(node, newAgentState(opened.messages));
  return rewriteQuestion(activation, opened.chat, opened.messages).pipe(
    concatMap((step) => ('event' in step ? of(step.event) : runFrom(node, newAgentState(step.messages)))),
  );
}

function runFrom(node: AgentNode, state: AgentState, approvals?: ReadonlyMap<string, Approval>): Observable<NodeEvent> {
  const setup = approvals === undefined ? node.opened.setup : { ...node.opened.setup, approvals };
  return runAgent(setup, state).pipe(concatMap((event) => nodeEvents(node, event)));
}

function callsToAllow({ setup }: OpenAgent, calls: readonly PendingCall[]): readonly PendingCall[] {
  return calls.filter(({ name }) =>
    setup.tools.some(({ definition, needsApproval }) => needsApproval && definition.name === name),
  );
}
