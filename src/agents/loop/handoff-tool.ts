/** What a model calls to hand over to another agent. */
import { defineTool, requireToolName } from '../../compose/tools/define-tool.js';
import type { StepTool } from '../../compose/tools/step-tool.js';
import { EngineError } from '../../errors.js';
import type { HandoffTarget } from './agent-end.js';
import { AGENT_TEXTS } from './agent-texts.js';
import type { Speaker } from './agent-view.js';

/**
 * The tools that hand over, by the name of the agent that they hand over to. They are never called: calling one ends the agent.
 *
 * @throws EngineError OPTION_INVALID for names that no tool can have.
 */
export function handoffTools(
  { name: agent, language }: Speaker,
  targets: readonly HandoffTarget[],
): ReadonlyMap<string, StepTool> {
  return new Map(
    targets.map(({ name, description }) => {
      const tool = `${PREFIX}${name}`;
      requireToolName(`agent "${agent}": the handoff to "${name}"`, tool);
      return [
        name,
        defineTool({
          name: tool,
          description: AGENT_TEXTS[language].handsOver(name, description),
          run: () => {
            throw new EngineError('HANDOFF_UNKNOWN', `"${agent}" cannot hand over to "${name}" here.`);
          },
        }),
      ];
    }),
  );
}

const PREFIX = 'transfer_to_';

/** Whether a tool hands over. */
export function isHandoffTool(name: string): boolean {
  return name.startsWith(PREFIX);
}
