/** The names of all attributes of spans in one place: dashboards are built on them. */
import type { CallAttributes, CallKind } from '../graph/node-events.js';

/** Attributes and events of nodes, as RAGFlow names them, and ours. */
export const ATTRIBUTE = {
  componentName: 'eino.component.name',
  componentType: 'eino.component.type',
  inputSize: 'eino.input.size',
  outputSize: 'eino.output.size',
  errorMessage: 'eino.error.message',
  streamStart: 'eino.stream.output.start',
  streamEnd: 'eino.stream.output.end',
  streamSize: 'eino.stream.output.size',
  errorType: 'error.type',
  node: 'runnel.node.id',
  within: 'runnel.node.within',
  attempt: 'runnel.node.attempt',
  continuation: 'runnel.node.then',
  isStopped: 'runnel.stopped',
  run: 'runnel.run.id',
  parentRun: 'runnel.run.parent',
  outcome: 'runnel.run.outcome',
  tenant: 'runnel.tenant.id',
  operation: 'gen_ai.operation.name',
  agent: 'gen_ai.agent.id',
  agentName: 'gen_ai.agent.name',
  tool: 'gen_ai.tool.name',
  model: 'gen_ai.request.model',
  conversation: 'gen_ai.conversation.id',
  session: 'session.id',
  stage: 'runnel.chat.stage',
  stageStatus: 'runnel.chat.stage.status',
  shortcut: 'runnel.chat.shortcut',
  inputText: 'input.value',
  outputText: 'output.value',
  inputTokens: 'gen_ai.usage.input_tokens',
  outputTokens: 'gen_ai.usage.output_tokens',
} as const;

/** Attributes of researches and their parts. */
export const RESEARCH_ATTRIBUTE = {
  /** The first three are given with the calls of its model. */
  call: 'runnel.research.call',
  about: 'runnel.research.about',
  money: 'runnel.research.money',
  task: 'runnel.research.task.id',
  tool: 'runnel.research.task.tool',
  status: 'runnel.research.task.status',
  question: 'runnel.research.question.id',
  parent: 'runnel.research.question.parent',
  round: 'runnel.research.question.round',
  verdict: 'runnel.research.verdict',
  confidence: 'runnel.research.confidence',
  supports: 'runnel.research.supports',
  where: 'runnel.research.where',
  found: 'runnel.research.found',
  unread: 'runnel.research.unread',
  texts: 'runnel.research.texts',
  calls: 'runnel.research.calls',
  tokens: 'runnel.research.tokens',
  webRequests: 'runnel.research.web_requests',
  action: 'runnel.research.action',
  missing: 'runnel.research.missing',
  outcome: 'runnel.research.outcome',
  rounds: 'runnel.research.rounds',
  sources: 'runnel.research.sources',
  unsupported: 'runnel.research.unsupported',
} as const;

/** What a kind of call is in the conventions for generative AI: its operation, and the attribute with its name. */
export const CALL: Readonly<Record<CallKind, { readonly operation: string; readonly name: string }>> = {
  model: { operation: 'chat', name: ATTRIBUTE.model },
  tool: { operation: 'execute_tool', name: ATTRIBUTE.tool },
  agent: { operation: 'invoke_agent', name: ATTRIBUTE.agentName },
};

/** Longest text of an attribute, in characters. */
const MAX_TEXT = 200;

/** Attributes that one call may bring along. */
const MAX_ATTRIBUTES = 32;

/** A text, cut to what an attribute may have. */
export function shortened(text: string, most = MAX_TEXT): string {
  return text.length <= most ? text : `${text.slice(0, most - 1)}…`;
}

/** Attributes that a component made, bounded. */
export function boundedAttributes(
  given: CallAttributes | undefined,
): Record<string, string | number | boolean | string[]> {
  const entries = Object.entries(given ?? {}).slice(0, MAX_ATTRIBUTES);
  return Object.fromEntries(entries.map(([name, value]) => [shortened(name), bounded(value)]));
}

function bounded(value: CallAttributes[string]): string | number | boolean | string[] {
  if (typeof value === 'string') return shortened(value);
  if (typeof value === 'number' || typeof value === 'boolean') return value;
  return Array.isArray(value) ? value.slice(0, MAX_ATTRIBUTES).map((item) => shortened(String(item))) : String(value);
}

/** When what is being handled happened, in milliseconds since 1970 with fractions. */
export interface Moment {
  at: number;
}
