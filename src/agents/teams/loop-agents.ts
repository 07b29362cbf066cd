/** Agents that work round after round, until one of them says that it is enough. */
import { show } from '../../compose/make-step.js';
import { defineTool } from '../../compose/tools/define-tool.js';
import type { StepTool } from '../../compose/tools/step-tool.js';
import type { ChatMessage } from '../../models/messages.js';
import { invalidOption, requireCallable, requireWhole } from '../../operators/invalid-option.js';
import { type Language, requireLanguage } from '../language.js';
import type { Agent } from '../loop/agent-end.js';
import { AGENT_TEXTS } from '../loop/agent-texts.js';
import { wrongGiven } from '../loop/given.js';
import { type SessionValues, sessionAt } from '../loop/session-values.js';
import { answerOfMember, type MemberEnd, type Move, teamLimit, teamOf } from './team-graph.js';
import { requireMembers, requireTeam, type TeamOptions } from './team-options.js';

/** A round of a team, as {@link LoopOptions.until} sees it behind an answer. */
export interface TeamRound {
  /** Who has just answered. */
  readonly agent: string;
  readonly text: string;
  readonly value: unknown;
  /** From 1. */
  readonly round: number;
  /** Values that the agents of a turn share. */
  readonly session: SessionValues;
}

/** See {@link loopAgents}. */
export interface LoopOptions<O> extends TeamOptions {
  /** In their order in a round. */
  readonly agents: readonly Agent<O>[];
  /** Whether the answer just given is that of the team; asked behind every member. @default only the tool `exitLoop` ends it */
  readonly until?: (round: TeamRound) => boolean;
  /** @default 10 */
  readonly maxRounds?: number;
  /** What happens behind the last round. `answer`: the newest answer is that of the team. `fail`: LIMIT_REACHED. @default 'answer' */
  readonly whenExhausted?: 'answer' | 'fail';
}

/**
 * Makes a team whose agents work in rounds: the last one is followed by the first one, until `until` says so, an agent calls the tool `exitLoop`, or
 * the rounds are used up. Each agent hears what all did so far, told as context.
 *
 * ```text
 * writer   --w|     --x|
 * critic      --c|     --d|
 * until         no       yes
 * team     --------------(d|)
 * ```
 *
 * ```ts
 * import { createScriptedModel, invoke } from 'runnel';
 * import { agent, exitLoop, loopAgents } from 'runnel/agents';
 *
 * const model = createScriptedModel({
 *   rules: [
 *     { when: {}, reply: 'First draft.', times: 1 },
 *     { when: {}, tool_calls: [{ name: 'exit_loop', arguments: { answer: 'Second draft.' } }] },
 *   ],
 * });
 * const writer = agent({ name: 'writer', model, tools: [exitLoop] });
 * console.log(await invoke(loopAgents({ name: 'drafts', agents: [writer] }), 'Write.'));
 * // => Second draft.
 * ```
 *
 * @throws EngineError PLAN_INVALID, OPTION_INVALID for options that cannot be used.
 */
export function loopAgents<O = string>(options: LoopOptions<O>): Agent<O> {
  const owner = requireTeam('loopAgents', options, ['agents', 'until', 'maxRounds', 'whenExhausted']);
  const { name, description = '', agents, until, maxRounds = 10, whenExhausted = 'answer' } = options;
  requireMembers(owner, agents);
  requireCallable(owner, 'until', until);
  requireWhole(owner, 'maxRounds', maxRounds, 1);
  if (whenExhausted !== 'answer' && whenExhausted !== 'fail') {
    throw invalidOption(owner, 'whenExhausted', '"answer" or "fail"', whenExhausted);
  }
  const names = agents.map((member) => member.name);
  const ending = (end: MemberEnd): Move => ({ ...answerOfMember(end), asKept: withoutExit });
  return teamOf<O>({
    name,
    description,
    members: agents,
    director: {
      first: () => ({ to: names[0] as string }),
      next: (end, team, at) => {
        const round = Math.ceil(team.begun / names.length);
        if (end.type !== 'answered' || end.messages.some(isExit)) return ending(end);
        const { agent, text, value } = end;
        const isOver: unknown = until?.({ agent, text, value, round, session: sessionAt(at).values }) ?? false;
        if (typeof isOver !== 'boolean') throw wrongGiven(`"until" of ${owner}`, 'true or false at once', show(isOver));
        if (isOver) return ending(end);
        const next = names[names.indexOf(agent) + 1];
        if (next !== undefined) return { to: next };
        if (round < maxRounds) return { to: names[0] as string };
        if (whenExhausted === 'fail') throw teamLimit(name, `${maxRounds} rounds gave no end.`, 'maxRounds');
        return ending(end);
      },
    },
  });
}

/**
 * The tool with which an agent ends the loop around it, in a language: what it is called with is the answer of the team.
 *
 * @throws EngineError OPTION_INVALID for a language that there are no texts for.
 */
export function exitLoopIn(language: Language): StepTool {
  requireLanguage('exitLoopIn', language);
  const { exit, exitAnswer } = AGENT_TEXTS[language];
  return defineTool({
    name: 'exit_loop',
    description: exit,
    input: {
      type: 'object',
      properties: { answer: { type: 'string', description: exitAnswer } },
      required: ['answer'],
    },
    run: ({ answer }) => ({ text: String(answer), extra: { returnDirectly: true, exitsLoop: true } }),
    output: (ended) => ended as { readonly text: string },
  });
}

/** The same in English. */
export const exitLoop: StepTool = exitLoopIn('en');

function isExit(message: ChatMessage): boolean {
  return message.role === 'tool' && message.extra?.exitsLoop === true;
}

/** The loop has ended: the word does not end a loop around it. */
function withoutExit(message: ChatMessage): ChatMessage {
  if (!isExit(message)) return message;
  const { exitsLoop: _, ...extra } = message.extra ?? {};
  return { ...message, extra };
}
