/** An Agent that asks another agent and runs a script, both at once, before it answers. */
import assert from 'node:assert/strict';
import { answerOf, openExample } from '../support.js';

const say = await openExample(import.meta.dirname);
const events = await say({ query: 'How old is the Golden Gate Bridge?' });
assert.equal(answerOf(events), 'It was opened in 1937, so it is 89 years old.');

// The end of the node lists the tools that it called.
const end = events.find(({ event, data }) => event === 'node_finished' && data.component_type === 'Agent');
const calls = end?.data.tool_calls as readonly { readonly tool_name: string }[];
assert.deepEqual(calls.map((call) => call.tool_name).sort(), ['Historian', 'execute_code']);
