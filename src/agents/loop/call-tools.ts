/** Calls of an agent's tools, through its middlewares. */
import type { StepActivation } from '../../compose/step.js';
import { type ToolsCall, toolCaller } from '../../compose/tools/tools-node.js';
import type { AgentInGraph, CallTools } from './agent-in-graph.js';
import { isWrongReply, replyBy } from './given.js';
import { MiddlewareView } from './run-hooks.js';

/** Makes calls of tools in a step of the agent. What fails, and a tool that is not there, is text for the model. */
export function callsOfTools({ setup, tools }: AgentInGraph, at: StepActivation): CallTools {
  const use = setup.use.flatMap((middleware) => {
    if (middleware.wrapTool === undefined) return [];
    const view = new MiddlewareView(setup, at, middleware);
    const wrap: ToolsCall['use'][number] = (request, next) =>
      replyBy(middleware, middleware.wrapTool?.(request, next, view) as never);
    return [Object.defineProperty(wrap, 'name', { value: middleware.name })];
  });
  return toolCaller(`agent "${setup.name}"`, {
    tools,
    use,
    concurrency: setup.concurrency,
    errorsAsText: (error) => (isWrongReply(error) ? undefined : error.message),
  });
}

/** The same where no middleware stands around tools: made once for all rounds. */
export function plainCalls({ setup, tools, callTools }: AgentInGraph): CallTools | undefined {
  if (callTools !== undefined) return callTools;
  if (setup.use.some(({ wrapTool }) => wrapTool !== undefined)) return undefined;
  const { name, concurrency } = setup;
  return toolCaller(`agent "${name}"`, { tools, use: [], concurrency, errorsAsText: true });
}
