/** What a node says while it is at work: text, usage, notices, and what it wants kept. */

import type { Recorder } from './journal.js';
import type { NodeEvent } from './node-events.js';
import type { Node } from './plan.js';
import { keepProgress } from './progress.js';
import type { Reporter } from './reporter.js';
import type { Token } from './token.js';
import type { Move } from './work.js';

/** Passes one event of a node on to whoever it is for. */
export function passOn(
  token: Token,
  node: Node,
  event: Exclude<NodeEvent, Move>,
  reporter: Reporter,
  recorder: Recorder | undefined,
): void {
  switch (event.type) {
    case 'delta':
      token.live?.append(event);
      // Over a stream edge the consumer passes the text on; reporting it here too would double the log.
      token.isTextReported ??= token.startedEarly === undefined;
      if (token.isTextReported) reporter.delta(token, node, event);
      return;
    case 'progress':
      keepProgress(token, event);
      reporter.progress(token, node, event);
      recorder?.add({ ...event, type: 'progress', token: token.id });
      // At once: the node may be at work for an hour before anything settles.
      recorder?.commit();
      return;
    case 'usage':
      reporter.usage(token, node, event);
      return;
    case 'call':
      reporter.call(token, node, event);
      return;
    case 'notice':
      reporter.notice(token, node, event);
  }
}
