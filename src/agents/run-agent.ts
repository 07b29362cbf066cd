/** A model and its tools as one stream of events, which begins from a state: the agent of a node. */
import {
  catchError,
  defer,
  exhaustMap,
  finalize,
  ignoreElements,
  Observable,
  Subject,
  takeUntil,
  tap,
  throwError,
} from 'rxjs';
import { stepOutcome } from '../compose/run.js';
import { requireList, requireObject } from '../operators/invalid-option.js';
import type { AgentEvent, AgentState } from './agent-events.js';
import type { AgentSetup } from './agent-setup.js';
import { LIVE } from './loop/live-control.js';
import { NodeAgent } from './node-agent.js';
import { type NodeInput, NodeInputs } from './node-inputs.js';
import { NODE_AGENT, nodeLoop } from './node-loop.js';

/**
 * Calls the model, makes the tool calls of its answer, sends it their results, and repeats until an answer has no calls.
 *
 * ```text
 * model     --t--c|          --t--t|       (text, tool call)
 * tool             --p--e|                 (progress, ended)
 * result    --t--b--p--eM----t--t-(A|)     (text, began, progress, ended, state, answer)
 * ```
 *
 * It is the loop of agents in code, with what a node has beside it (`node-agent.ts`). Text is live, also before a call. After `maxRounds + 1`
 * rounds of calls, when the budget is spent, or when the conversation has 4 million characters, the model is called once more without tools. After
 * an empty answer it is called once more. Messages keep all their parts: images of questions, and thoughts beside calls with what proves them.
 * What comes by `inputs$` joins before the next call of the model, also behind an answer, which then is followed by another one.
 * Calls that need an approval end the stream with `approval`; run it again from that state with `approvals`. Unsubscribing closes the model's
 * connection and every call. Errors: those of the model; a tool's failure is text for the model.
 */
export function runAgent(setup: AgentSetup, state: AgentState): Observable<AgentEvent> {
  requireObject('runAgent', 'setup', setup, 'an object with the chat and the tools');
  requireList('runAgent', 'tools', setup.tools, 'a list of tools');
  requireList('runAgent', 'state', state?.messages, 'what newAgentState(…) gives');
  return new Observable((subscriber) => {
    const { inputs$ } = setup;
    const agent = new NodeAgent(setup, state, (event) => subscriber.next(event));
    const work$ = inputs$ === undefined ? workOf(agent, setup) : heardBy(agent, setup, inputs$);
    return work$.subscribe(subscriber);
  });
}

/** The loop of an agent, which tells its events itself. */
function workOf(agent: NodeAgent, setup: AgentSetup, live?: NodeInputs): Observable<never> {
  const services = { [NODE_AGENT]: agent, ...(live && { [LIVE]: live }) };
  return stepOutcome(nodeLoop, '', { services, now: () => setup.now() }, () => {}).pipe(
    tap(({ status }) => {
      if (status === 'succeeded') agent.end();
    }),
    ignoreElements(),
    // As the model failed, without the place that the engine adds.
    catchError((error: unknown) => throwError(() => agent.failure ?? error)),
  );
}

/**
 * The same with inputs, from the first list of them on.
 *
 * ```text
 * inputs$   --a-----b--
 * loop        ---------|       (asks for what has come, before each call of its model)
 * result    -----------|
 * ```
 */
function heardBy(agent: NodeAgent, setup: AgentSetup, inputs$: Observable<readonly NodeInput[]>): Observable<never> {
  return defer(() => {
    const over$ = new Subject<void>();
    const inputs = new NodeInputs(agent);
    const work$ = workOf(agent, setup, inputs).pipe(finalize(() => over$.next()));
    return inputs$.pipe(
      takeUntil(over$),
      tap((list) => inputs.add(list)),
      exhaustMap(() => work$),
    );
  });
}
