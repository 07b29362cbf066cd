/** The states that runs begin with: fresh, recovered after the loss of a process, resumed with answers. */
import type { Json, JsonObject } from '../json.js';
import type { PendingQuestion, RunUsage } from './events.js';
import { Frontier } from './frontier.js';
import type { Outputs } from './node-events.js';
import { type Node, nameInPath, type Plan, type Scope, type Variables } from './plan.js';
import { restore, typedFrame } from './snapshot.js';
import { Cells, NO_USAGE, type State } from './state.js';
import { dataOf, Frame, framePath, type Token } from './tokens.js';
import { LiveState } from './transition.js';

/**
 * The state in which a run begins. Its first tokens are put behind `ready`.
 *
 * @param input In a typed plan: what the run begins with, unless it comes live.
 */
export function freshState(
  plan: Plan,
  variables: Variables,
  ready: Token[],
  input?: { readonly value: unknown },
): LiveState {
  const frontier = new Frontier(plan);
  const cells = Cells.empty<Outputs>(plan.nodes.length);
  const root = new Frame(plan.scopes[0] as Scope, undefined, '', { cells, variables });
  root.typed = typedFrame(root.scope);
  if (input === undefined) frontier.enter(root, ready);
  else frontier.enterWith(root, input.value, ready);
  return new LiveState(frontier, root, undefined, NO_USAGE);
}

/** Tokens that a lost process may have given out and that were not stored: they are never given to other nodes. */
const LOST_TOKENS = 1_000_000;

/** The state that a recovered run starts from: what was at work runs again, what waits keeps waiting. */
export function recoveredState(plan: Plan, state: State, usage: RunUsage, ready: Token[]): LiveState {
  const { frontier, root } = restore(plan, state);
  frontier.nextTokenId += LOST_TOKENS;
  for (let token = root.first; token !== undefined; token = token.next) {
    if (token.status === 'ready') ready.push(token);
  }
  return new LiveState(frontier, root, state.last, usage);
}

/** The state that a run with answers starts from: every node that waits gets them. */
export function resumedState(plan: Plan, state: State, answers: Json | undefined, ready: Token[]): LiveState {
  const { frontier, root } = restore(plan, state);
  answerForms(frontier, root, answers, ready);
  return new LiveState(frontier, root, state.last, NO_USAGE);
}

/**
 * The state of a typed plan that a run with answers for some of its questions starts from. What has none goes on waiting; what was ready
 * runs, in bodies as soon as their containers open them.
 *
 * @param isRecovered The process of the run was lost. @default false
 */
export function answeredState(
  plan: Plan,
  state: State,
  answerOf: (question: PendingQuestion) => { readonly answer: Json | undefined } | undefined,
  ready: Token[],
  { isRecovered = false }: { readonly isRecovered?: boolean } = {},
): LiveState {
  const { frontier, root } = restore(plan, state);
  if (isRecovered) frontier.nextTokenId += LOST_TOKENS;
  const wake = (frame: Frame): boolean => {
    let isAwake = false;
    for (let token = frame.first; token !== undefined; token = token.next) {
      const isWaiting = token.status === 'waiting';
      const payload = isWaiting ? token.data?.payload : undefined;
      const given = payload === undefined ? undefined : answerOf(questionOf(plan, token, payload));
      if (given !== undefined) dataOf(token).answer = given.answer;
      let isWoken = given !== undefined;
      for (const inner of token.frames?.values() ?? []) isWoken = wake(inner) || isWoken;
      if (isWaiting && isWoken) frontier.setStatus(token, 'ready');
      if (token.status !== 'ready') continue;
      isAwake = true;
      if (frame === root) ready.push(token);
    }
    return isAwake;
  };
  wake(root);
  return new LiveState(frontier, root, state.last, state.usage ?? NO_USAGE);
}

/** What a waiting token asks for. */
export function questionOf(plan: Plan, token: Token, payload: JsonObject): PendingQuestion {
  const within = framePath(token.frame, (index) => nameInPath(plan, index));
  return { node: (plan.nodes[token.node] as Node).id, ...(within === '' ? {} : { within }), token: token.id, payload };
}

/** Also what waits in bodies, at once: a run that is lost before a container opens its body again still has the answers. */
function answerForms(frontier: Frontier, frame: Frame, answers: Json | undefined, ready: Token[]): void {
  frontier.answer(frame, answers, ready);
  for (let token = frame.first; token !== undefined; token = token.next) {
    if (token.status !== 'ready' || token.frames === undefined) continue;
    for (const inner of token.frames.values()) answerForms(frontier, inner, answers, []);
  }
}
