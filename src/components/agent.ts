import { concat, concatMap, from, type Observable, of } from 'rxjs';
import { type AgentState, newAgentState } from '../agents/agent-events.js';
import { type Approval, needsApproval } from '../agents/approvals.js';
import { type CallContext, contextOf } from '../agents/call-context.js';
import { runAgent } from '../agents/run-agent.js';
import type { Activation } from '../graph/node.js';
import { interrupt, type NodeEvent } from '../graph/node-events.js';
import { type ChatMessage, contentText } from '../models/chat-model.js';
import { tools } from '../tools/index.js';
import type { AnyTool } from '../tools/tool.js';
import { inputsOf } from './agents/agent-inputs.js';
import { type AgentNode, approvalPayload, nodeEvents, readApprovals, readNodeState } from './agents/agent-node.js';
import { type AgentParams, agentParams, readAgent } from './agents/agent-params.js';
import { type McpTools, openAgent, withMcpTools } from './agents/agent-setup.js';
import { wholeAnswer } from './chat/answers.js';
import type { NodeChat } from './chat/params.js';
import { type Component, defineComponent } from './component.js';
import { llm } from './llm.js';
import { rewritePrompt } from './prompts.js';
import { TaggedText } from './speaking/think-text.js';

/** Seconds that an agent may take; RAGFlow's. */
const TIMEOUT_SECONDS = 1200;

/** Turns from which on a question may refer to earlier ones. */
const MIN_TURNS = 3;

/**
 * Asks a model that may call tools, until it answers. Text and reasoning come as they are written, also while tools run.
 *
 * What tools found may be cited, what they made is linked below the answer. After every round the agent stores its state, from
 * which a resumed or recovered run continues. Without tools it is an LLM. Errors: those of an LLM; the failure of a tool is text for the
 * model.
 */
export const agent = agentComponent(tools);

/** The component Agent with other tools than the built-in ones; see {@link agent}. */
export function agentComponent(library: readonly AnyTool[]): Component<AgentParams> {
  return defineComponent<AgentParams>({
    ...llm,
    type: 'Agent',
    group: 'model',
    hears: true,
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
      return (activation) => {
        const context = contextOf(activation);
        return withMcpTools(context, spec, (mcp) => work({ activation, context, spec, isStreamed }, mcp));
      };
    },
  });
}

type Work = Pick<AgentNode, 'context' | 'spec' | 'isStreamed'> & { readonly activation: Activation };

function work({ activation, context, spec, isStreamed }: Work, { offered, warnings }: McpTools): Observable<NodeEvent> {
  const stored = readNodeState(activation.nodeState);
  const opened = openAgent(context, spec, offered);
  const warnings$ = from([...warnings, ...opened.warnings]);
  const speech = new TaggedText(stored?.said ?? '');
  const inputs$ = inputsOf(context);
  const heard = inputs$ === undefined ? opened : { ...opened, setup: { ...opened.setup, inputs$ } };
  const node: AgentNode = { context, spec, opened: heard, speech, isStreamed };
  if (stored === undefined) return concat(warnings$, firstRound(node));
  const { state } = stored;
  if (state.pending === undefined) return runFrom(node, state);
  const calls = state.pending.calls.filter(({ name }) => needsApproval(opened.setup.tools, name));
  const approvals = readApprovals(activation, activation.answer, calls);
  // An answer that leaves a call open asks again.
  return approvals === undefined ? of(interrupt(approvalPayload(spec.name, calls))) : runFrom(node, state, approvals);
}

/** Starts with the question, which may be rewritten first. */
function firstRound(node: AgentNode): Observable<NodeEvent> {
  const { context, spec, opened } = node;
  if (spec.params.optimize_multi_turn !== true) return runFrom(node, newAgentState(opened.messages));
  return rewriteQuestion(context, opened.chat, opened.messages).pipe(
    concatMap((step) => ('type' in step ? of(step) : runFrom(node, newAgentState(step)))),
  );
}

/**
 * Rewrites the last question of a conversation so that it can be understood alone, by one call of the model; a conversation of
 * fewer than three turns is not changed. Emits the events of the call, and last the messages with the new question.
 *
 * Errors: those of the model.
 */
function rewriteQuestion(
  { now }: CallContext,
  chat: NodeChat,
  messages: readonly ChatMessage[],
): Observable<NodeEvent | readonly ChatMessage[]> {
  const turns = messages.filter(({ role }) => role === 'user' || role === 'assistant');
  const last = messages.at(-1);
  if (turns.length < MIN_TURNS || last?.role !== 'user' || typeof last.content !== 'string') return of(messages);
  const today = new Date(now()).toISOString().slice(0, 10);
  const prompt = rewritePrompt(
    turns.map(({ role, content }) => ({ role, content: contentText(content) })),
    today,
  );
  const { content: question } = last;
  const withQuestion = (text: string): ChatMessage[] => [
    ...messages.slice(0, -1),
    { role: 'user', content: text.trim() || question },
  ];
  return chat.ask(
    chat.request([{ role: 'user', content: prompt }]),
    (answer$) => wholeAnswer(answer$, (text) => of(withQuestion(text))),
    { id: 'rewrite' },
  );
}

function runFrom(node: AgentNode, state: AgentState, approvals?: ReadonlyMap<string, Approval>): Observable<NodeEvent> {
  const setup = approvals === undefined ? node.opened.setup : { ...node.opened.setup, approvals };
  return runAgent(setup, state).pipe(concatMap((event) => nodeEvents(node, event)));
}
