import { describe, expect, it } from 'vitest';
import { docGenerator } from '../../src/components/doc-generator.js';
import type { Files } from '../../src/components/services.js';
import { EngineError } from '../../src/errors.js';
import { planOf } from '../../src/graph/build.js';
import { type NodeEvent, settled, warning } from '../../src/graph/node-events.js';
import { createNode, fakeActivation, perform } from '../support/activation.js';
import { marbles } from '../support/scheduler.js';
import { nodeOf, said } from './data-run.js';

/** A store that counts what it is given and never answers. */
function silentStore(): { readonly saved: string[]; readonly files: Files } {
  const saved: string[] = [];
  const save: Files['save'] = ({ name }) => {
    saved.push(name);
    return new Promise(() => {});
  };
  return { saved, files: { save, read: async () => undefined } };
}

const WRITE = createNode(docGenerator, { content: '{n@text}{env.no}', output_format: 'txt' });

const around = (files?: Files) => fakeActivation({ outputs: { n: { text: 'hello' } }, services: { files } });

describe('DocGenerator', () => {
  it('fails in no time, before any work, when there is no place for its file', () =>
    marbles(({ expectObservable }) => {
      const failure = new EngineError(
        'CONFIG_INVALID',
        'Node "node" needs the service "files", but the run was started without it; pass { services: { files } }, such as an object with read() and save().',
      );

      expectObservable(perform(WRITE, around())).toBe('#', undefined, failure);
    }));

  it('warns at once, while the file is still being made', () =>
    marbles(({ expectObservable }) => {
      const unsubscribed = '^----!';
      const expected = '    w-----';

      expectObservable(perform(WRITE, around(silentStore().files)), unsubscribed).toBe(expected, {
        w: warning('"env.no" names no value; it reads as empty text.'),
      });
    }));

  it('fails in the frame in which its content comes, when nothing can be kept', () =>
    marbles(({ cold, expectObservable, expectSubscriptions }) => {
      const one$ = cold('  ---(s|)', { s: settled({ text: 'hello' }) });
      const oneSubs = '    ^--!   ';
      const expected = '   ---(e|)';

      const plan = planOf({ one: () => one$, x: nodeOf(docGenerator, { content: '{one@text}' }) }, [['one', 'x']]);

      expectObservable(said(plan, ['x'])).toBe(expected, { e: { x: 'CONFIG_INVALID' } });
      expectSubscriptions(one$.subscriptions).toBe(oneSubs);
    }));

  it('passes the error of its source by: it never starts', () =>
    marbles(({ cold, expectObservable }) => {
      const one$ = cold<NodeEvent>('  --#', undefined, new EngineError('NODE_FAILED', 'broken'));
      const plan = planOf({ one: () => one$, x: nodeOf(docGenerator, { content: '{one@text}' }) }, [['one', 'x']]);

      expectObservable(said(plan, ['one', 'x'])).toBe('--(e|)', { e: { one: 'NODE_FAILED' } });
    }));

  it('is no work before it is subscribed to, and ends with its subscription', () => {
    const { saved, files } = silentStore();
    const result$ = perform(WRITE, around(files));
    for (let times = 0; times < 2; times += 1) result$.subscribe().unsubscribe();
    expect(saved).toEqual([]);
  });
});
