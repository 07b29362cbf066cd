/** A Switch sends the run one way; the other branches never start. */
import assert from 'node:assert/strict';
import { answerOf, openExample } from '../support.js';

const say = await openExample(import.meta.dirname);
assert.equal(answerOf(await say({ query: 'I want a refund' })), 'Refunds take five days.');
assert.equal(answerOf(await say({ query: 'where is my order?' })), 'Orders leave the house on the same day.');
const events = await say({ query: 'hello' });
const started = events.filter(({ event }) => event === 'node_started').map(({ data }) => data.component_name);
assert.deepEqual(started, ['Begin', 'Topic', 'Other']);
