/** Nodes that read fields of each other: what each needs says when it runs. */
import { draw, invoke, workflow } from 'runnel';

const loadUser = async ({ id }: { id: string }) => ({ id, profile: { name: 'Ada', language: 'en' } });
const search = async ({ query, top }: { query: string; top: number }) => {
  const items = ['streams.md', 'graphs.md', 'tools.md'].filter((name) => name.includes(query)).slice(0, top);
  return { items, count: items.length };
};
const searchWeb = async (query: string) => [`https://example.org/${query}`];
const write = ({ name, docs, tone }: { name: string; docs: readonly string[]; tone: string }) =>
  `${tone} ${name}, see ${docs.join(', ')}.`;

const report = workflow<{ userId: string; question: string }, { text: string; sources: string[] }>(
  'report',
  (input, w) => {
    const user = w.node('user', loadUser, { id: input.userId });
    const docs = w.node('docs', search, { query: input.question, top: 5 });
    const best = w.branch('enough', docs.count, (count) => (count > 0 ? 'yes' : 'no'), {
      yes: () => w.node('keep', (items: string[]) => items, docs.items),
      no: () => w.node('again', searchWeb, input.question),
    });
    const tone = w.map(user, ({ profile }) => (profile.language === 'en' ? 'Dear' : 'Hei'));
    const text = w.node('write', write, { name: user.profile.name, docs: best, tone });
    w.end({ text, sources: best });
  },
);

console.log(await invoke(report, { userId: 'u1', question: 'graph' }));
console.log(await invoke(report, { userId: 'u1', question: 'oslo' }));
console.log(draw(report));
