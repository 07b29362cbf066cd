/** Work that goes on beside the rounds of an agent. */
import { createHash } from 'node:crypto';
import { catchError, EMPTY, exhaustMap, ignoreElements, map, type Observable, of, scan, throttleTime } from 'rxjs';
import { z } from 'zod';
import type { StepActivation } from '../../compose/step.js';
import { defineTool } from '../../compose/tools/define-tool.js';
import type { StepTool, ToolActivation, ToolContent } from '../../compose/tools/step-tool.js';
import { toEngineError } from '../../errors.js';
import { fromAbortable } from '../../operators/from-abortable.js';
import { invalidOption, requireMethods, requireOptions, requireWhole } from '../../operators/invalid-option.js';
import { type Language, requireLanguage } from '../language.js';
import { isAgentAsTool } from '../loop/agent-end.js';
import {
  BACKGROUND,
  type BackgroundRules,
  backgroundAt,
  changeWorks,
  endWorks,
  isOpen,
  TOLD,
  WAIT_TOOL,
  type Work,
  type WorkOutcome,
} from '../loop/background-state.js';
import { type AgentMiddleware, defineMiddleware } from '../loop/middleware.js';
import { type BackgroundTexts, backgroundTexts } from './background-texts.js';
import type { FileSpace } from './files/file-space.js';
import { startOf } from './instructions.js';

/** See {@link backgroundWork}. */
export interface BackgroundWorkOptions {
  /** Tools of code by name, whose calls may be moved; the agent has to have them. @default none */
  readonly tools?: readonly string[];
  /** Whether calls of agents may be moved: those of `agentTool` and of `subAgents`. @default true */
  readonly agents?: boolean;
  /** Milliseconds after which a call is moved; 0: at once. @default 30_000 */
  readonly afterMs?: number;
  /** Works at once; a call beyond is refused, in words for the model. @default 8 */
  readonly maxWorks?: number;
  /** Milliseconds that a work may take; it is stopped then, and the model is told. @default 600_000 */
  readonly maxMs?: number;
  /** Milliseconds that one call of `wait_work` waits at most. @default 60_000 */
  readonly maxWaitMs?: number;
  /** What becomes of work when the agent has its answer: it is awaited, and told in further rounds, or cancelled. @default 'await' */
  readonly whenEnded?: 'await' | 'cancel';
  /** What becomes of work whose process was lost, or that was stopped with its run. `again`: it goes on. `tell`: the model is told. @default 'again' */
  readonly whenLost?: 'again' | 'tell';
  /** Keeps what works give in files of `work/`; that of a tool also while it is at work. @default the model gets the beginning of a result alone */
  readonly space?: Pick<FileSpace, 'read' | 'write'>;
  /** Bytes of such a file; the rest is left out. @default 1_048_576 */
  readonly maxBytes?: number;
  /** Characters of a result that the model is told. @default 4_000 */
  readonly maxCharacters?: number;
  /** Unique among the middlewares of an agent. @default 'backgroundWork' */
  readonly name?: string;
  /** Of what models are told. @default 'en' */
  readonly language?: Language;
}

const OPTIONS = [
  'tools',
  'agents',
  'afterMs',
  'maxWorks',
  'maxMs',
  'maxWaitMs',
  'whenEnded',
  'whenLost',
  'space',
  'maxBytes',
  'maxCharacters',
  'name',
  'language',
];

/** Milliseconds between two writes of what a tool has given so far. */
const PROGRESS_MS = 1_000;
/** Characters of a file that `check_work` tells. */
const MAX_TAIL = 2_000;

/**
 * Moves calls of agents, and of the tools that are named, to the background: after `afterMs`, or at once when the model asks for it with the argument
 * `in_background`. The model gets an id in place of the result, goes on, and has the tools `check_work`, `wait_work` and `stop_work`; what has ended
 * is told to it once, before its next round.
 *
 * ```text
 * call       ^-------------(done)
 * round 1    --(moved)                 afterMs
 * round 2             ----
 * round 3                   (told)---
 * ```
 *
 * Work is a part of the agent's graph: an agent at work has paths such as `lead/work[1]/writer/model`, its questions are answered there, a run that is
 * recovered goes on inside, and all of it ends in the same tick as the agent. What is recorded as done is never done again. Questions reach the
 * person when the agent waits for the work, or has nothing else to do. An agent that fails, hands over, is preempted, returns a result directly or
 * may call no more tools cancels its work.
 *
 * Events: `work-started`, `work-moved`, `work-asks`, `work-ended` (with `status`), `work-told`, and `work-output-failed` when a file cannot be written.
 *
 * @throws EngineError OPTION_INVALID; also when an agent is made with it that does not have the tools.
 */
