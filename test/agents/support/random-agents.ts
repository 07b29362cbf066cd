/** Random agents and teams, whose models answer by what they hear: what is lost or told twice changes the answer. */
import { concat, defer, map, of } from 'rxjs';
import {
  type Agent,
  type AnyAgent,
  type AnyMiddleware,
  agent,
  agentFrom,
  agentTool,
  answerEvents,
  deepAgent,
  defineMiddleware,
  handoff,
  hostAgents,
  loopAgents,
  type Plan,
  parallelAgents,
  planExecute,
  sequentialAgents,
  supervisor,
} from '../../../src/entries/agents.js';
import { type ChatDelta, type ChatModel, type ChatRequest, defineTool } from '../../../src/index.js';
import { hash, type Random } from '../../support/random.js';

/** Calls and handoffs of one answer are bounded, so that every conversation ends. */
const MAX_OWN = 3;

/** Makes an agent of at most so many levels; the same for the same randomness. */
export function randomAgent(random: Random, levels: number, asks: boolean): AnyAgent {
  let count = 0;
  const name = (): string => {
    count += 1;
    return `a${count}`;
  };
  const make = (left: number): AnyAgent => {
    const kind = left <= 1 ? random.pick(['leaf', 'leaf', 'hand']) : random.pick(KINDS);
    const own = name();
    const members = (most: number): AnyAgent[] => Array.from({ length: 1 + random.int(most) }, () => make(left - 1));
    switch (kind) {
      case 'hand':
        return handMade(own, asks && random.chance(0.8));
      case 'sequence':
        return sequentialAgents({ name: own, description: own, agents: members(3) as [AnyAgent] });
      case 'parallel':
        return parallelAgents({ name: own, description: own, agents: members(3) });
      case 'loop': {
        const until = ({ text }: { readonly text: string }) => hash(text) % 3 === 0;
        return loopAgents({ name: own, description: own, agents: members(2), until, maxRounds: 2 });
      }
      case 'handoff':
        // The bound of a random pair that hands over for ever is met by an error, which laws compare as well.
        return handoff({ name: own, description: own, agents: members(3), maxHandoffs: 4 });
      case 'supervisor':
        return supervisor({ name: own, description: own, lead: make(1), agents: members(2), maxHandoffs: 6 });
      case 'host':
        return hostAgents({
          name: own,
          description: own,
          model: hearingModel(own),
          agents: members(2),
          summary: random.chance(0.5),
        });
      case 'deep': {
        const tools = asks ? [echo(), sure()] : [echo()];
        return deepAgent({ name: own, description: own, model: hearingModel(own), agents: members(2), tools });
      }
      case 'plan': {
        const [planner, replanner] = [planning(name()), planning(name())];
        return planExecute({ name: own, description: own, planner, executor: make(left - 1), replanner, maxSteps: 2 });
      }
      default: {
        const tools = [
          echo(),
          ...(asks ? [sure()] : []),
          ...(left > 1 && random.chance(0.5) ? [agentTool(make(left - 1))] : []),
        ];
        return agent({ name: own, description: own, model: hearingModel(own), tools, use: middlewares(random, asks) });
      }
    }
  };
  return make(levels);
}

const KINDS = [
  'leaf',
  'sequence',
  'parallel',
  'parallel',
  'loop',
  'handoff',
  'supervisor',
  'host',
  'deep',
  'plan',
] as const;

/** Plans by what it hears; at times it answers. */
function planning(name: string): Agent<Plan> {
  return agentFrom<Plan>({
    name,
    run: (messages) => {
      const heard = hash(name, JSON.stringify(messages));
      const value: Plan = { steps: Array.from({ length: 1 + (heard % 2) }, (_, at) => `${name} ${at} ${heard % 97}`) };
      return { text: JSON.stringify(value), value };
    },
  });
}

