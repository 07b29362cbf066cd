/** Two models work side by side; the Message waits for both, and only for those that really run. */
import assert from 'node:assert/strict';
import { answerOf, openExample } from '../support.js';

const say = await openExample(import.meta.dirname);
const events = await say({ query: 'RxJS' });
assert.equal(answerOf(events), 'For: It is quick.\nAgainst: It is new.');
const order = events.map(({ event, data }) => `${event} ${data.component_name}`);
assert.ok(order.indexOf('node_started Against') < order.indexOf('node_finished For'), 'both work at the same time');
