/** A model sorts the question (Categorize), and the desk it belongs to answers. */
import assert from 'node:assert/strict';
import { answerOf, openExample } from '../support.js';

const say = await openExample(import.meta.dirname);
assert.equal(answerOf(await say({ query: 'Why was I charged twice?' })), 'Billing: We look into your invoice.');
assert.equal(answerOf(await say({ query: 'The app shows nothing.' })), 'Support: Please restart the app.');
