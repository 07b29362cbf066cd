/** Stream edges at work: a producer whose text comes live, and the consumers that were started before it settled. */
import type { Observable } from 'rxjs';
import type { Delta } from './node-events.js';
import type { Token } from './token.js';

/** The token of a producer whose text `consumer` reads while it comes; undefined when there is none (any more). */
export function liveProducer(consumer: Token, producer: number): Token | undefined {
  if (consumer.awaits === 0) return undefined;
  for (let other = consumer.frame.first; other !== undefined; other = other.next) {
    if (other.node === producer && other.startedEarly?.includes(consumer) === true) return other;
  }
  return undefined;
}

/** Whether one of the consumers that were started early is the token of a node. */
export function hasStarted(early: readonly Token[], node: number): boolean {
  return early.some((token) => token.node === node);
}

/** The text of a producer as it comes, for a consumer that was started before it settled. */
export function liveText(consumer: Token, producer: number): Observable<Delta> | undefined {
  return liveProducer(consumer, producer)?.live?.read();
}

/** Separates a producer that does not settle from the consumers it had, which no other producer knows afterwards either. */
export function detachConsumers(producer: Token): readonly Token[] {
  const { startedEarly = [] } = producer;
  producer.isStreaming = false;
  producer.isTextReported = undefined;
  producer.live = undefined;
  producer.startedEarly = undefined;
  if (startedEarly.length === 0) return startedEarly;
  for (let other = producer.frame.first; other !== undefined; other = other.next) {
    other.startedEarly = other.startedEarly?.filter((early) => !startedEarly.includes(early));
  }
  return startedEarly;
}