export function backgroundWork(options: BackgroundWorkOptions = {}): AgentMiddleware {
  const setup = readOptions(options);
  const made = defineMiddleware<undefined>({
    name: setup.name,
    tools: [checkTool(setup), waitTool(setup), stopTool(setup)],
    instructions: setup.texts.use,
  });
  return Object.freeze({ ...made, [BACKGROUND]: rulesOf(setup) }) as AgentMiddleware;
}

interface Setup extends Required<Omit<BackgroundWorkOptions, 'space' | 'language'>> {
  readonly space: BackgroundWorkOptions['space'] | undefined;
  readonly texts: BackgroundTexts;
}

function readOptions(options: BackgroundWorkOptions): Setup {
  const owner = 'backgroundWork';
  requireOptions(owner, options, OPTIONS);
  const { tools = [], agents = true, afterMs = 30_000, maxWorks = 8, maxMs = 600_000, maxWaitMs = 60_000 } = options;
  const { whenEnded = 'await', whenLost = 'again', space, maxBytes = 1_048_576, maxCharacters = 4_000 } = options;
  const { name = owner, language = 'en' } = options;
  if (!Array.isArray(tools) || tools.some((tool) => typeof tool !== 'string')) {
    throw invalidOption(owner, 'tools', 'a list of names of tools', tools);
  }
  if (typeof agents !== 'boolean') throw invalidOption(owner, 'agents', 'true or false', agents);
  if (!agents && tools.length === 0) {
    throw invalidOption(owner, 'tools', 'at least one name where agents are left out', tools);
  }
  requireWhole(owner, 'afterMs', afterMs, 0);
  for (const [option, value] of Object.entries({ maxWorks, maxMs, maxWaitMs, maxBytes, maxCharacters })) {
    requireWhole(owner, option, value, 1);
  }
  if (whenEnded !== 'await' && whenEnded !== 'cancel') {
    throw invalidOption(owner, 'whenEnded', '"await" or "cancel"', whenEnded);
  }
  if (whenLost !== 'again' && whenLost !== 'tell') {
    throw invalidOption(owner, 'whenLost', '"again" or "tell"', whenLost);
  }
  if (space !== undefined) requireMethods(owner, 'space', space, ['read', 'write'], 'a FileSpace');
  requireLanguage(owner, language);
  const bounds = { afterMs, maxWorks, maxMs, maxWaitMs, maxBytes, maxCharacters };
  return {
    ...{ tools, agents, whenEnded, whenLost, space, name, ...bounds },
    texts: backgroundTexts(language, { maxWorks, maxMs }),
  };
}

function rulesOf(setup: Setup): BackgroundRules {
  const { tools, agents, texts, space } = setup;
  return {
    ...setup,
    isFor: (tool) => (isAgentAsTool(tool) ? agents : tools.includes(tool.name) && !OWN.has(tool.name)),
    keep: (result, work, at) => keep(setup, result, work, at),
    ...(space !== undefined && {
      progress: (text$, work, at) => progress(setup, space, { text$, path: fileOf(work, passPath(at)) }),
    }),
    moved: texts.moved,
    report: texts.report,
    ended: texts.ended,
    waited: texts.waited,
    tooMany: texts.tooMany,
    atOnce: texts.atOnce,
  };
}

// ── files ───────────────────────────────────────────────────────────────────────────────────────────────────────────────────

function keep(
  { space, maxBytes, maxCharacters }: Setup,
  { text, isError }: { readonly text: string; readonly isError: boolean },
  work: Work,
  at: StepActivation,
): WorkOutcome | Observable<WorkOutcome> {
  const outcome = (path: string): WorkOutcome => ({
    status: isError ? 'failed' : 'done',
    text: startOf(text, maxCharacters),
    characters: text.length,
    path,
  });
  if (space === undefined) return outcome('');
  const path = fileOf(work, passPath(at));
  return fromAbortable(() => space.write(path, withinBytes(text, maxBytes))).pipe(
    map(() => outcome(path)),
    catchError((thrown: unknown) => {
      const { code, message } = toEngineError(thrown, 'TOOL_FAILED');
      at.emit('work-output-failed', { work: work.id, code, message });
      return of(outcome(''));
    }),
  );
}

