/** The smallest canvas: a template says hello. Everything that a run needs is on this page. */
import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { loadCanvas, runTurn } from 'runnel';

const canvas = loadCanvas(await readFile(path.join(import.meta.dirname, 'canvas.json'), 'utf8'));
let answer = '';
await runTurn(canvas, { query: 'hi' }).forEach((event) => {
  if (event.type === 'node-delta') answer += event.text;
});
console.log(answer);
assert.equal(answer, 'Hello! You said "hi", and this is turn 1.');
