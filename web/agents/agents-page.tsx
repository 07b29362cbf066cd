/** All agents: what there is to open and run. */
import { useQuery } from '@tanstack/react-query';
import { Link } from 'wouter';
import { EmptyNote, ErrorNote, LoadingNote } from '../parts/notes.js';
import { useClient } from '../shell/studio.js';
import { defineTexts, useTexts } from '../shell/texts.js';
import style from './agents-page.module.css';

const texts = defineTexts({
  en: { title: 'Agents', none: 'There is no agent yet.', published: 'published', draft: 'draft' },
  zh: { title: '智能体', none: '还没有智能体。', published: '已发布', draft: '草稿' },
});

/** An agent as lists give it. */
interface AgentItem {
  readonly id: string;
  readonly title: string;
  readonly description: string | null;
  readonly release: boolean;
}

export function AgentsPage() {
  const words = useTexts(texts);
  const client = useClient();
  const { data, error, refetch } = useQuery({
    queryKey: ['agents'],
    queryFn: ({ signal }) =>
      client.call<{ canvas: readonly AgentItem[] }>('/agents', { query: { page_size: 100 }, signal }),
  });
  if (error !== null) return <ErrorNote error={error} onRetry={() => void refetch()} />;
  if (data === undefined) return <LoadingNote />;
  return (
    <div className={style.page}>
      <h1>{words.title}</h1>
      {data.canvas.length === 0 && <EmptyNote title={words.none} />}
      <ul className={style.cards}>
        {data.canvas.map((agent) => (
          <AgentCard key={agent.id} agent={agent} />
        ))}
      </ul>
    </div>
  );
}

function AgentCard({ agent: { id, title, description, release } }: { readonly agent: AgentItem }) {
  const words = useTexts(texts);
  return (
    <li className={style.card}>
      <Link href={`/agents/${encodeURIComponent(id)}`}>{title}</Link>
      {description !== null && <p>{description}</p>}
      <span>{release ? words.published : words.draft}</span>
    </li>
  );
}
