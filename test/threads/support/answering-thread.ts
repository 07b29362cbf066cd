/** A thread whose jobs say what they do. */
import { EngineError } from '../../../src/errors.js';
import { answerJobs } from '../../../src/threads/answer-jobs.js';

export type Order =
  | { readonly do: 'echo'; readonly value: unknown }
  | { readonly do: 'count' | 'loop' | 'fill' | 'fail' | 'refuse' | 'crash' | 'wait' };

let jobs = 0;

answerJobs(
  async (order: Order) => {
    jobs += 1;
    switch (order.do) {
      case 'echo':
        return order.value;
      case 'count':
        return jobs;
      case 'loop':
        for (;;);
      case 'fill':
        for (const held: number[][] = []; ; ) held.push(new Array(10_000).fill(held.length));
      case 'fail':
        throw new Error('no way');
      case 'refuse':
        throw new EngineError('FILE_UNREADABLE', 'not this', { details: { a: 1 } });
      case 'crash':
        setImmediate(() => {
          throw new Error('thrown beside the work');
        });
        return await new Promise(() => {});
      case 'wait':
        return await new Promise(() => {});
    }
  },
  (thrown) => (thrown as Error).message,
);
