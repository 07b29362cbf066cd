/** Work of an agent in the background: what there is of it, and the rules that a middleware brings for it. */
import { map, type Observable } from 'rxjs';
import { defineState, type StateHandle } from '../../compose/state.js';
import type { StepActivation } from '../../compose/step.js';
import type { StepTool } from '../../compose/tools/step-tool.js';
import { EngineError } from '../../errors.js';
import { isJsonObject, type JsonObject } from '../../json.js';
import type { ToolDefinition } from '../../models/chat-model.js';
import type { ToolCall } from '../../models/content-parts.js';
import { didYouMean } from '../../nearest-name.js';
import { readArguments } from '../../tools/read-arguments.js';
import type { AnyMiddleware } from './middleware.js';

/** How a work stands. `asks`: it waits for a person. `late`: stopped since it took too long. `lost`: with its process. */
export type WorkStatus = 'at-work' | 'asks' | 'done' | 'failed' | 'stopped' | 'late' | 'lost' | 'cancelled';

/** One call that may be moved to the background. */
export interface Work {
  /** Unique in the agent: part of its paths. */
  readonly number: number;
  /** What the model calls it by, such as `w3`. */
  readonly id: string;
  /** The call that it is. */
  readonly call: ToolCall;
  readonly status: WorkStatus;
  /** Whether its call has its result, a word that it goes on. */
  readonly isMoved: boolean;
  /** Whether the model asked for that at once. */
  readonly isAtOnce: boolean;
  /** Whether the model has been told of its end. */
  readonly isTold: boolean;
  readonly startedAt: number;
  readonly endedAt?: number;
  /** The beginning of its result, until it is told; `''` before. */
  readonly text: string;
  /** Characters of the whole result. */
  readonly characters: number;
  /** The file that has the result, as far as it may be kept; `''` for none. */
  readonly path: string;
}

/** See {@link Background}. */
export interface BackgroundState {
  readonly works: readonly Work[];
  /** Works that there ever were. */
  readonly made: number;
  /** Whether the agent can do nothing before a person has answered: the run may wait then. */
  readonly isResting: boolean;
}

/** The state of an agent's work in the background. */
export const Background = defineState<BackgroundState>('background', () => ({ works: [], made: 0, isResting: false }));

/** What a work came to. */
export interface WorkOutcome {
  readonly status: 'done' | 'failed';
  /** Its beginning. */
  readonly text: string;
  readonly characters: number;
  readonly path: string;
}

/** How an agent's work in the background is dealt with; what it tells the model are functions. */
export interface BackgroundRules {
  /** Tools by name, which the agent has to have. */
  readonly tools: readonly string[];
  /** Whether calls of a tool may be moved. */
  isFor(tool: StepTool): boolean;
  /** Milliseconds after which a call is moved. */
  readonly afterMs: number;
  /** Works at once. */
  readonly maxWorks: number;
  /** Milliseconds that a work may take. */
  readonly maxMs: number;
  /** Milliseconds that the model may wait at a time. */
  readonly maxWaitMs: number;
  readonly whenEnded: 'await' | 'cancel';
  readonly whenLost: 'again' | 'tell';
  /** Keeps the result of a work, as far as it may be kept. */
  keep(
    result: { readonly text: string; readonly isError: boolean },
    work: Work,
    at: StepActivation,
  ): WorkOutcome | Observable<WorkOutcome>;
  /** Keeps what a tool has given so far, while it is at work. */
  progress?(text$: Observable<string>, work: Work, at: StepActivation): Observable<never>;
  /** Told in place of a result. */
  moved(work: Work): string;
  /** The result of a call that had ended before it was moved, or its report. */
  report(work: Work): string;
  /** Told of works that have ended, before a round. */
  ended(works: readonly Work[]): string;
  /** The result of waiting. */
  waited(works: readonly Work[], id: string | undefined): string;
  /** Why there is no more work at once. */
  readonly tooMany: string;
  /** What the argument {@link AT_ONCE} is for. */
  readonly atOnce: string;
}

/** The argument by which a model asks for a call in the background. */
export const AT_ONCE = 'in_background';

/** The tool by which a model waits for work. */
export const WAIT_TOOL = 'wait_work';

/** The key under which a middleware has the rules; not for programs. */
export const BACKGROUND: unique symbol = Symbol('background');

/** The rules among middlewares; undefined when no work of theirs is in the background. */
export function backgroundRules(use: readonly AnyMiddleware[]): BackgroundRules | undefined {
  const owner = use.find((middleware) => BACKGROUND in middleware);
  return (owner as { readonly [BACKGROUND]?: BackgroundRules } | undefined)?.[BACKGROUND];
}

/** The state around a step of the agent. */
export function backgroundAt(at: StepActivation): StateHandle<BackgroundState> {
  return at.state(Background);
}

