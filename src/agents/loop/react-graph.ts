/** The loop of a model and its tools as an ordinary graph, for programs that draw more around it than an agent has. */
import { graph } from '../../compose/graph.js';
import { hasToolCall } from '../../compose/has-tool-call.js';
import { requireName } from '../../compose/make-step.js';
import { chatModel } from '../../compose/models/chat-model-step.js';
import { defineState } from '../../compose/state.js';
import type { Step, StepActivation } from '../../compose/step.js';
import type { StepTool } from '../../compose/tools/step-tool.js';
import { toolsNode } from '../../compose/tools/tools-node.js';
import { EngineError } from '../../errors.js';
import type { ChatModel } from '../../models/chat-model.js';
import type { AssistantMessage, ChatMessage } from '../../models/messages.js';
import { requireList, requireOptions, requireText, requireWhole } from '../../operators/invalid-option.js';
import { type AgentInput, messagesOf } from './agent-input.js';

/** See {@link reactGraph}. */
export interface ReactGraphOptions {
  /** Part of paths. @default 'react' */
  readonly name?: string;
  /** A model of `services.models` by name, or a model itself. @default '', the default one */
  readonly model?: string | ChatModel;
  readonly tools: readonly StepTool[];
  /** What the model is told of its part. @default nothing */
  readonly instructions?: string;
  /** Calls of the model; one more is LIMIT_REACHED. @default 20 */
  readonly maxRounds?: number;
}

/** The conversation of the graph. */
interface ReactState {
  readonly messages: readonly ChatMessage[];
  readonly rounds: number;
}

const React = defineState<ReactState>('react', () => ({ messages: [], rounds: 0 }));

/**
 * Makes a graph of two nodes: a model, and its tools for as long as it calls any. Its answer comes in chunks, once it is known that no call follows.
 *
 * ```text
 * start ──> model ──┬──> end
 *             ▲     │
 *             └── tools
 * ```
 *
 * ```ts
 * import { createScriptedModel, defineTool, draw, stream } from 'runnel';
 * import { reactGraph } from 'runnel/agents';
 *
 * const weather = defineTool({ name: 'weather', description: 'Tells the weather.', run: () => 'Rain.' });
 * const model = createScriptedModel({
 *   rules: [{ when: {}, tool_calls: [{ name: 'weather' }], times: 1 }],
 *   default: { reply_stream: ['Take ', 'a coat.'] },
 * });
 * const react = reactGraph({ model, tools: [weather] });
 * for await (const { content } of stream(react, 'Do I need a coat?')) console.log(content);
 * // => Take
 * // => a coat.
 * console.log(draw(react).includes('tools'));
 * // => true
 * ```
 *
 * It is what `agent` does without middlewares, stop rules, forms and the rest: what a tool fails with is text for the model, calls of one answer are
 * made side by side, and tools may ask.
 *
 * Errors of a run: LIMIT_REACHED behind `maxRounds`; those of the model.
 *
 * @throws EngineError PLAN_INVALID, OPTION_INVALID for options that cannot be used.
 */
export function reactGraph(options: ReactGraphOptions): Step<AgentInput, AssistantMessage> {
  requireOptions(
    'reactGraph',
    options,
    ['name', 'model', 'tools', 'instructions', 'maxRounds'],
    'an object with "tools"',
  );
  const { name = 'react', model = '', tools, instructions, maxRounds = 20 } = options;
  requireName('reactGraph', name);
  requireList(`reactGraph "${name}"`, 'tools', tools, 'a list of tools');
  if (instructions !== undefined) requireText(`reactGraph "${name}"`, 'instructions', instructions);
  requireWhole(`reactGraph "${name}"`, 'maxRounds', maxRounds, 1);
  const head: readonly ChatMessage[] = instructions === undefined ? [] : [{ role: 'system', content: instructions }];
  const next = (input: AgentInput, at: StepActivation): readonly ChatMessage[] => {
    const react = at.state(React);
    const { messages, rounds } = react.append('messages', ...messagesOf(input, at.path));
    if (rounds >= maxRounds) throw tooManyRounds(name, maxRounds);
    react.update({ rounds: rounds + 1 });
    return [...head, ...messages];
  };
  return graph<AgentInput, AssistantMessage>(
    name,
    (g) => {
      const ask = g.node('model', chatModel(model, { tools }), { before: next });
      const act = g.node('tools', toolsNode({ tools, errorsAsText: true }), {
        before: (answer: AssistantMessage, at) => {
          at.state(React).append('messages', answer);
          return answer;
        },
      });
      g.edge(g.start, ask);
      g.streamBranch(ask, { tools: act, end: g.end }, hasToolCall());
      g.edge(act, ask);
    },
    { state: React },
  );
}

function tooManyRounds(name: string, maxRounds: number): EngineError {
  return new EngineError(
    'LIMIT_REACHED',
    `Graph "${name}" was stopped: its model asked for tools in ${maxRounds} rounds. Raise "maxRounds" if that is too few.`,
  );
}
