/**
 * The rules of the graph: which nodes may run next. Everything that decides this is in this file.
 *
 * - A settled node gives a token to each successor it chose.
 * - A node with one way in runs once per token.
 * - A *join* (several ways in) holds its token until no live token can still reach it, so it runs once per activation and
 *   never early; a branch that was not taken never blocks it. This is the AND-join of van der Aalst's workflow patterns with
 *   dead-path elimination done by reachability instead of by sending skip tokens.
 * - When joins wait only for each other (several in one cycle), the one with the lowest index goes.
 * - A node that reads the output of one beside it, reached before it and still at work, is put off until that one is done.
 * - A consumer on a *stream edge* may go while the only live tokens that can reach it are its producers, at work.
 *
 * A held token keeps a *witness*: one live token that can reach it. Only when its witness goes is another one looked for, so
 * a join of ten thousand ways costs one look, not ten thousand.
 */
import { EngineError } from '../errors.js';
import type { Json } from '../json.js';
import { describeRounds } from './cycle.js';
import { indexOfNode, type Node, type Plan } from './plan.js';
import {
  appendToList,
  dataOf,
  type Frame,
  hasStarted,
  heldTokens,
  liveProducer,
  Token,
  type TokenStatus,
  takeWatchers,
  unlink,
  unwatch,
  watch,
} from './tokens.js';
import { type Arrival, COMING } from './typed.js';

/** The rules, with the two counters that they keep. */
export class Frontier {
  readonly plan: Plan;
  nextTokenId: number;
  /** Number of settlements so far. */
  step: number;
  /** Lists that are empty between two calls: made anew they would be most of the garbage of a run. */
  readonly #joined: Token[] = [];
  readonly #producers: Token[] = [];

  constructor(plan: Plan, nextTokenId = 1, step = 0) {
    this.plan = plan;
    this.nextTokenId = nextTokenId;
    this.step = step;
  }

