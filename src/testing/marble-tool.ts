import { defer, map, type Observable, throwError } from 'rxjs';
import type { Interrupt } from '../compose/interrupt.js';
import { defineTool, type ToolSketch } from '../compose/tools/define-tool.js';
import type { StepTool, ToolActivation } from '../compose/tools/step-tool.js';
import type { ArgumentsOf, ToolInput } from '../compose/tools/tool-schema.js';
import { EngineError } from '../errors.js';
import type { Json } from '../json.js';
import { requireObject } from '../operators/invalid-option.js';
import { type MarbleScheduler, type MarbleValues, playDiagrams, type SubscriptionFrames } from './marble.js';

/** A letter of a tool: a piece of its result, or a function of the call that gives it or a question. */
export type MarbleResult<Args> = Json | ((args: Args, call: ToolActivation) => Json | Interrupt);

/** What a tool of marbles is, beside what it gives. */
export type MarbleToolSketch<I extends ToolInput> = Omit<ToolSketch<I, unknown, unknown>, 'run'>;

/** A tool whose results are diagrams. */
export interface MarbleTool<Args = unknown> extends StepTool {
  /** What it was called with, and when, in virtual milliseconds. */
  readonly calls: readonly { readonly args: Args; readonly frame: number }[];
  /** When each diagram was played, for `expectSubscriptions(tool.subscriptions[0])`. */
  readonly subscriptions: readonly SubscriptionFrames[][];
}

/**
 * A tool whose nth call plays the nth diagram; the call behind an answer to its question is a call, too.
 *
 * ```text
 * diagram  --r|       { r: 'Oslo has rain.' }
 * diagram  -q|        { q: (args, call) => call.answer ?? call.interrupt('Really?') }
 * ```
 *
 * `#` fails: TOOL_FAILED, unless `values` has another error. A call for which there is no diagram is TOOL_FAILED.
 *
 * @throws EngineError OPTION_INVALID
 */
export function marbleTool<const I extends ToolInput>(
  scheduler: MarbleScheduler,
  sketch: MarbleToolSketch<I>,
  diagrams: readonly string[],
  values: MarbleValues<MarbleResult<ArgumentsOf<I>>> = {},
): MarbleTool<ArgumentsOf<I>> {
  requireObject('marbleTool', 'sketch', sketch, 'an object with "name" and "description"');
  const error = new EngineError('TOOL_FAILED', `The tool "${sketch.name}" of the test failed.`);
  const results = playDiagrams('marbleTool', scheduler, diagrams, values, error);
  const calls: { args: ArgumentsOf<I>; frame: number }[] = [];
  const run = (args: ArgumentsOf<I>, call: ToolActivation): Observable<unknown> =>
    defer(() => {
      calls.push({ args, frame: scheduler.now() });
      const result = results[calls.length - 1];
      if (result === undefined) return throwError(() => unexpected(sketch.name, calls.length, results.length));
      return result.values$.pipe(map((value) => (typeof value === 'function' ? value(args, call) : value)));
    });
  const tool = defineTool({ ...sketch, run } as ToolSketch<I, unknown, unknown>);
  return Object.freeze({ ...tool, calls, subscriptions: results.map(({ subscriptions }) => subscriptions) });
}

function unexpected(name: string, call: number, diagrams: number): EngineError {
  const message = `The tool "${name}" of the test was called ${call} times and has ${diagrams} diagrams; give marbleTool one more, or find out who calls.`;
  return new EngineError('TOOL_FAILED', message);
}
