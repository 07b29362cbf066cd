/** The steps of work in the background: the works themselves, what holds a round for their ends, and what an agent rests in. */
import { defer, EMPTY, filter, map, merge, mergeMap, type Observable, of, Subject, take, tap, timer } from 'rxjs';
import { graph } from '../../compose/graph.js';
import type { NodeHandle } from '../../compose/handles.js';
import { Interrupt, WAITS_FOR_OTHERS } from '../../compose/interrupt.js';
import { mapPasses } from '../../compose/passes.js';
import type { AnyStep, PassRules, Step, StepActivation } from '../../compose/step.js';
import { step } from '../../compose/steps.js';
import { concatMessageLists } from '../../models/concat-messages.js';
import type { ToolCall } from '../../models/content-parts.js';
import { type ToolMessage, toolMessage } from '../../models/messages.js';
import { readArguments } from '../../tools/read-arguments.js';
import { AGENT, AGENT_TOOL, type AgentAsTool, type AgentEnd } from './agent-end.js';
import { type AgentCall, type AgentInGraph, type AgentWithWork, routeTo } from './agent-in-graph.js';
import { AGENT_TEXTS, type AgentTexts } from './agent-texts.js';
import {
  backgroundAt,
  changesOf,
  changeWorks,
  endWorks,
  isAtOnce,
  isOpen,
  TOLD,
  untold,
  type Work,
  type WorkOutcome,
  withoutAtOnce,
  workArguments,
} from './background-state.js';
import { callsOfTools } from './call-tools.js';
import { spokenBy } from './heard-by.js';
import { heardAt } from './heard-inputs.js';
import { placeOf } from './listen-step.js';
import { liveAt } from './live-control.js';
import { loopAt } from './loop-state.js';

/** A work as its pass begins with it. */
export interface WorkCall extends Partial<Omit<AgentCall, 'name'>> {
  readonly number: number;
  /** To an agent, or to the tools. */
  readonly way: string;
  readonly call: ToolCall;
}

type GivenByWork = AgentEnd | readonly ToolMessage[];

/** All works of a round, each a pass; one ends when its work does, or when the state says that it has ended. */
export function workStep(agent: AgentWithWork): Step<readonly WorkCall[], unknown> {
  const steps = new Map<string, AnyStep>();
  for (const tool of agent.agents) {
    if (!agent.background.isFor(tool)) continue;
    for (const called of tool[AGENT_TOOL].agents) {
      steps.set(wayTo(agent, tool, called.name), called[AGENT].ended({ endsOnFailure: true }));
    }
  }
  if (agent.tools.some((tool) => agent.background.isFor(tool))) steps.set(toolWay(agent), callStep(agent));
  const one = graph<WorkCall, WorkOutcome>('work', (g) => {
    const keep = g.node(KEEP, keepStep(agent));
    const ways: Record<string, NodeHandle<WorkCall, GivenByWork>> = {};
    for (const [id, made] of steps) {
      const way: NodeHandle<WorkCall, GivenByWork> = g.node(id, made);
      g.edge(way, keep);
      ways[id] = way;
    }
    g.branch(g.start, ways, ({ way }) => way);
    g.edge(keep, g.end);
  });
  return mapPasses(one, passRules(agent));
}

/** Ids of nodes have no `/`. */
function wayTo(agent: AgentWithWork, tool: AgentAsTool, called: string): string {
  return routeTo(agent, tool, called).replace('/', ':');
}

/** No agent has such a name. */
const KEEP = 'keep:result';

/** The way of the calls that are no agents; unlike those of all agents. */
function toolWay({ agents }: AgentInGraph): string {
  const names = new Set(agents.flatMap((tool) => [tool.name, ...tool[AGENT_TOOL].agents.map(({ name }) => name)]));
  let way = 'tool';
  while (names.has(way)) way += '_';
  return way;
}

function callStep(agent: AgentWithWork): Step<WorkCall, ToolMessage[]> {
  const { background } = agent;
  return step<WorkCall, ToolMessage[]>(
    'tool',
    ({ call, number }, at) =>
      defer(() => {
        const replies$ = callsOfTools(agent, at)([withoutAtOnce(call)], at);
        const work = workOf(at, number);
        if (background.progress === undefined || work === undefined) return replies$;
        const text$ = new Subject<string>();
        const told$ = replies$.pipe(
          tap({
            next: (reply) => reply instanceof Interrupt || text$.next(reply[0]?.content ?? ''),
            finalize: () => text$.complete(),
          }),
        );
        return merge(background.progress(text$, work, at), told$);
      }),
    { kind: 'toolsNode', mayAsk: true, chunks: (lists) => concatMessageLists(lists) },
  );
}

