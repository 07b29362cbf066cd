/** A person decides: a model drafts, a form asks, a Switch sends the letter or lets another model change it. */
import assert from 'node:assert/strict';
import { answerOf, openExample } from '../support.js';

const accept = await openExample(import.meta.dirname);
assert.equal((await accept({ query: 'Bob' })).at(-1)?.data.tips, 'Send this? Dear Bob, all is well.');
assert.equal(answerOf(await accept({ inputs: { send: 'yes' } })), 'Sent: Dear Bob, all is well.');

const change = await openExample(import.meta.dirname);
await change({ query: 'Eve' });
const answer = answerOf(await change({ inputs: { send: 'no', note: 'warmer' } }));
assert.equal(answer, 'Changed: With pleasure: Dear Eve, all is well. (warmer)');
