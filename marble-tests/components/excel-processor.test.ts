import { isObservable } from 'rxjs';
import { describe, expect, it } from 'vitest';
import { excelProcessor } from '../../src/components/excel-processor.js';
import type { Files } from '../../src/components/services.js';
import { EngineError } from '../../src/errors.js';
import { planOf } from '../../src/graph/build.js';
import { type NodeEvent, settled, warning } from '../../src/graph/node-events.js';
import { createNode, type FakeOptions, fakeActivation, perform } from '../support/activation.js';
import { marbles } from '../support/scheduler.js';
import { nodeOf, said } from './data-run.js';

const TRANSFORM = nodeOf(excelProcessor, { operation: 'transform', transform_data: 'one@data' });
const MERGE = nodeOf(excelProcessor, { operation: 'merge', input_files: ['one@file', 'two@file'] });
const READ = createNode(excelProcessor, { input_files: ['n@file', 'n@file'] });
const WRITE = createNode(excelProcessor, { operation: 'output', transform_data: 'n@rows' });

const around = (options: FakeOptions = {}) =>
  fakeActivation({ outputs: { n: { rows: [{ a: 1 }], file: { id: 'f' } } }, ...options });

/** A store that notes what is asked of it and never answers. */
function silentStore(): { readonly asked: string[]; readonly files: Files } {
  const asked: string[] = [];
  const wait = (what: string): Promise<never> => {
    asked.push(what);
    return new Promise(() => {});
  };
  return { asked, files: { read: (id) => wait(`read ${id}`), save: ({ name }) => wait(`save ${name}`) } };
}

describe('ExcelProcessor', () => {
  it('transforms in the frame in which its data comes', () =>
    marbles(({ cold, expectObservable, expectSubscriptions }) => {
      const one$ = cold('  ---(s|)', { s: settled({ data: [{ a: 1 }] }) });
      const oneSubs = '    ^--!   ';
      const expected = '   ---(a|)';

      const plan = planOf({ one: () => one$, x: TRANSFORM }, [['one', 'x']]);

      const summary = 'Transformed data ready for processing';
      const outputs = { data: [{ a: 1 }], summary, markdown: '| a |\n| --- |\n| 1 |' };
      expectObservable(said(plan, ['x'])).toBe(expected, { a: { x: outputs } });
      expectSubscriptions(one$.subscriptions).toBe(oneSubs);
    }));

  it('waits for all files that it merges, and is done at once when none was given', () =>
    marbles(({ cold, expectObservable }) => {
      const one$ = cold('  -----(s|)', { s: settled({ file: null }) });
      const two$ = cold('  --(s|)   ', { s: settled({ file: '' }) });
      const expected = '   -----(a|)';

      const plan = planOf({ start: () => ({}), one: () => one$, two: () => two$, x: MERGE }, [
        ['start', 'one'],
        ['start', 'two'],
        ['one', 'x'],
        ['two', 'x'],
      ]);

      expectObservable(said(plan, ['x'])).toBe(expected, { a: { x: { data: {}, summary: 'No data to merge' } } });
    }));

  it('warns before it settles, in the same frame', () =>
    marbles(({ expectObservable }) => {
      const node = createNode(excelProcessor, { input_files: ['n@gone'] });

      expectObservable(perform(node, around())).toBe('(ws|)', {
        w: warning('"n@gone" names no value; it reads as empty text.'),
        s: settled({ data: {}, summary: 'No Excel files found', markdown: 'No data' }),
      });
    }));

  it('fails in no time when there is nowhere to write to', () =>
    marbles(({ expectObservable }) => {
      const failure = new EngineError(
        'CONFIG_INVALID',
        'Node "node" needs the service "files", but the run was started without it; pass { services: { files } }, such as an object with read() and save().',
      );

      expectObservable(perform(WRITE, around())).toBe('#', undefined, failure);
    }));

  it('passes the error of its source by: it never starts', () =>
    marbles(({ cold, expectObservable }) => {
      const one$ = cold<NodeEvent>('  --#', undefined, new EngineError('NODE_FAILED', 'broken'));
      const plan = planOf({ one: () => one$, x: TRANSFORM }, [['one', 'x']]);

      expectObservable(said(plan, ['one', 'x'])).toBe('--(e|)', { e: { one: 'NODE_FAILED' } });
    }));

  it('waits for a slow store, and says nothing more when it is unsubscribed', () =>
    marbles(({ expectObservable, flush }) => {
      const { asked, files } = silentStore();
      const unsubscribed = '^----!';

      expectObservable(perform(READ, around({ services: { files } })), unsubscribed).toBe('------');

      flush();
      expect(asked).toEqual(['read f']);
    }));

  it('starts nothing before it is subscribed to, and anew for every subscription', () => {
    const { asked, files } = silentStore();
    const result$ = READ(around({ services: { files } }));
    expect(isObservable(result$)).toBe(true);
    expect(asked).toEqual([]);
    if (!isObservable(result$)) return;
    for (let times = 0; times < 2; times += 1) result$.subscribe().unsubscribe();
    expect(asked).toEqual(['read f', 'read f']);
  });
});
