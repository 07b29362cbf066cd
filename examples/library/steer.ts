/** A word that reaches an agent while it works, and a stop at a safe point from which it goes on. */
import { createScriptedModel, defineTool } from 'runnel';
import { agent, type CancelRequest, createRunner, type UserInput } from 'runnel/agents';
import { lastValueFrom, Subject, tap } from 'rxjs';

const input$ = new Subject<UserInput>();
const cancel$ = new Subject<CancelRequest>();
let resolve = (_: string): void => {};
const text = new Promise<string>((done) => (resolve = done));
const read = defineTool({
  name: 'read',
  description: 'Reads the book.',
  run: () => {
    input$.next({ id: 'i1', content: 'In one line, please.' });
    return text;
  },
});
const model = createScriptedModel({
  rules: [
    { when: { user: 'Summarise' }, tool_calls: [{ name: 'read' }], times: 1 },
    { when: { user: 'one line' }, reply: 'It is about bridges.' },
  ],
});
const runner = createRunner({ agent: agent({ name: 'reader', model, tools: [read] }) });
const told = tap((event: { readonly type: string }) => {
  if (!event.type.startsWith('input') && event.type !== 'turn-ended') return;
  console.log(event);
  if (event.type === 'input-accepted') cancel$.next({ mode: 'after-tools' });
  if (event.type === 'input-accepted') resolve('It has many bridges.');
});

await lastValueFrom(runner.run('Summarise the book.', { session: 's1', input$, cancel$ }).pipe(told));
await lastValueFrom(runner.resume('s1').pipe(told));
