/** `#/inbox`: everything that waits for a person, with its question. */
import { useQuery } from '@tanstack/react-query';
import { ArrowRight } from 'lucide-react';
import { Link } from 'wouter';
import type { JsonObject } from '../../src/json.js';
import { EmptyNote, ErrorNote, LoadingNote } from '../parts/notes.js';
import { sinceText } from '../parts/since.js';
import { runAddress } from '../run/place.js';
import type { ListedRun } from '../runs/run-list.js';
import { useChoices, useClient } from '../shell/studio.js';
import { defineTexts, useTexts } from '../shell/texts.js';
import { questionsOf } from './inbox.js';
import style from './inbox.module.css';
import { useWaiting } from './use-waiting.js';

const texts = defineTexts({
  en: {
    title: 'Inbox',
    none: 'Nothing waits for you.',
    why: 'Forms and approvals that agents ask for appear here.',
    answer: 'Answer',
    asked: (time: string) => `asked ${time}`,
    fields: 'Asks for',
  },
  zh: {
    title: '待办',
    none: '没有等待您处理的内容。',
    why: '智能体请求的表单和审批会显示在这里。',
    answer: '回答',
    asked: (time: string) => `提问于 ${time}`,
    fields: '需要填写',
  },
});

export function InboxPage() {
  const words = useTexts(texts);
  const { data, error, refetch } = useWaiting();
  return (
    <div className={style.page}>
      <h1>{words.title}</h1>
      {error !== null && data === undefined && <ErrorNote error={error} onRetry={() => void refetch()} />}
      {error === null && data === undefined && <LoadingNote />}
      {data?.length === 0 && (
        <EmptyNote title={words.none}>
          <p>{words.why}</p>
        </EmptyNote>
      )}
      <ul className={style.list}>
        {data?.map((run) => (
          <WaitingRun key={run.id} run={run} />
        ))}
      </ul>
    </div>
  );
}

function WaitingRun({ run }: { readonly run: ListedRun }) {
  const words = useTexts(texts);
  const { language } = useChoices();
  const client = useClient();
  const { id, agent_id: agent, agent_title: title, started_at: startedAt, finished_at: askedAt } = run;
  const { data = [] } = useQuery({
    queryKey: ['questions', id],
    queryFn: ({ signal }) => questionsOf(client, run, signal),
    staleTime: Number.POSITIVE_INFINITY,
    retry: false,
  });
  return (
    <li className={style.item}>
      <div className={style.text}>
        <h2>{title || agent}</h2>
        <p className={style.soft}>{words.asked(sinceText(askedAt ?? startedAt, Date.now(), language))}</p>
        {data.map(({ component, question }) => (
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
  const words = useTexts(texts);
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
