/** `#/research`: what is asked and was asked; `#/research/{run}`: one research as it works, and its report. */
import { useParams } from 'wouter';
import { useQueryValues } from '../parts/location.js';
import { useTexts } from '../shell/texts.js';
import style from './research.module.css';
import { ResearchScreen } from './research-screen.js';
import { ResearchList } from './start/research-list.js';
import { StartForm } from './start/start-form.js';
import { startTexts } from './start/start-texts.js';

export function ResearchPage() {
  const { run } = useParams<{ run?: string }>();
  return run === undefined ? <StartPage /> : <ResearchScreen key={run} run={run} />;
}

function StartPage() {
  const words = useTexts(startTexts);
  const [query, change] = useQueryValues();
  const page = Number(query.get('page'));
  // A form that an address fills is a new one; turning the list is none.
  const filled = new URLSearchParams(query);
  filled.delete('page');
  return (
    <div className={style.page}>
      <h1>{words.title}</h1>
      <StartForm key={filled.toString()} query={filled} />
      <ResearchList
        page={Number.isSafeInteger(page) && page > 0 ? page : 1}
        onTurn={(to) => change({ page: to === 1 ? undefined : to })}
      />
    </div>
  );
}
