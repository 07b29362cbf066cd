import { map, type Observable } from 'rxjs';
import { z } from 'zod';
import type { ValueSource } from '../dsl/resolve.js';
import { type Activation, type BodyEnd, defineComponent } from '../graph/component.js';
import { interrupt, type NodeEvent, settled } from '../graph/node-events.js';
import { isJsonObject } from '../json.js';
import { baseParams } from './base-params.js';
import { holds, loopCondition, parseCondition } from './bodies/loop-conditions.js';
import { initialValues, loopVariable } from './bodies/loop-variables.js';
import { type Step, walk } from './bodies/rounds.js';

const params = z.looseObject({
  ...baseParams,
  loop_variables: z
    .array(loopVariable)
    .nullish()
    .transform((variables) => variables ?? [])
    .describe('Variables of the loop, which are its outputs; default none.'),
  loop_termination_condition: z
    .array(loopCondition)
    .nullish()
    .transform((conditions) => conditions ?? [])
    .describe('What ends the loop, checked before every round; without conditions only the maximum does.'),
  logical_operator: z
    .enum(['and', 'or'])
    .nullish()
    .transform((operator) => operator ?? 'and')
    .describe('"and" (default): all conditions must hold; "or": one is enough.'),
  maximum_loop_count: z.coerce
    .number()
    .default(0)
    .describe(
      'Most rounds that the loop runs; with 0 (default) or less it runs none. As in RAGFlow there is no "unlimited".',
    ),
});

type Params = z.infer<typeof params>;

/**
 * Repeats its body until its conditions hold, the maximum count is reached, or an ExitLoop runs.
 *
 * The count, then the conditions are checked before every round, the first one included: behind the last round, and with a
 * maximum of 0, conditions are not evaluated. The variables are outputs of the Loop, which nodes of the body read and write as
 * `loop@name`. After the last round the item node is visited once more, to close.
 *
 * Errors: NODE_FAILED for an incomplete variable or condition and for an operator that a value does not have;
 * REFERENCE_UNRESOLVED for a condition on something that does not exist.
 */
export const loop = defineComponent<Params>({
  type: 'Loop',
  summary: 'Repeats its body until a condition holds.',
  params,
  outputs: {},
  isContainer: true,
  timeoutSeconds: null,
  check: (_params, { body }) => (body.length === 0 ? ['a Loop needs a LoopItem in its body'] : []),
  create(given, placement) {
    const { id } = placement;
    const conditions = given.loop_termination_condition.map((written) => parseCondition(written, id));
    const hasEnded = (source: ValueSource): boolean => {
      // Nothing to look at ends nothing, unlike "all of no conditions".
      if (conditions.length === 0) return false;
      return given.logical_operator === 'and'
        ? conditions.every((condition) => holds(condition, source, id))
        : conditions.some((condition) => holds(condition, source, id));
    };
    return (activation) => repeat({ activation, params: given, hasEnded });
  },
});

/** What all steps of one activation share. */
interface Looping {
  readonly activation: Activation;
  readonly params: Params;
  readonly hasEnded: (source: ValueSource) => boolean;
}

function repeat(looping: Looping): Observable<NodeEvent> {
  const { nodeState } = looping.activation;
  if (isJsonObject(nodeState) && typeof nodeState.round === 'number') {
    return walk(nodeState.isClosing === true ? closing(looping, nodeState.round) : round(looping, nodeState.round));
  }
  const outputs = initialValues(looping.params.loop_variables, looping.activation);
  // The first look at the conditions is a step of its own, behind the values that they read.
  return walk({ event: { type: 'progress', outputs }, follow: () => [stepAt(looping, 0)] });
}

function stepAt(looping: Looping, index: number): Step {
  const { activation, params, hasEnded } = looping;
  const isOver = index >= params.maximum_loop_count || hasEnded(activation.source);
  return isOver ? closing(looping, index) : round(looping, index);
}

function round(looping: Looping, index: number): Step {
  return {
    event: { type: 'progress', nodeState: { round: index } },
    follow: () => looping.activation.runBody({ key: String(index) }).pipe(map((end) => stepAfter(looping, index, end))),
  };
}

function closing(looping: Looping, index: number): Step {
  return {
    event: { type: 'progress', nodeState: { round: index, isClosing: true } },
    follow: () => looping.activation.runBody({ key: 'closing', closing: true }).pipe(map((): Step => end(looping))),
  };
}

function stepAfter(looping: Looping, index: number, { status }: BodyEnd): Step {
  if (status === 'interrupted') return { event: interrupt() };
  return status === 'exited' ? end(looping) : stepAt(looping, index + 1);
}

/** The Loop settles with its variables as the body left them, and with whatever else the body wrote to it. */
function end({ activation }: Looping): Step {
  return { event: settled({ ...activation.outputs }) };
}
