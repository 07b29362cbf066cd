/** Agents as cards: the user's own, and the examples that show the way. */
import { type ReactNode, useId } from 'react';
import { Button } from '../parts/button.js';
import { EmptyNote, ErrorNote, LoadingNote } from '../parts/notes.js';
import { useObservable } from '../parts/use-observable.js';
import { defineTexts, useTexts } from '../shell/texts.js';
import { AgentCard } from './agent-card.js';
import { type AgentItem, type AgentSearch, useAgents } from './agent-data.js';
import style from './agent-list.module.css';
import type { Deletions } from './deletions.js';

const texts = defineTexts({
  en: {
    none: 'There is no agent yet.',
    noneHint: 'Make one with "New agent", or drop a canvas file here.',
    noneFound: 'No agent fits this search.',
    own: 'Your agents',
    examples: 'Examples',
    examplesHint: 'They run at once, with a model that needs no key. Press Run, then ask something.',
    more: 'Show more',
  },
  zh: {
    none: '还没有智能体。',
    noneHint: '点击“新建智能体”创建，或将画布文件拖到此处。',
    noneFound: '没有符合此搜索的智能体。',
    own: '我的智能体',
    examples: '示例',
    examplesHint: '它们使用无需密钥的模型，可立即运行。点击“运行”，然后提问。',
    more: '显示更多',
  },
});

/** Ids of the agents that a server with examples makes. */
const EXAMPLE = /^example-/;

interface AgentListProps {
  readonly search: AgentSearch;
  readonly deletions: Deletions;
}

export function AgentList({ search, deletions }: AgentListProps) {
  const words = useTexts(texts);
  const { data, error, refetch, hasNextPage, fetchNextPage, isFetchingNextPage } = useAgents(search);
  const pending = useObservable(deletions.pending$, deletions.pending);
  if (error !== null) return <ErrorNote error={error} onRetry={() => void refetch()} />;
  if (data === undefined) return <LoadingNote />;
  const gone = new Set(pending.map(({ id }) => id));
  const agents = data.pages.flatMap(({ canvas }) => canvas).filter(({ id }) => !gone.has(id));
  const examples = agents.filter(({ id }) => EXAMPLE.test(id));
  const own = agents.filter(({ id }) => !EXAMPLE.test(id));
  const isSearched = search.words !== '' || search.tag !== undefined;
  const onDelete = (agent: AgentItem) => deletions.add(agent);
  return (
    <>
      {agents.length === 0 && (
        <EmptyNote title={isSearched ? words.noneFound : words.none}>
          {!isSearched && <p>{words.noneHint}</p>}
        </EmptyNote>
      )}
      {own.length > 0 && (
        <Section title={words.own}>
          {own.map((agent) => (
            <AgentCard key={agent.id} agent={agent} onDelete={onDelete} />
          ))}
        </Section>
      )}
      {examples.length > 0 && (
        <Section title={words.examples} hint={words.examplesHint}>
          {examples.map((agent) => (
            <AgentCard key={agent.id} agent={agent} onDelete={onDelete} />
          ))}
        </Section>
      )}
      {hasNextPage && (
        <Button className={style.more} disabled={isFetchingNextPage} onClick={() => void fetchNextPage()}>
          {words.more}
        </Button>
      )}
    </>
  );
}

function Section({
  title,
  hint,
  children,
}: {
  readonly title: string;
  readonly hint?: string;
  readonly children: ReactNode;
}) {
  const heading = useId();
  return (
    <section aria-labelledby={heading} className={style.section}>
      <h2 id={heading}>{title}</h2>
      {hint !== undefined && <p className={style.hint}>{hint}</p>}
      <ul className={style.cards}>{children}</ul>
    </section>
  );
}
