/** One turn of an agent as a graph: the values of its session around it. */
import { graph } from '../../compose/graph.js';
import type { Step } from '../../compose/step.js';
import type { Json } from '../../json.js';
import { AGENT, type AgentEnd, type AgentStart, type AnyAgent } from '../loop/agent-end.js';
import { Heard, type HeardInput } from '../loop/heard-inputs.js';
import { Session, type SessionValues } from '../loop/session-values.js';

/** What a turn starts with. */
export interface TurnStart extends AgentStart {
  readonly values: SessionValues;
}

/** What a turn gives. */
export interface TurnResult {
  readonly end: AgentEnd;
  /** Values of the session that are others than before. */
  readonly values: Readonly<Record<string, Json>>;
  /** Inputs that agents had meanwhile, also in processes before. */
  readonly heard: readonly HeardInput[];
}

/** Draws the graph of a turn; the steps of the agent have its name in their paths. */
export function turnGraph(agent: AnyAgent): Step<TurnStart, TurnResult> {
  return graph<TurnStart, TurnResult>(
    'turn',
    (g) => {
      const begin = g.node('turn-begin', ({ messages, values }: TurnStart, at): AgentStart => {
        at.state(Session).set(values);
        return { messages };
      });
      const work = g.node(agent.name, agent[AGENT].ended({}));
      const end = g.node(
        'turn-end',
        (ended: AgentEnd, at): TurnResult => ({
          end: ended,
          values: at.state(Session).value,
          heard: at.state(Heard).value.inputs,
        }),
      );
      g.edge(g.start, begin);
      g.edge(begin, work);
      g.edge(work, end);
      g.edge(end, g.end);
    },
    { state: [Session, Heard] },
  );
}
