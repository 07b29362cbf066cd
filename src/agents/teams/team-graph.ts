/**
 * Agents that speak one after the other, as a graph: who is next is decided behind each of them.
 *
 * ```text
 *                 ┌──> writer ──┐
 * start ──> open ─┤             ├──> next ──┬──> close ──> end
 *             ▲   └──> critic ──┘           │
 *             └─────────────────────────────┘   (drawn: from next to each member)
 * ```
 *
 * The conversation is the state of the graph, so a team is stored, resumed, cancelled and observed like every graph. Members are parts of it, not
 * runs inside of it: their paths are `team/writer/model` and so on.
 */
import { graph } from '../../compose/graph.js';
import type { NodeHandle } from '../../compose/handles.js';
import { defineState } from '../../compose/state.js';
import type { Step, StepActivation } from '../../compose/step.js';
import { EngineError } from '../../errors.js';
import type { Json } from '../../json.js';
import type { ChatMessage } from '../../models/messages.js';
import {
  AGENT,
  type Agent,
  type AgentEnd,
  type AgentShape,
  type AgentStart,
  type AnswerReason,
  type AnyAgent,
  agentOf,
  answerOf,
  type HandoffTarget,
} from '../loop/agent-end.js';
import { messagesOf } from '../loop/agent-input.js';
import { spokenBy } from '../loop/heard-by.js';

/** What a team remembers. */
export interface TeamState {
  /** What the team was given, and what its members have added. */
  readonly messages: readonly ChatMessage[];
  /** How many of them it was given. */
  readonly given: number;
  /** The conversation as members go on with it, once one of them has put others in place of older messages. */
  readonly context?: readonly ChatMessage[];
  /** Whether the member at work was told the whole conversation. */
  readonly isWhole: boolean;
  /** Members that have begun. */
  readonly begun: number;
  /** What its director remembers. */
  readonly own: Json;
}

const Team = defineState<TeamState>('team', () => ({
  messages: [],
  given: 0,
  isWhole: true,
  begun: 0,
  own: null,
}));

/** How a member ended, where it did not fail. */
export type MemberEnd = Exclude<AgentEnd, { readonly type: 'failed' }>;

/** What comes next. */
export type Move =
  | {
      readonly to: string;
      readonly own?: Json;
      /** What the member hears. @default the whole conversation */
      readonly messages?: readonly ChatMessage[];
    }
  | {
      readonly answer: { readonly text: string; readonly value: unknown; readonly reason: AnswerReason };
      /** What of the conversation is kept, in place of all that was added. */
      readonly keeps?: readonly ChatMessage[];
      /** How each message is kept. @default as it is */
      readonly asKept?: (message: ChatMessage) => ChatMessage;
    }
  | { readonly handsOverTo: string };

/** Decides who speaks. Its functions are called again when a lost run is done over, so they must be pure but for states. */
export interface Director {
  /** The first member. */
  first(team: TeamState, at: StepActivation): Move;
  /** What comes behind a member that has answered or handed over. */
  next(end: MemberEnd, team: TeamState, at: StepActivation): Move;
}

/** A team, as it is drawn. */
export interface TeamPlan {
  readonly name: string;
  readonly description: string;
  readonly members: readonly AnyAgent[];
  readonly director: Director;
  /** Members of the team that a member may hand over to. @default none */
  readonly handoffs?: (member: string) => readonly HandoffTarget[];
  /** Members that may hand over to agents outside of the team. @default none */
  readonly leaves?: (member: string) => boolean;
}

/** Makes the agent that a team is. */
export function teamOf<O>(plan: TeamPlan): Agent<O> {
  const { name, description, members } = plan;
  const draw = <R>(shape: AgentShape, last: (end: AgentEnd) => R): Step<unknown, R> => teamGraph(plan, shape, last);
  return agentOf<O>(draw({}, answerOf) as Step<unknown, O>, description, {
    speakers: members.flatMap((member) => member[AGENT].speakers.map((path) => `${name}/${path}`)),
    ended: (shape) => draw(shape, (end) => end),
  });
}

/** What leads from node to node. */
type Turning =
  | { readonly member: string; readonly start: AgentStart }
  | { readonly member: typeof CLOSE; readonly end: AgentEnd };

const CLOSE = 'team-close';

