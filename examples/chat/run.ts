/** A chat that streams: the Message passes on what the model writes while it writes it, reasoning first. */
import assert from 'node:assert/strict';
import { answerOf, openExample } from '../support.js';

const say = await openExample(import.meta.dirname);
const events = await say({ query: 'why is the sky blue?' });
const pieces = events.filter(({ event }) => event === 'message');
assert.ok(pieces.length > 5, `the answer came in ${pieces.length} pieces`);
assert.match(answerOf(events), /^You asked: “why is the sky blue\?” – and this answer comes piece by piece\.$/);