/** What comes is written again and again; pieces that come during a write are in the next one, or in the whole result. */
function progress(
  { maxBytes }: Setup,
  space: Pick<FileSpace, 'write'>,
  { text$, path }: { readonly text$: Observable<string>; readonly path: string },
): Observable<never> {
  return text$.pipe(
    scan((all, piece) => (all.length >= maxBytes ? all : all + piece), ''),
    throttleTime(PROGRESS_MS, undefined, { leading: true, trailing: true }),
    exhaustMap((all) =>
      fromAbortable(() => space.write(path, withinBytes(all, maxBytes))).pipe(
        ignoreElements(),
        // That the file cannot be written is told with the whole result.
        catchError(() => EMPTY),
      ),
    ),
  );
}

function withinBytes(text: string, maxBytes: number): string {
  if (Buffer.byteLength(text) <= maxBytes) return text;
  // The decoder drops what is left of a character that was cut.
  return new TextDecoder('utf-8').decode(Buffer.from(text).subarray(0, maxBytes), { stream: true });
}

/** The same when a work is done again, and another one for each work that ever was in a space. */
function fileOf({ id, startedAt }: Work, path: string): string {
  const hash = createHash('sha256').update(`${path}@${startedAt}`).digest('hex').slice(0, 12);
  return `work/${id}-${hash}.txt`;
}

function passPath({ path }: Pick<StepActivation, 'path'>): string {
  return path.slice(0, path.lastIndexOf('/'));
}

// ── tools ───────────────────────────────────────────────────────────────────────────────────────────────────────────────────

const CHECK = 'check_work';
const STOP = 'stop_work';
const OWN: ReadonlySet<string> = new Set([CHECK, STOP, WAIT_TOOL]);

function checkTool({ space, texts }: Setup): StepTool {
  return defineTool({
    name: CHECK,
    description: texts.check,
    input: z.object({ id: z.string().optional().describe(texts.checkId) }),
    run: ({ id }, call): ToolContent | Promise<ToolContent> => {
      const { works } = backgroundAt(call).value;
      const moved = works.filter((work) => work.isMoved);
      if (id === undefined) return { text: texts.list(moved, call.now()) };
      const work = moved.find((one) => one.id === id);
      if (work === undefined) return { text: texts.unknown(id, moved), isError: true };
      const state = texts.state(work, call.now());
      if (!isOpen(work)) {
        const text = work.isTold ? state : texts.report(work);
        changeWorks(call, (one) => (one.id === id ? TOLD : undefined));
        return { text };
      }
      if (space === undefined) return { text: state };
      const file = fileOf(work, passBeside(call, work));
      const soFar = (lines: readonly string[]): ToolContent => ({
        text: `${state}\n\n${texts.soFar(file)}\n${lines.join('\n').slice(-MAX_TAIL)}`,
      });
      return tailOf(space, file).then(
        (lines) => (lines.length === 0 ? { text: state } : soFar(lines)),
        () => ({ text: state }),
      );
    },
    output: (content) => content,
  });
}

/** The pass of a work in the agent whose tool is called: `lead/tools#c1` stands beside `lead/work[1]`. */
function passBeside({ path, id }: ToolActivation, { number }: Work): string {
  // An id may have any character.
  const step = path.slice(0, path.length - id.length - 1);
  return `${step.slice(0, step.lastIndexOf('/') + 1)}work[${number}]`;
}

async function tailOf(space: Pick<FileSpace, 'read'>, file: string): Promise<readonly string[]> {
  const { totalLines } = await space.read(file, { limit: 1 });
  const { lines } = await space.read(file, { offset: Math.max(0, totalLines - 100), limit: 100 });
  return lines;
}

function stopTool({ texts }: Setup): StepTool {
  return defineTool({
    name: STOP,
    description: texts.stop,
    input: z.object({ id: z.string().describe(texts.stopId) }),
    run: ({ id }, call): ToolContent => {
      const moved = backgroundAt(call).value.works.filter((work) => work.isMoved);
      const work = moved.find((one) => one.id === id);
      if (work === undefined) return { text: texts.unknown(id, moved), isError: true };
      if (!isOpen(work)) return { text: texts.state(work, call.now()) };
      endWorks(call, 'stopped', (one) => one.id === id);
      return { text: texts.stopped(work) };
    },
    output: (content) => content,
  });
}

/** Its calls are made where the round is held, since they do nothing but wait. */
function waitTool({ texts, maxWaitMs }: Setup): StepTool {
  const seconds = Math.ceil(maxWaitMs / 1_000);
  return defineTool({
    name: WAIT_TOOL,
    description: texts.wait(seconds),
    input: z.object({
      id: z.string().optional().describe(texts.waitId),
      seconds: z.number().min(0).max(seconds).optional(),
    }),
    run: () => texts.waited([], undefined),
  });
}
