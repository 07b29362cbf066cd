/** Documents: loaded, split, indexed, and found by several questions instead of one. */
import path from 'node:path';
import {
  chain,
  chatModel,
  componentStep,
  createScriptedModel,
  fileLoader,
  fString,
  invoke,
  memoryIndex,
  multiQuery,
  parallel,
  splitByHeadings,
  system,
  user,
} from 'runnel';

const load = fileLoader({ root: path.resolve('.') });
const index = memoryIndex({ topK: 2 });

const store = chain(componentStep(load), componentStep(splitByHeadings()), componentStep(index.index));
console.log(`${(await invoke(store, 'docs/installing.md')).length} passages`);
const find = multiQuery({
  retriever: index.retrieve,
  rewrite: (question) => [question, question.replace('start', 'install')],
});
const model = createScriptedModel({ rules: [{ when: { system: 'npm' }, reply: 'With npm install, then npm start.' }] });

const answer = chain(
  parallel({
    question: (question: string) => question,
    context: chain(componentStep(find), (found) => found.map(({ text }) => text).join('\n')),
  }),
  fString(system('Answer from this:\n{context}'), user('{question}')),
  chatModel(model),
  ({ content }) => content,
);
console.log(await invoke(answer, 'How do I start it?'));