/** Keeps the result before the pass ends: what is done is not done again when the process is lost then. */
function keepStep({ background, setup }: AgentWithWork): Step<GivenByWork, WorkOutcome> {
  return step(KEEP, (given: GivenByWork, at): WorkOutcome | Observable<WorkOutcome> => {
    const work = workOf(at, passOf(at));
    const result = resultIn(given, AGENT_TEXTS[setup.language]);
    if (work !== undefined) return background.keep(result, work, at);
    return { status: result.isError ? 'failed' : 'done', text: result.text, characters: result.text.length, path: '' };
  }) as Step<GivenByWork, WorkOutcome>;
}

/** The pass that a step stands in, from its path: `lead/work[3]/writer`. */
function passOf({ path }: StepActivation): number {
  return Number(/\[(\d+)\]\/[^/]*$/.exec(path)?.[1]);
}

function workOf(at: StepActivation, number: number): Work | undefined {
  return backgroundAt(at).value.works.find((work) => work.number === number);
}

function resultIn(given: GivenByWork, { noResult }: AgentTexts): { readonly text: string; readonly isError: boolean } {
  if ('type' in given) {
    if (given.type === 'answered') return { text: given.text, isError: false };
    const text = given.type === 'failed' ? given.error.message : noResult;
    return { text, isError: true };
  }
  const [message] = given;
  return { text: message?.content ?? '', isError: message?.isError === true };
}

/** Of a work that the state has the end of: nothing reads it. */
const NO_OUTCOME: WorkOutcome = Object.freeze({ status: 'failed', text: '', characters: 0, path: '' });

function passRules({ setup, background }: AgentWithWork): PassRules<WorkCall, WorkOutcome> {
  const say = (at: StepActivation, name: string, { id, call, status }: Work): void =>
    at.emit(name, { agent: setup.name, work: id, tool: call.name, status });
  const endedOf = (number: number, at: StepActivation): { readonly value: WorkOutcome } | undefined => {
    const work = workOf(at, number);
    if (work !== undefined && isOpen(work)) return undefined;
    return { value: NO_OUTCOME };
  };
  return {
    number: ({ number }) => number,
    known: ({ number }, at) => endedOf(number, at),
    instead: ({ number }, at, isRestored) =>
      defer(() => {
        const handle = backgroundAt(at);
        const isThis = (work: Work): boolean => work.number === number;
        const wasAtWork = workOf(at, number)?.status === 'at-work';
        if (isRestored && wasAtWork && background.whenLost === 'tell') endWorks(at, 'lost', isThis);
        const late$ = timer(background.maxMs).pipe(
          tap(() => endWorks(at, 'late', isThis)),
          mergeMap(() => EMPTY),
        );
        return merge(changesOf(handle), late$).pipe(
          map(() => workOf(at, number)),
          // What has ended by itself gives its own result.
          filter((work) => work !== undefined && !isOpen(work) && work.status !== 'done' && work.status !== 'failed'),
          take(1),
          tap((work) => say(at, 'work-ended', work as Work)),
          map(() => NO_OUTCOME),
        );
      }),
    stands: ({ number }, standing, at, value) => {
      // An answer has come, or the run was taken up: the node may wait only once the agent has looked again.
      if (standing === 'at-work' && backgroundAt(at).value.isResting) backgroundAt(at).update({ isResting: false });
      const before = workOf(at, number);
      if (before === undefined || !isOpen(before)) return;
      // Before the state changes: because of that the node may end at once.
      if (standing === 'waiting') say(at, 'work-asks', { ...before, status: 'asks' });
      if (standing === 'ended' && value !== undefined) say(at, 'work-ended', { ...before, status: value.status });
      changeWorks(at, (work) => {
        if (work.number !== number) return undefined;
        if (standing === 'at-work') return work.status === 'at-work' ? undefined : { status: 'at-work' };
        if (standing === 'waiting') return { status: 'asks' };
        return { ...(value ?? { status: 'failed' }), endedAt: at.now() };
      });
    },
    mayWait: (at) => changesOf(backgroundAt(at)).pipe(map(({ isResting }) => isResting)),
  };
}

// ── the calls of an answer ──────────────────────────────────────────────────────────────────────────────────────────────────

/** Makes works of the calls of an answer that may be moved; gives the results of those that there is no place for. */
export function beginWorks(
  agent: AgentWithWork,
  calls: readonly ToolCall[],
  at: StepActivation,
): readonly ToolMessage[] {
  const { background, setup } = agent;
  const handle = backgroundAt(at);
  const { works, made } = handle.value;
  const free = Math.max(0, background.maxWorks - works.filter(isOpen).length);
  const first = Math.max(made, newestNumber(at));
  const fresh = calls.slice(0, free).map(
    (call, index): Work => ({
      number: first + index + 1,
      id: `w${first + index + 1}`,
      call,
      status: 'at-work',
      isMoved: false,
      isAtOnce: isAtOnce(call),
      isTold: false,
      startedAt: at.now(),
      text: '',
      characters: 0,
      path: '',
    }),
  );
  handle.update({ works: [...works, ...fresh], made: first + fresh.length });
  for (const { id, call } of fresh) at.emit('work-started', { agent: setup.name, work: id, tool: call.name });
  return calls.slice(free).map(({ id, name }) => toolMessage(background.tooMany, id, { name, isError: true }));
}

