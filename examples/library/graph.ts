/** A model and its tools in a loop, with the conversation as the state of the graph. */
import * as runnel from 'runnel';
import { z } from 'zod';

const { chatModel, defineState, defineTool, graph, hasToolCall, invoke, toolsNode, userMessage } = runnel;
type Messages = runnel.ChatMessage[];

const Conversation = defineState('conversation', () => ({ messages: [] as Messages }));

const weather = defineTool({
  name: 'weather',
  description: 'Tells the weather in a city.',
  input: z.object({ city: z.string() }),
  run: ({ city }) => `Rain in ${city}, 8 degrees.`,
});

const model = runnel.createScriptedModel({
  rules: [
    { when: { user: 'jacket' }, tool_calls: [{ name: 'weather', arguments: { city: 'Oslo' } }] },
    { when: { user: 'Rain' }, reply: 'Take the jacket: it rains.' },
  ],
});

const react = graph<Messages, runnel.AssistantMessage>(
  'react',
  (g) => {
    const ask = g.node('model', chatModel(model, { tools: [weather] }), {
      before: (input: Messages, at) => at.state(Conversation).append('messages', ...input).messages,
    });
    const act = g.node('tools', toolsNode({ tools: [weather] }), {
      before: (answer, at) => at.state(Conversation).append('messages', answer) && answer,
    });
    g.edge(g.start, ask);
    g.streamBranch(ask, { tools: act, end: g.end }, hasToolCall());
    g.edge(act, ask);
  },
  { state: Conversation, maxSteps: 40 },
);
console.log((await invoke(react, [userMessage('Do I need a jacket in Oslo?')])).content);
