/** Any step as a tool. */
import { isJsonObject } from '../../json.js';
import { requireObject } from '../../operators/invalid-option.js';
import { isStep } from '../make-step.js';
import { invoke } from '../run.js';
import { type AnyStepLike, DEFINITION, type Step, type StepLike } from '../step.js';
import { step as named } from '../steps.js';
import { defineTool, type ToolSketch } from './define-tool.js';
import type { StepTool } from './step-tool.js';
import type { ToolOutputRule } from './tool-output.js';
import type { ArgumentsOf, ToolInput } from './tool-schema.js';

/** How a step is offered to models. */
export interface GraphToolOptions<I extends ToolInput, O>
  extends Pick<ToolSketch<I, O, unknown>, 'timeoutMs' | 'deferred'> {
  /** @default the name of the step */
  readonly name?: string;
  /** What it does and when to use it, for the model. */
  readonly description: string;
  /** What describes the arguments, which are the input of the step. @default the step's own `input` schema, else it has none */
  readonly input: I;
  /** What of the result the model gets. @default texts as they are, the text of messages, everything else as JSON */
  readonly output?: ToolOutputRule<O>;
}

/**
 * Makes a tool of a step: a function, a chain, a graph, a workflow, an agent. Its arguments are the input of the step, its result what the step gives.
 *
 * The step runs inside the call: it sees the same services, observers and call options, and ends with the call. Its questions are questions of the
 * call, with addresses such as `tools#call_1/review/ask`; once they are answered it goes on where it stood.
 *
 * @throws EngineError OPTION_INVALID for a name that models cannot call, and a schema that cannot be used; PLAN_INVALID for what is no step.
 */
export function graphTool<const I extends ToolInput, O>(
  step: StepLike<ArgumentsOf<I>, O>,
  options: GraphToolOptions<I, O>,
): StepTool;
export function graphTool<I, O>(step: Step<I, O>, options: Omit<GraphToolOptions<ToolInput, O>, 'input'>): StepTool;
export function graphTool(
  step: AnyStepLike,
  options: Omit<GraphToolOptions<ToolInput, never>, 'input'> & { readonly input?: ToolInput },
): StepTool {
  requireObject('graphTool', 'options', options, 'an object with "description"');
  const { name = step.name, input = ownInput(step), output = readableOf, ...more } = options;
  const inner = namedInside(step, name);
  return defineTool<ToolInput, unknown>({
    ...more,
    name,
    ...(input !== undefined && { input }),
    output: output as ToolOutputRule<unknown>,
    run: (args, call) => invoke<unknown, unknown>(inner, args, { within: call }),
  });
}

/** Addresses of questions begin with the name of the step: one that was given none has that of the tool. */
function namedInside(step: AnyStepLike, name: string): AnyStepLike {
  const definition = isStep(step) ? step[DEFINITION] : undefined;
  const isNamed = definition !== undefined && !(definition.type === 'graph' && definition.graph.isInline);
  return isNamed ? step : named(name, step);
}

function ownInput(step: AnyStepLike): ToolInput | undefined {
  return isStep(step) ? (step[DEFINITION].options.input as ToolInput | undefined) : undefined;
}

/** The text of a message, or of the last one of a list; anything else as it is written. */
function readableOf(result: unknown): string {
  if (typeof result === 'string') return result;
  const last: unknown = Array.isArray(result) ? result.at(-1) : result;
  if (isJsonObject(last) && typeof last.role === 'string' && typeof last.content === 'string') return last.content;
  return result === undefined ? '' : (JSON.stringify(result) ?? '');
}
