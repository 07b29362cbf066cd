/** A tool of your own, as a node type and for an Agent, in a canvas that is written in code. */
import assert from 'node:assert/strict';
import {
  agentComponent,
  builtInComponents,
  createModels,
  createRegistry,
  defineTool,
  loadCanvas,
  modelsFromEnvironment,
  runTurn,
  toolComponent,
  toolResult,
  tools,
} from 'runnel';
import { lastValueFrom, of } from 'rxjs';
import { z } from 'zod';

const dice = defineTool({
  component: 'Dice',
  name: 'roll_dice',
  summary: 'Rolls a die.',
  arguments: { sides: z.number().int().min(2).default(6).describe('Number of sides; default 6.') },
  params: {},
  outputs: { rolled: { type: 'number', description: 'What came up.' } },
  timeoutSeconds: 5,
  call: ({ sides }, call) => {
    const rolled = 1 + Math.floor(call.random() * sides);
    return of(toolResult(`A ${rolled}.`, { rolled }));
  },
});

const registry = createRegistry([...builtInComponents.values(), toolComponent(dice), agentComponent([...tools, dice])]);
const player = { llm_id: 'scripted', sys_prompt: 'You play games.', tools: ['roll_dice'] };
const canvas = loadCanvas(
  {
    components: {
      begin: { obj: { component_name: 'Begin', params: {} }, downstream: ['Agent:Player'] },
      'Agent:Player': { obj: { component_name: 'Agent', params: player }, downstream: ['Message:Reply'] },
      'Message:Reply': {
        obj: { component_name: 'Message', params: { content: ['{Agent:Player@content}'] } },
        downstream: [],
      },
    },
  },
  { registry },
);

const script = {
  rules: [{ when: {}, times: 1, tool_calls: [{ name: 'roll_dice_0', arguments: { sides: 20 } }] }],
  default: { reply: 'You rolled: $user' },
};
const models = createModels({ ...(await modelsFromEnvironment({}, async () => '')), script });
const end = await lastValueFrom(
  runTurn(canvas, { query: 'Roll a d20.' }, { services: { models }, random: () => 0.95 }),
);
assert.equal(end.type, 'run-settled');
if (end.type === 'run-settled') console.log(end.outputs?.content);
assert.deepEqual(end.type === 'run-settled' && end.outputs, { content: 'You rolled: A 20.', downloads: [] });
