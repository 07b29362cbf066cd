/** A question to the graph and what it found: entities, ways, reports, passages. */
import { useId } from 'react';
import { ErrorNote, LoadingNote } from '../parts/notes.js';
import { useChoices } from '../shell/studio.js';
import { useTexts } from '../shell/texts.js';
import { EntityName } from './entity-name.js';
import { FoundPassages, Ways } from './found-lists.js';
import style from './graph.module.css';
import { type GraphQuestion, isAsked } from './graph-address.js';
import { type GraphFound, useGraphSearch } from './graph-questions.js';
import { QuestionForm } from './question-form.js';
import { questionTexts } from './question-texts.js';

type Change = Readonly<Record<string, string | undefined>>;

interface QuestionPanelProps {
  readonly dataset: string;
  readonly asked: GraphQuestion;
  /** The way that is drawn: its number, or the id of a passage. */
  readonly way: string | undefined;
  readonly names: readonly string[];
  readonly onChange: (change: Change) => void;
}

export function QuestionPanel({ dataset, asked, way, names, onChange }: QuestionPanelProps) {
  const words = useTexts(questionTexts);
  const heading = useId();
  const { data, error, refetch, isFetching } = useGraphSearch(dataset, asked);
  const hasAsked = isAsked(asked);
  return (
    <section className={style.panel} aria-labelledby={heading}>
      <h2 id={heading}>{words.title}</h2>
      <QuestionForm
        key={JSON.stringify(asked)}
        asked={asked}
        names={names}
        isBusy={isFetching && hasAsked}
        onAsk={onChange}
      />
      {hasAsked && data === undefined && error === null && <LoadingNote />}
      {hasAsked && error !== null && <ErrorNote error={error} onRetry={() => void refetch()} />}
      {hasAsked && error === null && data !== undefined && (
        <Found asked={asked} found={data} way={way} onChange={onChange} />
      )}
    </section>
  );
}

interface FoundProps {
  readonly asked: GraphQuestion;
  readonly found: GraphFound;
  readonly way: string | undefined;
  readonly onChange: (change: Change) => void;
}

function Found({ asked, found, way, onChange }: FoundProps) {
  const words = useTexts(questionTexts);
  const { language } = useChoices();
  const { hits, entities, points, read, is_stale: isStale } = found;
  const onShow = (next: string | undefined): void => onChange({ way: next });
  return (
    <div className={style.results}>
      <p role="status" className={style.hint}>
        {hits.length === 0 ? words.none : words.found(hits.length)}{' '}
        {points.length > 0 && words.read(read.done.toLocaleString(language), read.of.toLocaleString(language))}
      </p>
      {isStale && <p className={style.hint}>{words.stale}</p>}
      {entities.length > 0 && (
        <ul className={style.steps} aria-label={words.names}>
          {entities.map(({ id, name, type }) => (
            <li key={id}>
              <EntityName name={name} type={type} onChoose={() => onChange({ node: id })} />
            </li>
          ))}
        </ul>
      )}
      {asked.kind === 'path' && <Ways ways={found.paths} way={way} onShow={onShow} />}
      {points.length > 0 && (
        <>
          <h3>{words.points}</h3>
          <ul className={style.items} aria-label={words.points}>
            {points.map(({ text, rating, reports }) => (
              <li key={JSON.stringify(reports)} className={style.card}>
                <div className={style.line}>
                  <strong className={style.text}>{reports.join(', ')}</strong>
                  <span className={style.hint}>{rating}</span>
                </div>
                <p className={style.text} dir="auto">
                  {text}
                </p>
              </li>
            ))}
          </ul>
        </>
      )}
      <FoundPassages hits={hits} way={way} onShow={onShow} />
    </div>
  );
}
