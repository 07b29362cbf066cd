/** Who observes a run: the observers that it was given, those bound to its steps, and those of the run around it. */
import { EngineError } from '../../errors.js';
import { didYouMean } from '../../nearest-name.js';
import type { CompiledStep } from '../compile.js';
import { type AnyCallbacks, Observer } from '../observer.js';
import { type AnyStep, type ConcatRule, DEFINITION, type StepKind } from '../step.js';
import type { RunObservers, StepWatch, WatchedActivation, WatchedStep } from './watch.js';
import { type Audience, audienceOf, Watch, type WatchRun } from './watching.js';

/** An observer, and what it is told of. Paths are those of the outermost run, without rounds. */
interface Post {
  readonly callbacks: AnyCallbacks;
  readonly kind: StepKind | undefined;
  /** At this path alone. */
  readonly at: string | undefined;
  /** At this path and below. */
  readonly below: string | undefined;
}

/** What a run is observed with. */
export interface ObserversGiven {
  readonly observe: readonly Observer[] | undefined;
  /** The observers of the run around. */
  readonly around: RunObservers | undefined;
  /** Path of the step that the run is part of, without rounds, with the name of the run and a slash; empty for a run of its own. */
  readonly place: string;
  /** See {@link WatchRun}. */
  readonly chunks: ConcatRule<unknown> | undefined;
}

/**
 * The observers of a run; undefined when there are none.
 *
 * @throws EngineError OPTION_INVALID for something else than observers, and for paths that the graph does not have.
 */
export function observersFor(compiled: CompiledStep, given: ObserversGiven): RunObservers | undefined {
  const { observe = [], around, place, chunks } = given;
  const bound = boundPosts(compiled, place);
  if (observe.length === 0 && bound.length === 0 && !(around instanceof Observers)) return undefined;
  for (const observer of observe) requireObserver(compiled, observer);
  const own = observe.map(({ callbacks, kind, path }) => {
    const at = path === undefined ? undefined : joined(place, path);
    return { callbacks, kind, at, below: undefined };
  });
  return new Observers([...(around instanceof Observers ? around.posts : []), ...own, ...bound], place, chunks);
}

function joined(place: string, path: string): string {
  return path === '' ? place.slice(0, -1) : `${place}${path}`;
}

function requireObserver({ steps }: CompiledStep, observer: unknown): void {
  if (!(observer instanceof Observer)) {
    const message = `The option "observe" is a list of observers; received ${typeof observer}. Make one with observe({ start, end, … }).`;
    throw new EngineError('OPTION_INVALID', message);
  }
  const { path } = observer;
  if (path === undefined || path === '') return;
  requirePath(steps, path, `observe.at("${path}")`);
}

/**
 * Refuses a path that nothing in a graph has. What lies inside a step of code may be run by it, and cannot be known before.
 *
 * @throws EngineError OPTION_INVALID with the path that was probably meant.
 */
export function requirePath(steps: CompiledStep['steps'], path: string, owner: string): void {
  const paths: string[] = [];
  for (const node of steps) {
    if (node === undefined) continue;
    if (node.path === path) return;
    if (isCode(node.step) && isBelow(path, node.path)) return;
    paths.push(node.path);
  }
  const known = paths.length === 0 ? 'none' : paths.slice(0, MOST_PATHS).join(', ');
  const more = paths.length > MOST_PATHS ? ` and ${paths.length - MOST_PATHS} more` : '';
  const message = `${owner}: the graph has nothing at this path.${didYouMean(path, paths)} Its paths are ${known}${more}.`;
  throw new EngineError('OPTION_INVALID', message);
}

/** Paths that an error lists. */
const MOST_PATHS = 20;

/** Whether a path is inside another one, or one of its parts. */
export function isBelow(path: string, around: string): boolean {
  return path.startsWith(around) && (path[around.length] === '/' || path[around.length] === '#');
}

function boundPosts({ observed }: CompiledStep, place: string): readonly Post[] {
  const posts: Post[] = [];
  for (const { path: standing, step } of observed) {
    const own = `${place}${standing}`;
    for (const { observer, isDeep } of step[DEFINITION].options.observe ?? []) {
      const { callbacks, kind, path } = observer;
      const at = path !== undefined ? (path === '' ? own : `${own}/${path}`) : isDeep ? undefined : own;
      posts.push({ callbacks, kind, at, below: at === undefined ? own : undefined });
    }
  }
  return posts;
}

class Observers implements RunObservers, WatchRun {
  readonly posts: readonly Post[];
  readonly chunks: ConcatRule<unknown> | undefined;
  readonly #place: string;
  /** When every observer is told of everything. */
  readonly #everyone: Audience | undefined;
  /** By path in the plan. */
  readonly #byPath = new Map<string, Audience | undefined>();
  readonly #complained = new Set<AnyCallbacks>();
  /** The activation that began last: it may still be able to tell what another one cannot. */
  #newest: WatchedActivation | undefined = undefined;

  constructor(posts: readonly Post[], place: string, chunks: ConcatRule<unknown> | undefined) {
    this.posts = posts;
    this.chunks = chunks;
    this.#place = place;
    const isForAll = posts.every(
      ({ kind, at, below }) => kind === undefined && at === undefined && below === undefined,
    );
    this.#everyone = isForAll ? audienceOf(posts.map(({ callbacks }) => callbacks)) : undefined;
  }

  watch(step: WatchedStep, at: WatchedActivation): StepWatch | undefined {
    let audience = this.#everyone;
    if (audience === undefined) {
      const { path } = step;
      audience = this.#byPath.get(path);
      if (audience === undefined && !this.#byPath.has(path)) {
        audience = this.#audienceOf(step);
        this.#byPath.set(path, audience);
      }
    }
    return this.#watch(audience, step, at);
  }

  watchPart(step: WatchedStep, at: WatchedActivation): StepWatch | undefined {
    return this.#watch(this.#everyone ?? this.#audienceOf(step), step, at);
  }

  #watch(audience: Audience | undefined, step: WatchedStep, at: WatchedActivation): StepWatch | undefined {
    if (audience === undefined) return undefined;
    this.#newest = at;
    return new Watch(this, audience, step, at);
  }

  #audienceOf({ kind, path }: WatchedStep): Audience | undefined {
    const where = joined(this.#place, path);
    const told = this.posts.filter(
      (post) =>
        (post.kind === undefined || post.kind === kind) &&
        (post.at === undefined || post.at === where) &&
        (post.below === undefined || post.below === where || isBelow(where, post.below)),
    );
    return told.length === 0 ? undefined : audienceOf(told.map(({ callbacks }) => callbacks));
  }

  warn(at: WatchedActivation, observer: AnyCallbacks, message: string): void {
    const teller = at.canTell ? at : this.#newest;
    if (teller?.canTell === true) {
      teller.emit('warning', { message });
      return;
    }
    if (this.#complained.has(observer)) return;
    this.#complained.add(observer);
    process.emitWarning(message, 'ObserverWarning');
  }
}

/** Whether a step is one function, which may run other steps inside itself. */
export function isCode(step: AnyStep): boolean {
  const { type } = step[DEFINITION];
  return type === 'function' || type === 'operator' || type === 'generator';
}
