import { map, type Observable } from 'rxjs';
import { z } from 'zod';
import type { ValueSource } from '../dsl/resolve.js';
import { EngineError } from '../errors.js';
import { type Activation, type BodyEnd, defineComponent } from '../graph/component.js';
import { interrupt, type NodeEvent, settled } from '../graph/node-events.js';
import { isJsonObject } from '../json.js';
import { baseParams } from './base-params.js';
import { holds, loopCondition, parseCondition } from './bodies/loop-conditions.js';
import { initialValues, loopVariable } from './bodies/loop-variables.js';
import { type Step, walk } from './bodies/rounds.js';

/** Rounds after which a loop without a maximum of its own is taken for one that never ends. */
const MAX_ROUNDS = 1024;

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
    .describe('What ends the loop, looked at before every round; without conditions only the maximum does.'),
  logical_operator: z
    .enum(['and', 'or'])
    .nullish()
    .transform((operator) => operator ?? 'and')
    .describe('"and" (default): all conditions must hold; "or": one is enough.'),
  maximum_loop_count: z.coerce
    .number()
    .int()
    .nonnegative()
    .default(0)
    .describe(
      `Rounds after which the loop ends; 0 (default): no maximum, but more than ${MAX_ROUNDS} rounds are an error.`,
    ),
});

type Params = z.infer<typeof params>;

/**
 * Runs its body again and again until its conditions hold, it has run often enough, or an ExitLoop is reached.
 *
 * The conditions are looked at before every round, the first one included. The variables are outputs of the Loop, which
 * nodes of the body read and write as `loop@name`. Behind the last round the item node is visited once more, to close.
 *
 * Errors: LOOP_LIMIT without a maximum after 1024 rounds; NODE_FAILED for an incomplete variable or condition and for an
 * operator that a value does not have; REFERENCE_UNRESOLVED for a condition on something that does not exist.
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
  if (looping.hasEnded(looping.activation.source)) return closing(looping, index);
  const { maximum_loop_count: maximum } = looping.params;
  if (maximum > 0) return index < maximum ? round(looping, index) : closing(looping, index);
  if (index < MAX_ROUNDS) return round(looping, index);
  const { name, node } = looping.activation;
  throw new EngineError(
    'LOOP_LIMIT',
    `Loop "${name}" has run ${MAX_ROUNDS} rounds and its conditions do not hold; check them, or set maximum_loop_count.`,
    { node },
  );
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