  /** Puts tokens on the entries of a fresh frame, and behind `ready`. */
  enter(frame: Frame, ready: Token[]): void {
    for (const entry of frame.scope.entries) ready.push(this.#add(frame, entry, 'ready'));
  }

  /** Enters a frame of a typed plan with a whole value: what stands behind its input node gets it, without that node. */
  enterWith(frame: Frame, value: unknown, ready: Token[]): void {
    const [input = 0] = frame.scope.entries;
    const { successors } = this.plan.nodes[input] as Node;
    const arrival: Arrival = { from: input, value, next: undefined };
    for (let at = 0; at < successors.length; at += 1) this.#give(frame, successors[at] as number, arrival, ready);
    this.#tryJoined(frame, ready);
  }

  /**
   * Moves on from a token: its successors (or `targets`) get theirs, it is gone, and joins that it kept waiting may go.
   * Tokens that may run now are appended to `ready`.
   */
  advance(token: Token, targets: readonly number[] | undefined, ready: Token[], value?: unknown): void {
    const { frame } = token;
    const node = this.plan.nodes[token.node] as Node;
    const next = targets ?? node.successors;
    const joined = this.#joined;
    const isTyped = node.typed !== undefined;
    let arrival: Arrival | undefined;
    for (let at = 0; at < next.length; at += 1) {
      const to = next[at] as number;
      if (token.startedEarly !== undefined && hasStarted(token.startedEarly, to)) {
        if (isTyped) hasArrived(token.startedEarly, to, token.node, value);
        continue;
      }
      if (isTyped) {
        arrival ??= { from: token.node, value, next: undefined };
        this.#give(frame, to, arrival, ready);
        continue;
      }
      const held = frame.newest?.heldAt(to);
      // A join is as new as the last token that came to it.
      if (held !== undefined) held.id = this.nextTokenId++;
      else if (!(this.plan.nodes[to] as Node).isJoin) ready.push(this.#add(frame, to, 'ready'));
      else joined.push(this.#add(frame, to, 'held'));
    }
    this.step += 1;
    if (frame.typed !== undefined) frame.typed.steps += 1;
    this.remove(token, ready);
    this.#tryJoined(frame, ready);
  }

  #tryJoined(frame: Frame, ready: Token[]): void {
    const joined = this.#joined;
    for (let at = 0; at < joined.length; at += 1) this.#tryRelease(joined[at] as Token, ready);
    while (joined.length > 0) joined.pop();
    this.breakTie(frame, ready);
  }

  /** A value comes to a node; all nodes that it comes to share the arrival, which is the first of theirs. */
  #give(frame: Frame, to: number, arrival: Arrival, ready: Token[]): void {
    const held = frame.newest?.heldAt(to);
    if (held !== undefined) {
      held.id = this.nextTokenId++;
      held.input = { from: arrival.from, value: arrival.value, next: held.input };
      return;
    }
    const { isJoin } = this.plan.nodes[to] as Node;
    const token = this.#add(frame, to, isJoin ? 'held' : 'ready');
    token.input = arrival;
    (isJoin ? this.#joined : ready).push(token);
  }

  /** A consumer that was cancelled is to run again: what other nodes had given it comes again, in its order. */
  giveAgain({ frame, node, input }: Token, ready: Token[]): void {
    const arrivals: Arrival[] = [];
    for (let arrival = input; arrival !== undefined; arrival = arrival.next) {
      if (arrival.value !== COMING) arrivals.push(arrival);
    }
    for (const { from, value } of arrivals.reverse()) this.#give(frame, node, { from, value, next: undefined }, ready);
    this.#tryJoined(frame, ready);
  }

  /** Counts a step that moves no token on: leaving a body, passing over a node. */
  countStep(): void {
    this.step += 1;
  }

  /** Takes a token out without successors; joins that it kept waiting may go. */
  drop(token: Token, ready: Token[]): void {
    this.remove(token, ready);
    this.breakTie(token.frame, ready);
  }

  /**
   * The node of `producer` starts to stream: its consumers may go as soon as nothing else can reach them.
   * Consumers that may run now are appended to `ready`.
   *
   * @param chosen In a typed plan: where the chunks go. @default to all successors
   */
  startStreaming(producer: Token, ready: Token[], chosen?: readonly number[]): void {
    const { frame } = producer;
    producer.isStreaming = true;
    if (chosen !== undefined) dataOf(producer).chosen = chosen;
    for (const to of this.#streamTargets(producer)) {
      const consumer = this.plan.nodes[to] as Node;
      if (!consumer.isJoin) {
        if (!this.#hasWhatItNeeds(frame, consumer, [producer])) continue;
        const early = this.#add(frame, to, 'ready');
        early.awaits = 1;
        if (consumer.typed !== undefined) early.input = { from: producer.node, value: COMING, next: undefined };
        producer.startedEarly = [...(producer.startedEarly ?? []), early];
        ready.push(early);
        continue;
      }
      const held = frame.newest?.heldAt(to) ?? this.#add(frame, to, 'held');
      unwatch(held);
      this.#tryRelease(held, ready);
    }
  }

  /** Of nodes that get a stream: those that may start with it, for they read chunks and none of the others leads to them. */
  readersOf(targets: readonly number[]): readonly number[] {
    const { nodes, reach } = this.plan;
    return targets.filter(
      (to) =>
        (nodes[to] as Node).typed?.readsChunks === true &&
        targets.every((other) => other === to || !reach.canReach(other, to)),
    );
  }

  #streamTargets({ data, node }: Token): readonly number[] {
    const chosen = data?.chosen;
    return chosen === undefined ? (this.plan.nodes[node] as Node).streamsTo : this.readersOf(chosen);
  }

  /** Whether all that a streaming token goes on to has started with it: then it leads nowhere that those do not. */
  #isPassedOn({ data, node: index, isStreaming, startedEarly }: Token): boolean {
    if (!isStreaming || startedEarly === undefined) return false;
    const node = this.plan.nodes[index] as Node;
    if (node.typed === undefined) return false;
    const next = data?.chosen ?? node.successors;
    for (let at = 0; at < next.length; at += 1) if (!hasStarted(startedEarly, next[at] as number)) return false;
    return next.length > 0;
  }

  /** A token that was to run waits for another one, whose output its node reads. */
  putOff(token: Token, producer: Token): void {
    token.isPutOff = true;
    this.setStatus(token, 'held');
    token.frame.heldCount += 1;
    watch(token, producer);
  }

  /** Changes what a live token does, and keeps the frame's count of moving tokens. */
  setStatus(token: Token, status: TokenStatus): void {
    token.frame.movingCount += Number(isMoving(status)) - Number(isMoving(token.status));
    token.status = status;
  }

  /**
   * The indexes of named successors.
   *
   * @throws EngineError NODE_TARGET_UNKNOWN for a name that is no node of the same scope.
   */
  targetsOf(node: Node, next: readonly string[]): number[] {
    return [...new Set(next)].map((id) => {
      const index = indexOfNode(this.plan, id);
      if (index !== undefined && (this.plan.nodes[index] as Node).scope === node.scope) return index;
      throw new EngineError(
        'NODE_TARGET_UNKNOWN',
        `Node "${node.id}" chose "${id}" as its successor, but ${index === undefined ? 'there is no such node' : 'that node lies in another body'}.`,
        { node: node.id },
      );
    });
  }

  /** Adds a token as it was saved; used when a run is restored. */
  restore(frame: Frame, id: number, node: number, status: TokenStatus): Token {
    return this.#link(new Token(id, node, frame, status));
  }

  /** Gives the tokens of a frame that wait the answers; they run again, with those that are ready. */
  answer(frame: Frame, answers: Json | undefined, ready: Token[]): void {
    for (let token = frame.first; token !== undefined; token = token.next) {
      if (token.status === 'held') continue;
      if (token.status === 'waiting' && token.data?.payload !== undefined) token.data.answer = answers;
      this.setStatus(token, 'ready');
      ready.push(token);
    }
  }

  /** After all tokens of a frame were restored: finds the witnesses of the held ones. */
  recheck(frame: Frame, ready: Token[]): void {
    for (const held of heldTokens(frame)) this.#tryRelease(held, ready);
    this.breakTie(frame, ready);
  }

  /** Takes a token out of its frame; joins that it kept waiting may go. */
  remove(token: Token, ready: Token[]): void {
    const { frame } = token;
    token.isLive = false;
    unlink(token);
    frame.liveCount -= 1;
    if (isMoving(token.status)) frame.movingCount -= 1;
    else if (token.status === 'held') frame.heldCount -= 1;
    const { liveAtLevel, newest } = frame;
    if (liveAtLevel !== undefined && newest !== undefined) {
      newest.delete(token);
      const level = (this.plan.nodes[token.node] as Node).level;
      liveAtLevel[level] = (liveAtLevel[level] as number) - 1;
      while (frame.lowestLevel < liveAtLevel.length && liveAtLevel[frame.lowestLevel] === 0) frame.lowestLevel += 1;
    }
    const { firstWatcher } = token;
    if (firstWatcher === undefined) return;
    if (firstWatcher.nextWatcher === undefined) {
      unwatch(firstWatcher);
      this.#tryRelease(firstWatcher, ready);
      return;
    }
    for (let held = takeWatchers(token); held !== undefined; ) {
      const next: Token | undefined = held.nextWatcher;
      held.nextWatcher = undefined;
      this.#tryRelease(held, ready);
      held = next;
    }
  }

  #add(frame: Frame, node: number, status: TokenStatus): Token {
    return this.#link(new Token(this.nextTokenId++, node, frame, status));
  }

