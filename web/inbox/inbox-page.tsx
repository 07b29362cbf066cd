/** `#/inbox`: everything that waits for a person, with its question. */
import { ArrowRight } from 'lucide-react';
import { Link } from 'wouter';
import type { JsonObject } from '../../src/json.js';
import { useQueryValues } from '../parts/location.js';
import { EmptyNote, ErrorNote, LoadingNote } from '../parts/notes.js';
import { sinceText } from '../parts/since.js';
import { runAddress } from '../run/place.js';
import { useChoices } from '../shell/studio.js';
import { useTexts } from '../shell/texts.js';
import { askedAt, isNarrowed, readFilter } from './inbox.js';
import style from './inbox.module.css';
import { InboxFilters } from './inbox-filters.js';
import { inboxTexts } from './inbox-texts.js';
import { type AskingRun, ofKind, useQuestions, useWaiting } from './use-waiting.js';

export function InboxPage() {
  const words = useTexts(inboxTexts);
  const [query, change] = useQueryValues();
  const filter = readFilter(query);
  const { data, error, refetch } = useWaiting(filter);
  const asking = useQuestions(data?.runs ?? []);
  const found = ofKind(asking, filter.kind);
  const isLoading = data === undefined || (filter.kind !== undefined && asking.some(({ isPending }) => isPending));
  return (
    <div className={style.page}>
      <h1>{words.title}</h1>
      <InboxFilters filter={filter} onChange={change} />
      {error !== null && data === undefined && <ErrorNote error={error} onRetry={() => void refetch()} />}
      {error === null && isLoading && <LoadingNote />}
      {!isLoading && found.length === 0 && isNarrowed(filter) && <EmptyNote title={words.noneFound} />}
      {!isLoading && found.length === 0 && !isNarrowed(filter) && (
        <EmptyNote title={words.none}>
          <p>{words.why}</p>
        </EmptyNote>
      )}
      <ul className={style.list}>
        {found.map((one) => (
          <WaitingRun key={one.run.id} asking={one} />
        ))}
      </ul>
      {data?.isCut === true && <p className={style.soft}>{words.cut}</p>}
    </div>
  );
}

function WaitingRun({ asking: { run, questions = [] } }: { readonly asking: AskingRun }) {
  const words = useTexts(inboxTexts);
  const { language } = useChoices();
  const { id, agent_id: agent, agent_title: title, user_id: user } = run;
  return (
    <li className={style.item}>
      <div className={style.text}>
        <h2>{title || agent}</h2>
        <p className={style.soft}>
          {words.asked(sinceText(askedAt(run), Date.now(), language))}
          {user !== null && user !== '' && ` · ${user}`}
        </p>
        {questions.map(({ component, question }) => (
          <Question key={component} question={question} />
        ))}
      </div>
      <Link href={runAddress(agent, id)} className={style.open}>
        {words.answer}
        <span className="unseen"> {title || agent}</span>
        <ArrowRight size={16} aria-hidden="true" />
      </Link>
    </li>
  );
}

/** Forms have tips and fields; other questions are shown by their texts. */
function Question({ question }: { readonly question: JsonObject }) {
  const words = useTexts(inboxTexts);
  const { tips, inputs } = question;
  const fields = typeof inputs === 'object' && inputs !== null && !Array.isArray(inputs) ? Object.entries(inputs) : [];
  const names = fields.map(([key, field]) => {
    const name = typeof field === 'object' && field !== null && 'name' in field ? field.name : undefined;
    return typeof name === 'string' && name !== '' ? name : key;
  });
  return (
    <>
      {typeof tips === 'string' && tips !== '' && <p className={style.tips}>{tips}</p>}
      {names.length > 0 && (
        <p className={style.soft}>
          {words.fields}: {names.join(', ')}
        </p>
      )}
      {typeof tips !== 'string' && names.length === 0 && <code>{JSON.stringify(question).slice(0, 300)}</code>}
    </>
  );
}
