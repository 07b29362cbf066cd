import type { Subscription } from 'rxjs';
import type { Log } from '../logger.js';
import type { OpenKnowledge } from './open-knowledge.js';

/** A knowledge base that is loaded when it is first needed, with what parses its documents. */
export interface KnowledgeOnDemand {
  /** Loads it, and begins to parse what waits. */
  open(): Promise<OpenKnowledge>;
  /** Stops parsing; what is at work goes on with the next start. */
  close(): Promise<void>;
}

/** Loads a knowledge base once. */
export function knowledgeOnDemand(load: () => Promise<OpenKnowledge>, log: Log): KnowledgeOnDemand {
  const stop = new AbortController();
  let opened: Promise<OpenKnowledge> | undefined;
  let work: Subscription | undefined;
  const begin = async (): Promise<OpenKnowledge> => {
    const knowledge = await load();
    stop.signal.throwIfAborted();
    const report = (err: unknown): void => log.error({ err }, 'documents are not parsed any more');
    work = knowledge.ingestions().subscribe({ error: report });
    work.add(knowledge.builds.run().subscribe({ error: report }));
    work.add(knowledge.vectors().subscribe({ error: report }));
    knowledge.base.removeRemains(stop.signal).catch((err: unknown) => {
      if (!stop.signal.aborted) log.error({ err }, 'what is left of deleted documents could not be removed');
    });
    return knowledge;
  };
  return {
    open() {
      if (opened === undefined) {
        opened = begin();
        // The next call tries again.
        opened.catch(() => {
          opened = undefined;
        });
      }
      return opened;
    },
    async close() {
      stop.abort();
      const knowledge = await opened?.catch(() => undefined);
      work?.unsubscribe();
      await knowledge?.close();
      await knowledge?.base.parts.indexes.settled();
    },
  };
}
