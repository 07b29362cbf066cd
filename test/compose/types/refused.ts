/**
 * What must not compile. Under each mark stands a line that is refused, and the mark says with which words; `types.test.ts` takes the marks away and
 * compares line and message under several versions of the compiler.
 */
import { map as mapChunks } from 'rxjs';
import { branch } from '../../../src/compose/branch.js';
import { chain } from '../../../src/compose/chain.js';
import { graph } from '../../../src/compose/graph.js';
import { optional } from '../../../src/compose/handles.js';
import { loop } from '../../../src/compose/loop.js';
import { map } from '../../../src/compose/map.js';
import { parallel } from '../../../src/compose/parallel.js';
import { defineState } from '../../../src/compose/state.js';
import type { Step } from '../../../src/compose/step.js';
import { ask, pick, step } from '../../../src/compose/steps.js';
import { workflow } from '../../../src/compose/workflow.js';
import type { StandardSchema } from '../../../src/standard-schema.js';

declare const approval: StandardSchema<unknown, { ok: boolean }>;
declare const text: StandardSchema<unknown, string>;
declare const search: Step<{ query: string; top: number }, { items: string[]; count: number }>;
declare const shout: Step<string, string>;
declare const size: Step<string, number>;
const plusOne = mapChunks((n: number) => n + 1);
const each = map((n: number) => n);
const Count = defineState('count', () => ({ n: 0, names: [''] }));

// steps
// @ts-expect-error Type 'number' is not assignable to type 'string
chain(size, shout);
// @ts-expect-error Type 'number' is not assignable to type 'string
size.pipe(shout);
// @ts-expect-error Argument of type '"nothing"' is not assignable to parameter of type '
chain(search, pick('nothing'));
// @ts-expect-error Property 'toUpperCase' does not exist on type 'number'
chain(size, (n) => n.toUpperCase());
// @ts-expect-error Type 'number' is not assignable to type 'Observable<number>'
chain(size, plusOne);
// @ts-expect-error Type 'string' is not assignable to type 'number'
step<string, number>('short', (text) => text.length, { output: text });
// @ts-expect-error Property 'no' does not exist on type '{ ok: boolean; }'
ask(approval, 'Send it?').pipe((answer) => answer.no);
// @ts-expect-error Type 'number' is not assignable to type 'string
loop((text: string) => text.length, { until: () => true, maxRounds: 2 });
// @ts-expect-error Property 'maxRounds' is missing
loop((n: number) => n, { until: () => true });
// @ts-expect-error Type 'number' is not assignable to type 'readonly number[]'
chain(size, each);
// @ts-expect-error Property 'docs' does not exist on type '{ user: number; }'
parallel({ user: size }).pipe((all) => all.docs);
// @ts-expect-error Property 'other' is missing in type '{ many:
branch((n: number) => (n > 1 ? 'many' : 'other'), { many: (n: number) => n });
// @ts-expect-error Argument of type '"n"' is not assignable to parameter of type '"names"'
step('state', (n: number, at) => at.state(Count).append('n', n));

// graphs
graph<string, { docs: number; user: string; web?: number }>('g', (g) => {
  const text = g.node('text', shout);
  const number = g.node('number', size);
  const changed = g.node('changed', size, { before: (n: number) => String(n), after: (n) => [n] });
  // @ts-expect-error Type 'number' is not assignable to type 'string'
  g.edge(number, text);
  // @ts-expect-error Type 'string' is not assignable to type 'number'
  g.edge(text, changed);
  // @ts-expect-error Type 'number[]' is not assignable to type 'string'
  g.edge(changed, text);
  // @ts-expect-error Property ''~takes'' is missing in type 'Source<string>'
  g.edge(text, g.start);
  // @ts-expect-error Property ''~gives'' is missing in type 'Target<
  g.edge(g.end, text);
  // @ts-expect-error missing the following properties from type 'Target<string>': id, '~takes'
  g.edge(text, shout);
  // @ts-expect-error Type 'number' is not assignable to type 'string'
  g.join({ docs: number, user: number }, g.end);
  // @ts-expect-error Property 'user' is missing in type 'Joined<
  g.join({ docs: number }, g.end);
  // @ts-expect-error Property 'docs' is optional in type 'Joined<
  g.join({ docs: optional(number), user: text }, g.end);
  // @ts-expect-error Type 'NodeHandle<number, number[]>' is not assignable to type 'Target<string>'
  g.branch(text, { changed, text }, () => 'text');
  // @ts-expect-error Type '"other"' is not assignable to type 'Choice<
  g.branch(text, { number, text }, (value) => (value === '' ? 'number' : 'other'));
  // @ts-expect-error Property 'toFixed' does not exist on type 'string'
  g.branch(text, { number, text }, (value) => (value.toFixed() === '' ? 'number' : 'text'));
  // @ts-expect-error Type '"some"' is not assignable to type '"all" | "any"
  g.node('options', size, { trigger: 'some' });
  // @ts-expect-error Type 'string' is not assignable to type 'number
  g.node('time', size, { timeoutMs: 'soon' });
});
// @ts-expect-error 'waitFor' does not exist in type 'GraphOptions'
graph<string, string>('options', (g) => g.edge(g.start, g.end), { waitFor: 'all' });
// @ts-expect-error Type 'string' is not assignable to type 'number'
graph<string, number>('straight', (g) => g.edge(g.start, g.end));

// workflows
workflow<{ id: string; profile?: { name: string } }, { text: string; list: string[] }>('w', (input, w) => {
  const docs = w.node('docs', search, { query: input.id, top: 5 });
  // @ts-expect-error Type 'string' is not assignable to type 'number'
  w.node('a', search, { query: input.id, top: input.id });
  // @ts-expect-error Type 'string' is not assignable to type
  w.node('b', search, { query: input.id, top: 'five' });
  // @ts-expect-error Property 'top' is missing in type
  w.node('c', search, { query: input.id });
  // @ts-expect-error Object literal may only specify known properties, and 'more' does not exist
  w.node('d', search, { query: input.id, top: 5, more: 1 });
  // @ts-expect-error Type 'undefined' is not assignable to type 'string'
  w.node('e', search, { query: input.profile.name, top: 5 });
  // @ts-expect-error is not assignable to parameter of type 'Mapped<string>'
  w.node('f', shout, docs);
  // @ts-expect-error Property 'nothing' does not exist on type
  w.node('g', shout, docs.nothing);
  // @ts-expect-error Type 'number' is not assignable to type 'string'
  w.map(docs.count, (text: string) => text);
  // @ts-expect-error Type '"other"' is not assignable to type '"yes"
  w.branch('h', docs.count, () => 'other', { yes: () => docs });
  const armed = w.branch('j', docs.count, () => 'yes', { yes: () => docs.count });
  // @ts-expect-error 'BareRef<number>' is not assignable to type 'BareRef<string>'
  w.node('i', shout, armed);
  // @ts-expect-error Property 'list' is missing in type
  w.end({ text: input.id });
  // @ts-expect-error Type 'number' is not assignable to type 'string[]'
  w.end({ text: input.id, list: docs.count });
});
