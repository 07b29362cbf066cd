/** No canvas at all: a graph of functions and RxJS operators, run by the same engine. */
import assert from 'node:assert/strict';
import { delta, execute, fromOperator, planOf, run, settled } from 'runnel';
import { concatMap, from, map, type Observable } from 'rxjs';

const plan = planOf({
  words: () => ({ list: ['streams', 'all', 'the', 'way'] }),
  // A node is an operator: its activation goes in, events come out; unsubscribing stops it at once.
  speak: {
    activate: fromOperator(
      concatMap((at) => {
        const found = at.lookup('words@list');
        const words = found.status === 'found' && Array.isArray(found.value) ? found.value : [];
        return from([...words.map((word) => delta('text', `${word} `)), settled({ count: words.length })]);
      }),
    ),
    speaks: true,
  },
});

const texts$: Observable<string> = run(plan, { input: {} }).pipe(
  map((event) => (event.type === 'node-delta' ? event.text : '')),
);
let text = '';
await texts$.forEach((piece) => {
  text += piece;
});
console.log(text);
assert.equal(text, 'streams all the way ');
assert.deepEqual((await execute(plan, { input: {} })).outputs, { count: 4 });
