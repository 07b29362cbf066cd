/** Bodies of containers: opening a pass, forgetting what earlier passes left, ending it early. */
import { Observable } from 'rxjs';
import type { BodyEnd, BodyRound } from './component.js';
import type { JournalRecord } from './journal.js';
import type { Node, Plan, Scope } from './plan.js';
import type { Reporter } from './reporter.js';
import { Frame, type Token } from './token.js';
import { FrameSource } from './values.js';

/** What opening a pass needs of the run. */
export interface BodyHost {
  readonly plan: Plan;
  /** Puts tokens on the entries of a fresh frame, or wakes those of a restored one. */
  begin(frame: Frame, isRestored: boolean): void;
  readonly reporter: Reporter;
  /** Writes a change of the state into the journal. */
  record(record: JournalRecord): void;
  /** Stops the work of a frame that is cut short. */
  stopFrame(frame: Frame): void;
}

/**
 * One pass through the body of `token`'s node.
 *
 * ```text
 * body      --[ entry … ]
 * result    -------------(e|)     (e: how it ended; an error of a body node that nobody handled errors the result)
 * ```
 *
 * A pass that a restored run was in is taken up where it was, by its key. Unsubscribing stops the work of the body.
 */
export function openBody(host: BodyHost, token: Token, round: BodyRound): Observable<BodyEnd> {
  return new Observable((subscriber) => {
    const { plan } = host;
    const scope = plan.scopes[(plan.nodes[token.node] as Node).body];
    // Without a node that is made for it nobody is to be told that no pass follows.
    if (scope === undefined || (round.closing === true && !scope.hasDeclaredEntry)) {
      subscriber.next({ status: 'done', source: new FrameSource(plan, token.frame) });
      subscriber.complete();
      return undefined;
    }
    const restored = token.frames?.get(round.key);
    if (restored === undefined) {
      host.reporter.bodyOpened(token, round);
      host.record({ type: 'opened', token: token.id, round });
    }
    const frame = restored ?? createFrame(plan, token, scope, round);
    const close = () => {
      token.frames?.delete(round.key);
      if (!token.isLive) return;
      host.reporter.bodyClosed(token, round.key);
      host.record({ type: 'closed', token: token.id, key: round.key });
    };
    frame.whenEnded = (status) => {
      if (status !== 'interrupted') close();
      subscriber.next({ status, source: new FrameSource(plan, frame) });
      subscriber.complete();
    };
    frame.whenFailed = (error) => subscriber.error(error);
    host.begin(frame, restored !== undefined);
    return () => {
      // A frame that ended or waits has no listener any more; only one that is cut short is stopped here.
      if (frame.whenEnded === undefined) return;
      close();
      host.stopFrame(frame);
    };
  });
}

/** A frame for a fresh pass through a body. */
export function createFrame(plan: Plan, token: Token, scope: Scope, round: BodyRound): Frame {
  const around = token.frame.values;
  const isIsolated = round.isolated === true;
  const values = isIsolated ? { cells: around.cells.fork(), variables: around.variables } : around;
  const frame = new Frame(scope, token, round.key, values, {
    aliases: round.aliases,
    isIsolated,
    isClosing: round.closing === true,
  });
  if (round.fresh === true) forget(plan, scope, frame);
  token.frames ??= new Map();
  token.frames.set(round.key, frame);
  return frame;
}

function forget(plan: Plan, scope: Scope, frame: Frame): void {
  for (const member of scope.members) {
    frame.values.cells.set(member, undefined);
    const { body } = plan.nodes[member] as Node;
    if (body !== -1) forget(plan, plan.scopes[body] as Scope, frame);
  }
}