/** Of works that the conversation tells of, also of earlier turns: their ids are not given again. */
function newestNumber(at: StepActivation): number {
  const numbers = loopAt(at).value.messages.map(({ extra }) => (typeof extra?.work === 'number' ? extra.work : 0));
  return numbers.reduce((newest, number) => Math.max(newest, number), 0);
}

/** The works of an answer, as their passes begin. */
export function workCalls(agent: AgentWithWork, calls: readonly ToolCall[], at: StepActivation): WorkCall[] {
  const before = spokenBy(agent.setup.name, loopAt(at).value.messages.slice(0, -1));
  return worksOf(calls, at).map(({ number, call }): WorkCall => {
    const tool = agent.agents.find(({ name }) => name === call.name);
    if (tool === undefined) return { number, way: toolWay(agent), call };
    const args = workArguments(call);
    const { choose, agents: callable, messagesOf } = tool[AGENT_TOOL];
    const chosen = choose?.(args) ?? callable[0]?.name ?? '';
    return { number, way: wayTo(agent, tool, chosen), call, messages: messagesOf(args, before) };
  });
}

/** The works that calls of the newest answer are. */
function worksOf(calls: readonly ToolCall[], at: StepActivation): readonly Work[] {
  const { works } = backgroundAt(at).value;
  // The newest ones: providers use ids of calls again in later answers.
  return calls.flatMap(({ id }) => works.findLast(({ call }) => call.id === id) ?? []);
}

/** The calls of an answer that are held. */
export interface HeldCalls {
  readonly works: readonly ToolCall[];
  readonly waits: readonly ToolCall[];
}

/** Gives the results of calls that may be moved, and of those that wait: when what they wait for has ended, or after their time. */
export function holdStep(
  agent: AgentWithWork,
  heldAt: (at: StepActivation) => HeldCalls,
): Step<unknown, ToolMessage[]> {
  return step<unknown, ToolMessage[]>(
    'hold',
    (_, at) =>
      defer(() => {
        const held = new HeldRound(agent, heldAt(at), at);
        return waitFor(held, held.clock$(), at);
      }),
    { mayAsk: true, waits: true },
  );
}

class HeldRound implements Awaited<ToolMessage[]> {
  readonly #agent: AgentWithWork;
  readonly #calls: HeldCalls;
  readonly #at: StepActivation;
  #isTimeUp: boolean;
  readonly #waitsOver = new Set<string>();

  constructor(agent: AgentWithWork, calls: HeldCalls, at: StepActivation) {
    this.#agent = agent;
    this.#calls = calls;
    this.#at = at;
    // Not a timer of 0: what the works do at once would come first.
    this.#isTimeUp = agent.background.afterMs === 0;
  }

