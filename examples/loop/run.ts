/** A Loop: one model writes, another one reviews, until the review says OK. */
import assert from 'node:assert/strict';
import { answerOf, openExample } from '../support.js';

const say = await openExample(import.meta.dirname);
const events = await say({ query: 'marbles' });
assert.equal(answerOf(events), 'After 3 rounds: A longer draft, with an example.');
const drafts = events.filter(({ event, data }) => event === 'node_finished' && data.component_name === 'Write');
assert.equal(drafts.length, 3);