function handMade(name: string, asks: boolean): AnyAgent {
  return agentFrom({
    name,
    description: name,
    run: (messages, at) => {
      if (asks && at.answer === undefined) return at.interrupt(`${name}?`);
      return `${name}: ${hash(JSON.stringify(messages), String(at.answer)) % 997}`;
    },
  });
}

/** Some that change what goes through them by what they remember, in any order; one asks before calls are made. */
function middlewares(random: Random, asks: boolean): AnyMiddleware[] {
  const counting = defineMiddleware<number>({
    name: 'counting',
    initial: () => 0,
    beforeModel: (request, view) => {
      view.setOwn(view.own + 1);
      return { ...request, instructions: `Round ${view.own}.` };
    },
    afterTools: (results, { own }) => results.map((result) => ({ ...result, content: `${result.content} in ${own}` })),
    afterAgent: ({ text }, { own }) => ({ text: `${text} (${own})` }),
  });
  const marking = defineMiddleware({
    name: 'marking',
    wrapModel: (request, next) =>
      next(request).pipe(map((piece) => (piece.content === '' ? piece : { ...piece, content: `${piece.content}~` }))),
  });
  const asking = defineMiddleware({
    name: 'asking',
    afterModel: ({ message, results }, view) => {
      if (message.toolCalls === undefined) return undefined;
      if (!view.answers.has('')) return view.interrupt('Well?');
      return { message: { ...message, content: `${message.content} [${view.answers.get('')}]` }, results };
    },
  });
  const all = [counting, marking, answerEvents(), ...(asks ? [asking] : [])];
  return random.shuffle(all).slice(0, random.int(all.length + 1));
}

const echo = () =>
  defineTool({
    name: 'echo',
    description: 'Says it again.',
    run: (args) => `echo ${hash(JSON.stringify(args)) % 997}`,
  });

const sure = () =>
  defineTool({
    name: 'sure',
    description: 'Asks.',
    run: (_, call) => (call.answer === undefined ? call.interrupt('Sure?') : `It is ${call.answer}.`),
  });

/** Answers by what it hears, and refuses a conversation that no provider would take. */
function hearingModel(name: string): ChatModel {
  return {
    chat: (request) =>
      defer(() => {
        const { messages, tools = [] } = request;
        requireConversation(name, messages);
        const own = messages.filter(({ role, extra }) => role === 'assistant' && extra?.agent !== undefined).length;
        const said = messages.filter(({ role }) => role === 'assistant').length;
        const heard = hash(name, JSON.stringify(messages.map(({ extra: _, ...message }) => message)));
        const called =
          said + own < MAX_OWN && heard % 2 === 0 ? tools[(heard >> 3) % Math.max(1, tools.length)] : undefined;
        const text: ChatDelta = { type: 'text', text: `${name}: ${heard % 997}` };
        if (called === undefined) return concat(of(text), of<ChatDelta>({ type: 'finish', reason: 'stop' }));
        const args = JSON.stringify({ request: `do ${heard % 97}` });
        return of<ChatDelta[]>(
          text,
          { type: 'tool-call', index: 0, id: `${name}-${messages.length}`, name: called.name, arguments: args },
          { type: 'finish', reason: 'tool_calls' },
        );
      }),
  };
}

/** Every call has its result behind it, every result a call, and nothing that another agent said is said as its own. */
function requireConversation(name: string, messages: ChatRequest['messages']): void {
  let open: string[] = [];
  for (const message of messages) {
    if (message.role === 'tool') {
      if (!open.includes(message.toolCallId)) throw new Error(`${name} hears a result without a call.`);
      open = open.filter((id) => id !== message.toolCallId);
      continue;
    }
    if (open.length > 0) throw new Error(`${name} hears a call without a result.`);
    if (message.role !== 'assistant') continue;
    if (message.extra?.agent !== undefined && message.extra.agent !== name)
      throw new Error(`${name} is told the words of another agent as its own.`);
    open = (message.toolCalls ?? []).map(({ id }) => id);
  }
  if (open.length > 0) throw new Error(`${name} hears a call without a result.`);
}