  /** Emits when a time is over. */
  clock$(): Observable<unknown> {
    const { afterMs, maxWaitMs } = this.#agent.background;
    const moved$ = timer(afterMs).pipe(
      tap(() => {
        this.#isTimeUp = true;
      }),
    );
    const waits$ = this.#calls.waits.map((call) =>
      timer(Math.min(maxWaitMs, waitOf(call).ms ?? maxWaitMs)).pipe(tap(() => this.#waitsOver.add(call.id))),
    );
    return merge(...(this.#calls.works.length > 0 ? [moved$] : []), ...waits$);
  }

  isOver(): boolean {
    return this.#open().length === 0;
  }

  /** Whether everything that is waited for waits for a person. */
  asks(): boolean {
    return this.#open().every((works) => works.every(({ status }) => status === 'asks'));
  }

  /** Works whose ends calls wait for, a list for each call that waits. */
  #open(): (readonly Work[])[] {
    const own = worksOf(this.#calls.works, this.#at).filter(
      (work) => isOpen(work) && !work.isAtOnce && !this.#isTimeUp,
    );
    const waits = this.#calls.waits.filter(({ id }) => !this.#waitsOver.has(id)).map((call) => this.#awaited(call));
    return [...own.map((work) => [work]), ...waits.filter((works) => works.length > 0)];
  }

  /** Open works that a call waits for: one, or all unless one of them has ended and is not told. */
  #awaited(call: ToolCall): readonly Work[] {
    const { id } = waitOf(call);
    const { works } = backgroundAt(this.#at).value;
    const others = works.filter((work) => !this.#calls.works.some((own) => own.id === work.call.id));
    if (id !== undefined) return others.filter((work) => work.id === id && isOpen(work));
    return others.some((work) => !isOpen(work) && !work.isTold) ? [] : others.filter(isOpen);
  }

  results(): ToolMessage[] {
    const { background, setup } = this.#agent;
    const at = this.#at;
    const own = worksOf(this.#calls.works, at).map((work) => {
      const { id, name } = work.call;
      const isMoved = isOpen(work);
      if (isMoved) at.emit('work-moved', { agent: setup.name, work: work.id, tool: name });
      const text = isMoved ? background.moved(work) : background.report(work);
      const isError = !isMoved && work.status !== 'done';
      return toolMessage(text, id, { name, extra: { work: work.number }, ...(isError && { isError }) });
    });
    const waits = this.#calls.waits.map((call) => {
      const { id } = waitOf(call);
      const { works } = backgroundAt(at).value;
      const told = works.filter((work) => (id === undefined ? !work.isTold && work.isMoved : work.id === id));
      const message = toolMessage(background.waited(told, id), call.id, { name: call.name });
      changeWorks(at, (work) => (told.includes(work) && !isOpen(work) ? TOLD : undefined));
      return message;
    });
    const ids = new Set(this.#calls.works.map(({ id }) => id));
    changeWorks(at, (work) => {
      if (!ids.has(work.call.id) || work.isMoved || work.isTold) return undefined;
      return isOpen(work) ? { isMoved: true } : TOLD;
    });
    return [...own, ...waits];
  }
}

/** What a model waits for. Arguments that cannot be read wait for everything. */
function waitOf(call: ToolCall): { readonly id: string | undefined; readonly ms: number | undefined } {
  let args: ReturnType<typeof readArguments>;
  try {
    args = readArguments(call.name, call.arguments, { repair: true });
  } catch {
    return { id: undefined, ms: undefined };
  }
  const { id, seconds } = args;
  return {
    id: typeof id === 'string' && id !== '' ? id : undefined,
    ms: typeof seconds === 'number' && seconds >= 0 ? seconds * 1_000 : undefined,
  };
}

// ── the rest of an agent that has answered ──────────────────────────────────────────────────────────────────────────────────

/**
 * Waits for the end of a work that the model is to be told of, or an input of a person. Its end is a safe point behind the calls of a round, and behind
 * the round.
 */
export function restStep({ setup }: AgentWithWork): Step<unknown, unknown> {
  return step<unknown, object>(
    'rest',
    (_, at) =>
      defer(() => {
        const place = placeOf(setup, at);
        const live = liveAt(at);
        const arrived$ = live?.arrived$(place, heardAt(at)) ?? EMPTY;
        let hasInput = false;
        const input$ = arrived$.pipe(
          tap(() => {
            hasInput = true;
          }),
        );
        const works = (): readonly Work[] => backgroundAt(at).value.works;
        const rest: Awaited<object> = {
          isOver: () => hasInput || !works().some(isOpen) || untold(backgroundAt(at).value).length > 0,
          asks: () =>
            works()
              .filter(isOpen)
              .every(({ status }) => status === 'asks'),
          results: () => {
            live?.reached(place, 'tools');
            live?.reached(place, 'round');
            return {};
          },
        };
        return waitFor(rest, input$, at);
      }),
    { mayAsk: true, waits: true },
  );
}

/** What a step waits for that does nothing else. */
interface Awaited<T> {
  isOver(): boolean;
  /** Whether all that it waits for waits for a person. */
  asks(): boolean;
  /** Called once, when it is over. */
  results(): T;
}

/**
 * Looks at the state until the wait is over; when everything that it waits for waits for a person, the run may wait.
 *
 * ```text
 * changes    s--s-----s           (s: the state has changed)
 * more$      -----t               (a time is over)
 * result     ---------(r|)        (it is over)
 * ```
 */
function waitFor<T>(awaited: Awaited<T>, more$: Observable<unknown>, at: StepActivation): Observable<T | Interrupt> {
  return defer(() => {
    const handle = backgroundAt(at);
    let isOver = false;
    const look = (): Observable<T | Interrupt> => {
      // The changes that it makes itself come back to it.
      if (isOver) return EMPTY;
      const rests = !awaited.isOver();
      if (rests && !awaited.asks()) return EMPTY;
      isOver = true;
      if (handle.value.isResting !== rests) handle.update({ isResting: rests });
      return of(rests ? WAITS_FOR_OTHERS : awaited.results());
    };
    return merge(changesOf(handle), more$).pipe(mergeMap(look), take(1));
  });
}
