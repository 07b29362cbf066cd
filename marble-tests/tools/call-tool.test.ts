import type { Observable } from 'rxjs';
import { describe, it } from 'vitest';
import { EngineError } from '../../src/errors.js';
import { callTool } from '../../src/tools/call-tool.js';
import { defineTool, type ToolEvent, toolResult } from '../../src/tools/tool.js';
import { marbles } from '../support/scheduler.js';

const p: ToolEvent = { type: 'progress', message: 'half' };
const r = toolResult('done', {});
const values = { p, r };
const late = new EngineError('TOOL_FAILED', 'Slow error: there was no result within 0.006 seconds');

/** Calls a tool that says what `events$` says, for 6 ms at most. */
function called(events$: Observable<ToolEvent>): Observable<ToolEvent> {
  const tool = defineTool({
    component: 'Slow',
    name: 'slow',
    summary: 'Takes its time.',
    arguments: {},
    params: {},
    outputs: {},
    timeoutSeconds: 12,
    call: () => events$,
  });
  return callTool(tool, {}, {} as never, { timeoutMs: 6 });
}

describe('callTool', () => {
  it('passes on what a tool says within its time', () =>
    marbles(({ cold, expectObservable, expectSubscriptions }) => {
      const tool$ = cold('--p--(r|)', values);
      const toolSubs = '  ^----!   ';
      const expected = '  --p--(r|)';

      expectObservable(called(tool$)).toBe(expected, values);
      expectSubscriptions(tool$.subscriptions).toBe(toolSubs);
    }));

  it('ends a tool that says nothing', () =>
    marbles(({ cold, expectObservable, expectSubscriptions }) => {
      const tool$ = cold('-------r|', values);
      const toolSubs = '  ^-----!  ';
      const expected = '  ------#  ';

      expectObservable(called(tool$)).toBe(expected, values, late);
      expectSubscriptions(tool$.subscriptions).toBe(toolSubs);
    }));

  it('ends a tool that goes on and on about how far it is', () =>
    marbles(({ cold, expectObservable, expectSubscriptions }) => {
      const tool$ = cold('--p-p-p-p-p', values);
      const toolSubs = '  ^-----!    ';
      const expected = '  --p-p-#    ';

      expectObservable(called(tool$)).toBe(expected, values, late);
      expectSubscriptions(tool$.subscriptions).toBe(toolSubs);
    }));

  it('names the tool in its failure', () =>
    marbles(({ cold, expectObservable }) => {
      const tool$ = cold<ToolEvent>('--#', undefined, new EngineError('TOOL_FAILED', 'no luck'));
      const expected = '             --#';

      expectObservable(called(tool$)).toBe(expected, undefined, new EngineError('TOOL_FAILED', 'Slow error: no luck'));
    }));

  it('stops the tool when nobody listens any more', () =>
    marbles(({ cold, expectObservable, expectSubscriptions }) => {
      const tool$ = cold('--p-----r|', values);
      const unsub = '     ---!      ';
      const toolSubs = '  ^--!      ';
      const expected = '  --p-      ';

      expectObservable(called(tool$), unsub).toBe(expected, values);
      expectSubscriptions(tool$.subscriptions).toBe(toolSubs);
    }));
});
