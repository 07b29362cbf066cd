/** The researches of the tenant, the newest first. */
import { Link } from 'wouter';
import { formatMs } from '../../../src/canvas/timeline-rows.js';
import { ErrorNote, LoadingNote } from '../../parts/notes.js';
import { PageTurner } from '../../parts/page-turner.js';
import { sinceText } from '../../parts/since.js';
import { useChoices } from '../../shell/studio.js';
import { useTexts } from '../../shell/texts.js';
import { StatusTag } from '../../trace/status-tag.js';
import style from '../research.module.css';
import { PAGE_SIZE, type ResearchItem, researchAddress, useResearchList } from '../research-server.js';
import { startTexts } from './start-texts.js';

export interface ResearchListProps {
  /** From 1. */
  readonly page: number;
  readonly onTurn: (page: number) => void;
}

export function ResearchList({ page, onTurn }: ResearchListProps) {
  const words = useTexts(startTexts);
  const { data, error, refetch } = useResearchList(page);
  const pages = Math.max(page, Math.ceil((data?.total ?? 0) / PAGE_SIZE));
  return (
    <section className={style.list} aria-label={words.list}>
      <h2>{words.list}</h2>
      {error !== null && data === undefined && <ErrorNote error={error} onRetry={() => void refetch()} />}
      {error === null && data === undefined && <LoadingNote />}
      {data?.items.length === 0 && <p className={style.soft}>{words.none}</p>}
      {data !== undefined && data.items.length > 0 && (
        <table>
          <thead>
            <tr>
              <th scope="col">{words.question}</th>
              <th scope="col">{words.status}</th>
              <th scope="col">{words.began}</th>
              <th scope="col">{words.length}</th>
              <th scope="col">{words.spent}</th>
            </tr>
          </thead>
          <tbody>
            {data.items.map((one) => (
              <ResearchLine key={one.id} research={one} />
            ))}
          </tbody>
        </table>
      )}
      {pages > 1 && <PageTurner page={page} pages={pages} onTurn={onTurn} />}
    </section>
  );
}

function ResearchLine({ research }: { readonly research: ResearchItem }) {
  const words = useTexts(startTexts);
  const { language } = useChoices();
  const { id, question, status, started_at: startedAt, elapsed_time: seconds, usage } = research;
  return (
    <tr>
      <th scope="row">
        <Link href={researchAddress(id)}>{question || words.untitled}</Link>
      </th>
      <td>
        <StatusTag status={status} />
      </td>
      <td title={new Date(startedAt).toLocaleString(language)}>{sinceText(startedAt, Date.now(), language)}</td>
      <td>{seconds === null ? '' : formatMs(seconds * 1_000)}</td>
      <td>{usage.calls > 0 ? words.tokens(usage.total_tokens.toLocaleString(language), usage.calls) : ''}</td>
    </tr>
  );
}
