/** A supervisor with two members, one of which asks an agent of its own as a tool. */
import { createScriptedModel, run } from 'runnel';
import { agent, agentTool, supervisor } from 'runnel/agents';

const library = agent({
  name: 'library',
  description: 'Knows books.',
  model: createScriptedModel({ default: { reply: 'Seven bridges, says Euler.' } }),
});
const finder = agent({
  name: 'finder',
  description: 'Finds facts.',
  tools: [agentTool(library)],
  model: createScriptedModel({
    rules: [{ when: {}, tool_calls: [{ name: 'library', arguments: { request: 'How many bridges?' } }], times: 1 }],
    default: { reply: 'It has seven bridges.' },
  }),
});
const poet = createScriptedModel({ default: { reply: 'Seven bridges, and no way over each once.' } });
const writer = agent({ name: 'writer', description: 'Writes.', model: poet });
const lead = agent({
  name: 'lead',
  model: createScriptedModel({
    rules: [
      { when: {}, tool_calls: [{ name: 'transfer_to_finder' }], times: 1 },
      { when: {}, tool_calls: [{ name: 'transfer_to_writer' }], times: 1 },
    ],
    default: { reply: 'Here is your line: "Seven bridges, and no way over each once."' },
  }),
});

run(supervisor({ name: 'team', lead, agents: [finder, writer] }), { input: 'A line about Königsberg.' }).subscribe(
  (event) => {
    if (event.type === 'node-notice' && event.name === 'agent-ended') console.log(event.node, event.data);
    if (event.type === 'run-settled') console.log(event.value);
  },
);
