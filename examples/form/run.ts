/** A form: the run stops and waits; the answers of the next turn resume it where it stopped. */
import assert from 'node:assert/strict';
import { answerOf, openExample } from '../support.js';

const say = await openExample(import.meta.dirname);
const question = (await say({ query: 'I need a holiday' })).at(-1);
assert.equal(question?.event, 'user_inputs');
assert.equal(question.data.tips, 'Where do you want to go, and for how long?');
assert.equal(answerOf(await say({ inputs: { city: 'Oslo', nights: 3 } })), 'Booked: 3 nights in Oslo.');