/** The state now, then whenever it has changed; a change that follows from another one is told with it. */
export function changesOf(handle: StateHandle<BackgroundState>): Observable<BackgroundState> {
  return handle.value$.pipe(map(() => handle.value));
}

/** Whether a work is at work, or waits for a person. */
export function isOpen({ status }: Pick<Work, 'status'>): boolean {
  return status === 'at-work' || status === 'asks';
}

/** Whether there is work that has not ended. */
export function hasOpenWork(at: StepActivation): boolean {
  return backgroundAt(at).value.works.some(isOpen);
}

/** Works that have ended in the background, and that the model does not know of. */
export function untold({ works }: BackgroundState): readonly Work[] {
  return works.filter((work) => work.isMoved && !work.isTold && !isOpen(work));
}

/** Works that have ended and that stay known; their results are in the conversation. */
const MAX_KEPT = 50;

/** Changes the works that `change` gives something for. */
export function changeWorks(at: StepActivation, change: (work: Work) => Partial<Work> | undefined): void {
  const handle = backgroundAt(at);
  let hasChanged = false;
  const works = handle.value.works.map((work) => {
    const changed = change(work);
    if (changed === undefined) return work;
    hasChanged = true;
    return { ...work, ...changed };
  });
  if (hasChanged) handle.update({ works: withinBounds(works) });
}

function withinBounds(works: readonly Work[]): readonly Work[] {
  let left = works.filter((work) => work.isTold && !isOpen(work)).length - MAX_KEPT;
  if (left <= 0) return works;
  return works.filter((work) => {
    if (left <= 0 || isOpen(work) || !work.isTold) return true;
    left -= 1;
    return false;
  });
}

/** Ends open works from outside: their passes end because of it. */
export function endWorks(
  at: StepActivation,
  status: 'stopped' | 'late' | 'lost' | 'cancelled',
  isMeant: (work: Work) => boolean = () => true,
): void {
  changeWorks(at, (work) =>
    isOpen(work) && isMeant(work)
      ? { status, endedAt: at.now(), isTold: status === 'cancelled' || status === 'stopped' }
      : undefined,
  );
}

/** What the model has been told of. */
export const TOLD: Partial<Work> = Object.freeze({ isTold: true, text: '' });

/** The arguments of a call that may be moved, without the one that asks for it. @throws EngineError TOOL_ARGUMENTS */
export function workArguments({ name, arguments: text }: Pick<ToolCall, 'name' | 'arguments'>): JsonObject {
  const { [AT_ONCE]: _, ...args } = readArguments(name, text, { repair: true });
  return args;
}

/** Whether a call asks to be in the background at once; one that cannot be read does not. */
export function isAtOnce(call: ToolCall): boolean {
  try {
    return readArguments(call.name, call.arguments, { repair: true })[AT_ONCE] === true;
  } catch {
    return false;
  }
}

/** A call as its tool gets it. One that cannot be read stays, and its tool says why. */
export function withoutAtOnce(call: ToolCall): ToolCall {
  try {
    return { ...call, arguments: JSON.stringify(workArguments(call)) };
  } catch {
    return call;
  }
}

/** What a model is told of a tool whose calls may be moved. */
export function offeredAtOnce(tool: ToolDefinition, { atOnce }: BackgroundRules): ToolDefinition {
  const { properties } = tool.parameters;
  const own = isJsonObject(properties) ? properties : {};
  const argument = { type: 'boolean', description: atOnce };
  return { ...tool, parameters: { ...tool.parameters, properties: { ...own, [AT_ONCE]: argument } } };
}

/** Refuses rules that do not fit the tools of an agent. @throws EngineError OPTION_INVALID */
export function checkBackground(owner: string, rules: BackgroundRules, tools: readonly StepTool[]): void {
  const names = tools.map(({ name }) => name);
  const unknown = rules.tools.find((name) => !names.includes(name));
  if (unknown !== undefined) {
    const message = `${owner}: backgroundWork names the tool "${unknown}", which the agent does not have.${didYouMean(unknown, names)}`;
    throw new EngineError('OPTION_INVALID', message);
  }
  if (!tools.some((tool) => rules.isFor(tool))) {
    const message = `${owner} has nothing that backgroundWork could move. Give it agents as tools, or name tools: backgroundWork({ tools: ['…'] }).`;
    throw new EngineError('OPTION_INVALID', message);
  }
  const taken = tools.find(
    ({ parameters: { properties }, ...tool }) =>
      rules.isFor(tool as StepTool) && isJsonObject(properties) && Object.hasOwn(properties, AT_ONCE),
  );
  if (taken === undefined) return;
  const message = `${owner}: the tool "${taken.name}" has an argument "${AT_ONCE}", by which backgroundWork lets models ask for the background. Give it another name.`;
  throw new EngineError('OPTION_INVALID', message);
}
