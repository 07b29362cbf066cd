/** What people changed of a research, in the order in which it was followed. */
import type { Steer } from '../../src/research/steer.js';
import { useTexts } from '../shell/texts.js';
import { changeTexts } from './change-texts.js';
import style from './research.module.css';
import type { ResearchShown } from './research-picture.js';

export function ChangeList({ shown }: { readonly shown: ResearchShown }) {
  const words = useTexts(changeTexts);
  const { steers } = shown;
  if (steers.length === 0) return null;
  return (
    <section className={style.part} aria-label={words.title}>
      <h2>{words.title}</h2>
      <ol className={style.plain}>
        {steers.map((steer, at) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: an entry keeps its place until the list is full
          <li key={at}>{textOf(steer, shown, words)}</li>
        ))}
      </ol>
    </section>
  );
}

function textOf(steer: Steer, { picture, dropped }: ResearchShown, words: (typeof changeTexts)['en']): string {
  const tasks = [...(picture.planned?.plan.tasks ?? []), ...dropped];
  const nameOf = (id: string): string =>
    picture.questions.find((one) => one.id === id)?.text ??
    tasks.find(({ task_id }) => task_id === id)?.description ??
    id;
  switch (steer.action) {
    case 'add':
      return words.add(steer.question);
    case 'drop':
      return words.drop(nameOf(steer.question));
    case 'answer':
      return words.answer(nameOf(steer.question), steer.answer);
    case 'order':
      return words.order(steer.questions.map(nameOf).join(', '));
    case 'exclude': {
      const { source } = steer;
      const known = picture.evidence.find((one) => one.document_id === source || one.url === source);
      return words.exclude(known?.source ?? source);
    }
    case 'clarify':
      return words.clarify(Object.values(steer.answers).join(' · '));
    default:
      return words[steer.action];
  }
}