function teamGraph<R>(plan: TeamPlan, shape: AgentShape, last: (end: AgentEnd) => R): Step<unknown, R> {
  const { name, members, director } = plan;
  const turn = (move: Move, at: StepActivation): Turning => turningOf(name, move, at);
  return graph<unknown, R>(
    name,
    (g) => {
      const open = g.node('team-open', (input: unknown, at): Turning => {
        const messages = messagesOf(isStart(input) ? input.messages : input, at.path, name);
        const team = at.state(Team).update({ messages, given: messages.length });
        at.emit('agent-started', { agent: name });
        return turn(director.first(team, at), at);
      });
      const next = g.node('team-next', (end: AgentEnd, at): Turning => {
        const team = takeIn(end, at);
        if (end.type === 'failed') return closed({ ...end, agent: name, ...shownBy(team) });
        if (isPreempted(end)) return turn({ answer: end }, at);
        return turn(director.next(end, team, at), at);
      });
      const close = g.node(CLOSE, (turning: Turning, at) => {
        const { end } = turning as Extract<Turning, { readonly member: typeof CLOSE }>;
        at.emit('agent-ended', { agent: name, type: end.type });
        return last(end);
      });
      const routes: Record<string, NodeHandle<Turning, unknown>> = { [CLOSE]: close };
      for (const member of members) {
        const inside = plan.handoffs?.(member.name) ?? [];
        const outside = plan.leaves?.(member.name) === true ? (shape.handoffs ?? []) : [];
        const others = outside.filter((target) => !inside.some((own) => own.name === target.name));
        const ended = member[AGENT].ended({ ...shape, handoffs: [...inside, ...others] });
        const node = g.node(member.name, ended, {
          before: (turning: Turning) => (turning as { readonly start: AgentStart }).start,
        });
        routes[member.name] = node;
        g.edge(node, next);
      }
      const choose = ({ member }: Turning): string => member;
      g.edge(g.start, open);
      g.branch(open, routes, choose);
      g.branch(next, routes, choose);
      g.edge(close, g.end);
    },
    { state: Team },
  );
}

/** Where a move leads, with what the team remembers of it. */
function turningOf(name: string, move: Move, at: StepActivation): Turning {
  const state = at.state(Team);
  const { value: team } = state;
  if ('to' in move) {
    const { to, own = team.own, messages } = move;
    state.update({ own, begun: team.begun + 1, isWhole: messages === undefined });
    return { member: to, start: { messages: messages ?? team.context ?? team.messages } };
  }
  if ('handsOverTo' in move) {
    return closed({ type: 'handed-over', to: move.handsOverTo, agent: name, ...shownBy(team) });
  }
  const { answer, keeps, asKept } = move;
  const { text, value, reason } = answer;
  const shown = keeps === undefined ? shownBy(team, asKept) : { messages: keeps };
  return closed({ type: 'answered', text, value, reason, agent: name, ...shown });
}

/** Takes what a member has added into the conversation, and goes on with what it has put in place of older messages. */
function takeIn({ agent, messages, context }: AgentEnd, at: StepActivation): TeamState {
  const state = at.state(Team);
  const added = spokenBy(agent, messages);
  const { context: before, isWhole } = state.append('messages', ...added);
  // Of a member that was told something else, its own conversation says nothing of the team's.
  if (context !== undefined && isWhole) return state.update({ context: spokenBy(agent, context) });
  return before === undefined ? state.value : state.update({ context: [...before, ...added] });
}

/** What others see of a team that has ended. */
function shownBy(
  team: TeamState,
  asKept: (message: ChatMessage) => ChatMessage = (message) => message,
): Pick<AgentEnd, 'messages' | 'context'> {
  const { context } = team;
  return { messages: added(team).map(asKept), ...(context !== undefined && { context: context.map(asKept) }) };
}

function closed(end: AgentEnd): Turning {
  return { member: CLOSE, end };
}

/** What members have added to the conversation. */
export function added({ messages, given }: TeamState): readonly ChatMessage[] {
  return messages.slice(given);
}

/** An input opens another turn: no other member begins. */
function isPreempted(end: AgentEnd): end is Extract<AgentEnd, { readonly type: 'answered' }> {
  return end.type === 'answered' && end.reason === 'preempted';
}

function isStart(input: unknown): input is AgentStart {
  return typeof input === 'object' && input !== null && Array.isArray((input as Partial<AgentStart>).messages);
}

/** The answer of a member as that of its team. @throws EngineError NODE_PROTOCOL when it handed over to what is not there. */
export function answerOfMember(end: MemberEnd): Move {
  if (end.type === 'handed-over') return { handsOverTo: end.to };
  const { text, value, reason } = end;
  return { answer: { text, value, reason: reason === 'returned-directly' ? 'answered' : reason } };
}

/** An error about a bound of a team. */
export function teamLimit(team: string, what: string, option: string): EngineError {
  return new EngineError('LIMIT_REACHED', `Team "${team}" was stopped: ${what} Raise "${option}" if that is too few.`);
}
