/** The hooks of middlewares one after the other, also over a question that one of them asks. */
import { defer, type Observable, tap } from 'rxjs';
import { isThenable } from '../../compose/engine/later.js';
import { Interrupt, type InterruptOptions, type InterruptPart } from '../../compose/interrupt.js';
import type { StepActivation } from '../../compose/step.js';
import { EngineError } from '../../errors.js';
import { isJsonObject } from '../../json.js';
import type { AssistantMessage } from '../../models/messages.js';
import { type Speaker, StepView } from './agent-view.js';
import { callModel, joinAnswer } from './ask-model.js';
import { calling, givenBy, type PassingHook } from './given.js';
import { addUsage, loopAt } from './loop-state.js';
import type { AnyMiddleware, AskingHookResult, HookView, RoundRequest } from './middleware.js';

/** The view of one middleware. */
export class MiddlewareView extends StepView implements HookView {
  readonly answers: ReadonlyMap<string, unknown>;
  readonly #middleware: AnyMiddleware;
  #asked = 0;

  constructor(agent: Speaker, at: StepActivation, middleware: AnyMiddleware) {
    super(agent, at);
    this.#middleware = middleware;
    this.answers = answersFor(middleware.name, at);
  }

  get own(): unknown {
    const { name, initial } = this.#middleware;
    const { own } = loopAt(this.at).value;
    return Object.hasOwn(own, name) ? own[name] : initial?.();
  }

  setOwn(value: unknown): void {
    const loop = loopAt(this.at);
    loop.update({ own: { ...loop.value.own, [this.#middleware.name]: value } });
  }

  ask(request: RoundRequest): Observable<AssistantMessage> {
    return defer(() => {
      this.#asked += 1;
      const call = `${this.#middleware.name}-${this.#asked}`;
      const chunks: AssistantMessage[] = [];
      const count = (): void => {
        const loop = loopAt(this.at);
        const usage = chunks.length === 0 ? undefined : joinAnswer(chunks).usage;
        if (usage !== undefined) loop.update({ usage: addUsage(loop.value.usage, usage) });
      };
      return callModel(request, this.at, call).pipe(
        tap((chunk) => chunks.push(chunk)),
        tap({ complete: count, error: count }),
      );
    });
  }

  interrupt(question: unknown, options: Omit<InterruptOptions, 'memo'> = {}): Interrupt {
    return this.at.interrupt(question, options);
  }

  interruptAll(questions: readonly InterruptPart[]): Interrupt {
    return this.at.interruptAll(questions);
  }
}

/** A hook of a middleware, as it is called. */
type Hook<T> = ((value: T, view: MiddlewareView) => AskingHookResult<T>) | undefined;

/** Where the hooks stand while one of them asks. */
interface HookMemo {
  readonly hook: number;
  readonly value: unknown;
}

/**
 * Passes a value through the hooks of the middlewares, in their order; synchronous as long as they are.
 *
 * A hook that asks ends the step; its questions have the addresses `<path>#<middleware>` and `<path>#<middleware>/<id>`. Once they are answered the
 * hooks go on with that one, and with the value it had.
 */
export function runHooks<T>(
  agent: Speaker & { readonly use: readonly AnyMiddleware[] },
  name: Exclude<PassingHook, 'beforeModel'>,
  first: T,
  at: StepActivation,
): T | Interrupt | PromiseLike<T | Interrupt> {
  const memo = readMemo(at);
  const { use: middlewares } = agent;
  const passOn = (value: T, from: number): T | Interrupt | PromiseLike<T | Interrupt> => {
    let current = value;
    for (let index = from; index < middlewares.length; index += 1) {
      const middleware = middlewares[index] as AnyMiddleware;
      const hook = middleware[name] as unknown as Hook<T>;
      if (hook === undefined) continue;
      const value = current;
      const view = new MiddlewareView(agent, at, middleware);
      const given = calling(name, middleware, () => hook.call(middleware, value, view));
      if (isThenable(given)) {
        const before = current;
        return given.then((later) =>
          later instanceof Interrupt
            ? asked(later, { hook: index, value: before })
            : passOn(givenBy(name, middleware, later, before), index + 1),
        );
      }
      if (given instanceof Interrupt) return asked(given, { hook: index, value: current });
      current = givenBy(name, middleware, given, current);
    }
    return current;
  };
  const asked = (interrupt: Interrupt, { hook, value }: HookMemo): Interrupt => {
    const { name: asker } = middlewares[hook] as AnyMiddleware;
    return at.interruptAll(partsOf(asker, interrupt), { memo: { hook, value } });
  };
  return memo === undefined ? passOn(first, 0) : passOn(memo.value as T, memo.hook);
}

function partsOf(name: string, interrupt: Interrupt): readonly InterruptPart[] {
  if (interrupt.parts.length === 0) return [{ id: name, interrupt }];
  return interrupt.parts.map((part) => ({ ...part, id: `${name}/${part.id}` }));
}

function answersFor(name: string, { answers }: StepActivation): ReadonlyMap<string, unknown> {
  const own = new Map<string, unknown>();
  for (const [id, answer] of answers) {
    if (id === name) own.set('', answer);
    else if (id.startsWith(`${name}/`)) own.set(id.slice(name.length + 1), answer);
  }
  return own;
}

function readMemo({ isResumed, memo, path }: StepActivation): HookMemo | undefined {
  if (!isResumed || memo === undefined) return undefined;
  if (isJsonObject(memo) && typeof memo.hook === 'number') return memo as unknown as HookMemo;
  throw new EngineError('CHECKPOINT_INVALID', `What the hooks of "${path}" stored with their question cannot be read.`);
}