  #link(token: Token): Token {
    const { frame } = token;
    appendToList(token);
    frame.liveCount += 1;
    if (isMoving(token.status)) frame.movingCount += 1;
    else if (token.status === 'held') frame.heldCount += 1;
    const { liveAtLevel, newest } = frame;
    if (liveAtLevel !== undefined && newest !== undefined) {
      newest.add(token);
      const level = (this.plan.nodes[token.node] as Node).level;
      liveAtLevel[level] = (liveAtLevel[level] as number) + 1;
      if (level < frame.lowestLevel) frame.lowestLevel = level;
    }
    return token;
  }

  /** Lets a held token go unless a live token can still reach it; otherwise that token becomes its witness. */
  #tryRelease(held: Token, ready: Token[]): void {
    const { frame } = held;
    const node = this.plan.nodes[held.node] as Node;
    const producers = this.#producers;
    let witness = this.#witnessBefore(held, node, producers);
    if (producers.length > 0 && witness === undefined && !this.#hasWhatItNeeds(frame, node, producers)) {
      witness = producers[0];
    }
    if (witness !== undefined) {
      watch(held, witness);
    } else {
      this.#release(held, ready);
      held.awaits = producers.length;
      for (const producer of producers) {
        producer.startedEarly = [...(producer.startedEarly ?? []), held];
        if (node.typed !== undefined) held.input = { from: producer.node, value: COMING, next: held.input };
      }
    }
    while (producers.length > 0) producers.pop();
  }

  /**
   * A live token that can reach a held one's node. Producers at work whose text the node reads do not count; they are put into
   * `producers`. Nor do those that have passed everything on to nodes at work. Direct predecessors are looked at first: there are few of them, and mostly one of them is it.
   */
  #witnessBefore(held: Token, node: Node, producers: Token[]): Token | undefined {
    const { frame } = held;
    if (node.cycle === -1 && frame.lowestLevel >= node.level) return undefined;
    const { predecessors } = node;
    for (let at = predecessors.length - 1; at >= 0; at -= 1) {
      let other = frame.newest?.get(predecessors[at] as number);
      for (; other !== undefined; other = other.older) {
        if (other === held) continue;
        if (this.#streamsTo(other, node)) producers.push(other);
        else if (!this.#isPassedOn(other)) return other;
      }
    }
    // From one level below, and outside of cycles, there is no way but a direct one.
    if (!frame.scope.hasCycles && frame.lowestLevel >= node.level - 1) return undefined;
    const { reach } = this.plan;
    for (let other = frame.last; other !== undefined; other = other.previous) {
      if (other === held || producers.includes(other) || !reach.canReach(other.node, held.node)) continue;
      if (!this.#isPassedOn(other)) return other;
    }
    return undefined;
  }

  #streamsTo(producer: Token, consumer: Node): boolean {
    return producer.isStreaming && this.#streamTargets(producer).includes(consumer.index);
  }

  /** A consumer is started early only if it would run now anyway: everything it reads is there, or comes live. */
  #hasWhatItNeeds(frame: Frame, consumer: Node, producers: readonly Token[]): boolean {
    return consumer.needs.every(
      (needed) => frame.values.cells.get(needed) !== undefined || producers.some(({ node }) => node === needed),
    );
  }

  #release(held: Token, ready: Token[]): void {
    unwatch(held);
    held.frame.heldCount -= 1;
    // A token that was put off is where it was in the log, which does not tell of it.
    if (!held.isPutOff) {
      unlink(held);
      appendToList(held);
    }
    held.isPutOff = false;
    this.setStatus(held, 'ready');
    ready.push(held);
  }

  /**
   * Joins that wait only for each other would wait for ever. Of those that nothing outside their own cycle can reach any more,
   * the lowest index goes; a form that waits in the cycle may still reach them, so it keeps them waiting.
   */
  breakTie(frame: Frame, ready: Token[]): void {
    if (frame.movingCount === 0 && frame.heldCount > 0) this.#releaseTied(frame, ready);
  }

  #releaseTied(frame: Frame, ready: Token[]): void {
    const { reach } = this.plan;
    const blocks = (other: Token, held: Token): boolean =>
      other !== held &&
      reach.canReach(other.node, held.node) &&
      (other.status === 'waiting' || !reach.canReach(held.node, other.node));
    const inOrder = heldTokens(frame).sort((left, right) => left.node - right.node);
    for (const held of inOrder) {
      let other = frame.first;
      while (other !== undefined && !blocks(other, held)) other = other.next;
      if (other !== undefined) continue;
      this.#release(held, ready);
      return;
    }
  }
}

