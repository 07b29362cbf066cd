/** An Iteration: the body runs once for each word, and the results come back as a list. */
import assert from 'node:assert/strict';
import { answerOf, openExample } from '../support.js';

const say = await openExample(import.meta.dirname);
assert.equal(answerOf(await say({ query: 'one,two,three' })), 'In Spanish: ["uno", "dos", "tres"]');
