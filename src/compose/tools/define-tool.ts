/** Tools in a few lines: a name, a description, what the arguments are, and a function. */
import { concatMap, defer, from, map, type Observable, takeUntil, timer } from 'rxjs';
import { toolFailed } from '../../adapters/failures.js';
import { isJsonObject } from '../../json.js';
import {
  invalidOption,
  requireObject,
  requireOptions,
  requireSchema,
  requireWhole,
} from '../../operators/invalid-option.js';
import type { StandardSchema } from '../../standard-schema.js';
import { defineTool as defineCanvasTool, type Shape, type Tool } from '../../tools/tool.js';
import type { StepTool, ToolActivation, ToolReply } from './step-tool.js';
import { repliesOf, type ToolOutputRule, type ToolReturn } from './tool-output.js';
import { type ArgumentsOf, checkArguments, readToolInput, type ToolInput } from './tool-schema.js';

/** A tool in a few lines. `I`: what describes its arguments; `R`: what its function gives; `A`: answers to its questions. */
export interface ToolSketch<I extends ToolInput, R, A> {
  /** As models call it: letters, digits, `_` and `-`, at most 64. */
  readonly name: string;
  /** What it does and when to use it, for the model. */
  readonly description: string;
  /** What describes its arguments. @default it has none */
  readonly input?: I;
  /** What answers to its questions have to be; it gives `call.answer` its type. @default anything */
  readonly answer?: StandardSchema<unknown, A>;
  /**
   * Does the work. Gives its result, a promise of it, a stream of pieces of it (Observable or AsyncIterable), or a question
   * (`call.interrupt(…)`), after whose answer it is called again.
   */
  readonly run: (args: ArgumentsOf<I>, call: ToolActivation<A>) => ToolReturn<R>;
  /** What of a result, or of each piece, the model gets. @default texts as they are, everything else as JSON */
  readonly output?: ToolOutputRule<R>;
  /** Milliseconds that a call may take. @default no limit */
  readonly timeoutMs?: number;
  /** See `ToolDefinition`. @default false */
  readonly deferred?: boolean;
}

/** Types a tool of canvases without losing its shapes: one that has a component, parameters of a document and outputs. */
export function defineTool<A extends Shape, P extends Shape>(tool: Tool<A, P>): Tool<A, P>;
/**
 * Makes a tool for `toolsNode`, `chatModel` and agents.
 *
 * ```ts
 * import { assistantMessage, defineTool, invoke, toolsNode } from 'runnel';
 * import { z } from 'zod';
 *
 * const add = defineTool({
 *   name: 'add',
 *   description: 'Adds two numbers.',
 *   input: z.object({ a: z.number(), b: z.number() }),
 *   run: ({ a, b }) => a + b,
 * });
 * const asked = assistantMessage('', { toolCalls: [{ id: 'c1', name: 'add', arguments: '{"a": 1, "b": 2}' }] });
 * console.log((await invoke(toolsNode({ tools: [add] }), asked)).map(({ content }) => content));
 * // => [ '3' ]
 * ```
 *
 * Arguments are checked before `run` is called; those that do not fit are TOOL_ARGUMENTS with every issue, for the model to read. A call that
 * takes longer than `timeoutMs` is TOOL_FAILED and is unsubscribed.
 *
 * @throws EngineError OPTION_INVALID for a name that models cannot call, no description, a schema that cannot be used, and a name that is no option.
 */
export function defineTool<const I extends ToolInput, R, A = unknown>(tool: ToolSketch<I, R, A>): StepTool;
export function defineTool(tool: Tool<Shape, Shape> | ToolSketch<ToolInput, unknown, unknown>): unknown {
  requireObject('defineTool', 'tool', tool, 'an object with "name", "description" and "run"');
  return 'component' in tool ? defineCanvasTool(tool) : stepTool(tool);
}

/** What every provider takes as the name of a function. */
const NAME = /^[A-Za-z0-9_-]{1,64}$/;

/** Refuses a name that models cannot call. @throws EngineError OPTION_INVALID */
export function requireToolName(owner: string, name: unknown): asserts name is string {
  if (typeof name === 'string' && NAME.test(name)) return;
  throw invalidOption(owner, 'name', 'letters, digits, "_" and "-", at most 64', name);
}

/** Every field of a sketch. */
const OPTIONS = ['name', 'description', 'input', 'answer', 'run', 'output', 'timeoutMs', 'deferred'];

function stepTool(sketch: ToolSketch<ToolInput, unknown, unknown>): StepTool {
  if (!isJsonObject(sketch))
    throw invalidOption('defineTool', 'tool', 'an object with name, description and run', sketch);
  const { name, description, answer, run, output, timeoutMs, deferred } = sketch;
  requireToolName('defineTool', name);
  const owner = `defineTool "${name}"`;
  requireOptions(owner, sketch, OPTIONS);
  if (typeof description !== 'string') throw invalidOption(owner, 'description', 'text for the model', description);
  if (typeof run !== 'function') throw invalidOption(owner, 'run', 'a function', run);
  requireSchema(owner, 'answer', answer);
  if (timeoutMs !== undefined) requireWhole(owner, 'timeoutMs', timeoutMs, 1);
  const input = readToolInput(owner, sketch.input);
  const work = (args: unknown, call: ToolActivation): Observable<ToolReply> =>
    repliesOf(run(args as never, call), call, output);
  return Object.freeze<StepTool>({
    name,
    description,
    parameters: input.parameters,
    ...(deferred === true && { deferred }),
    ...(answer !== undefined && { answer }),
    call: (args, call) => {
      const replies$ = defer(() => {
        const checked = checkArguments(name, input, args);
        if (!(checked instanceof Promise)) return work(checked, call);
        return from(checked).pipe(concatMap((value) => work(value, call)));
      });
      return timeoutMs === undefined ? replies$ : replies$.pipe(takeUntil(expiry(name, timeoutMs)));
    },
  });
}

/** Errors when the time of a call is up. */
function expiry(name: string, timeoutMs: number): Observable<never> {
  return timer(timeoutMs).pipe(
    map((): never => {
      throw toolFailed(`${name} gave no result within ${timeoutMs} ms.`);
    }),
  );
}