/** The node has settled whose chunks a consumer read; whole, in case that the consumer runs again. */
function hasArrived(early: readonly Token[], to: number, from: number, value: unknown): void {
  for (const consumer of early) {
    if (consumer.node !== to) continue;
    for (let arrival = consumer.input; arrival !== undefined; arrival = arrival.next) {
      if (arrival.from === from && arrival.value === COMING) arrival.value = value;
    }
  }
}

function isMoving(status: TokenStatus): boolean {
  return status === 'ready' || status === 'running';
}

/** The nodes that this one needs and that have given nothing. */
export function missing(token: Token, node: Node): number[] {
  const { cells } = token.frame.values;
  return node.needs.filter((needed) => cells.get(needed) === undefined && liveProducer(token, needed) === undefined);
}

/** Whether all that is missing is on its way, from nodes that were reached before this one. */
export function isComing(token: Token, absent: readonly number[]): boolean {
  return absent.every((needed) => producerBefore(token, needed) !== undefined);
}

/** A token of `needed` beside this one that was given before it and is about to run or at work. */
export function producerBefore({ frame, id }: Token, needed: number): Token | undefined {
  for (let other = frame.first; other !== undefined; other = other.next) {
    if (other.node === needed && other.id < id && (other.status === 'ready' || other.status === 'running'))
      return other;
  }
  return undefined;
}

/** Why a node must not run; undefined when it may. */
export function problemOf(plan: Plan, token: Token, step: number, maxSteps: number): EngineError | undefined {
  const node = plan.nodes[token.node] as Node;
  if (step >= maxSteps) {
    const rounds = describeRounds(plan, token);
    const where = rounds === undefined ? `node "${node.id}" was next` : `it goes round in ${rounds}`;
    const message = `The run took ${maxSteps} steps without ending; ${where}. Give it an end, or raise maxSteps (RUNNEL_MAX_STEPS of a server).`;
    return new EngineError('RUN_STEPS_EXCEEDED', message, { node: node.id });
  }
  const { typed } = token.frame;
  const { typed: scope } = token.frame.scope;
  if (typed !== undefined && scope?.maxSteps !== undefined && typed.steps >= scope.maxSteps) {
    const owner =
      token.frame.owner === undefined ? 'The graph' : `Graph "${(plan.nodes[token.frame.owner.node] as Node).id}"`;
    const message = `${owner} took ${scope.maxSteps} steps without ending; node "${node.id}" was next. Give it an end, or raise its maxSteps.`;
    return new EngineError('RUN_STEPS_EXCEEDED', message, { node: node.id });
  }
  if (node.unknownNeeds.length > 0) {
    const unknown = node.unknownNeeds.map((id) => `"${id}"`).join(', ');
    const message = `Node "${node.id}" reads ${unknown}, but there is no such node in this canvas.`;
    return new EngineError('REFERENCE_UNRESOLVED', message, { node: node.id });
  }
  return undefined;
}
