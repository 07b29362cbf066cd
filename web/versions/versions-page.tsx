/** `#/agents/{id}/versions?version=&with=`: what was published, what differs, and ways back. */
import { ArrowLeft } from 'lucide-react';
import { Link, useParams } from 'wouter';
import { useQueryValues } from '../parts/location.js';
import { EmptyNote, ErrorNote, LoadingNote } from '../parts/notes.js';
import type { AgentDetail } from '../run/agent-detail.js';
import { agentAddress } from '../run/place.js';
import { useTexts } from '../shell/texts.js';
import { Differences } from './differences.js';
import { VersionActions } from './version-actions.js';
import { DRAFT, useStoredDraft, useVersionDsl, useVersions, type VersionItem } from './version-data.js';
import { VersionList } from './version-list.js';
import style from './versions.module.css';
import { versionsTexts } from './versions-texts.js';

export function VersionsPage() {
  const words = useTexts(versionsTexts);
  const { agent = '' } = useParams<{ agent: string }>();
  const draft = useStoredDraft(agent);
  const versions = useVersions(agent);
  const error = draft.error ?? versions.error;
  const again = () => {
    void draft.refetch();
    void versions.refetch();
  };
  if (error !== null) return <ErrorNote error={error} onRetry={again} />;
  if (draft.data === undefined || versions.data === undefined) return <LoadingNote />;
  return (
    <div className={style.page}>
      <header className={style.head}>
        <Link href={agentAddress(agent)} className={style.back}>
          <ArrowLeft size={16} aria-hidden="true" /> {words.back}
        </Link>
        <h1>{words.title(draft.data.title)}</h1>
      </header>
      {versions.data.length === 0 ? (
        <div>
          <EmptyNote title={words.none}>
            <p>{words.noneAbout}</p>
          </EmptyNote>
        </div>
      ) : (
        <Versions draft={draft.data} versions={versions.data} />
      )}
    </div>
  );
}

interface VersionsProps {
  readonly draft: AgentDetail;
  /** Newest first; not empty. */
  readonly versions: readonly VersionItem[];
}

/** The one that is chosen, compared with the draft, or another one. */
function Versions({ draft, versions }: VersionsProps) {
  const words = useTexts(versionsTexts);
  const [query, change] = useQueryValues();
  const wanted = query.get('version');
  const chosen = versions.find(({ id }) => id === wanted) ?? (versions[0] as VersionItem);
  const other = query.get('with') ?? DRAFT;
  const one = useVersionDsl(draft.id, chosen.id, draft.dsl);
  const two = useVersionDsl(draft.id, other, draft.dsl);
  const error = one.error ?? two.error;
  const titleOf = (id: string) => versions.find((version) => version.id === id)?.title ?? words.draft;
  return (
    <div className={style.columns}>
      <VersionList versions={versions} chosen={chosen.id} onChoose={(id) => change({ version: id })} />
      <section className={style.details} aria-label={chosen.title}>
        <div className={style.title}>
          <h2>{chosen.title}</h2>
          {one.dsl !== undefined && <VersionActions draft={draft} version={chosen} dsl={one.dsl} />}
        </div>
        {chosen.description !== null && chosen.description !== '' && <p>{chosen.description}</p>}
        <label className={style.with}>
          {words.compareWith}
          <select
            value={other}
            onChange={(event) => change({ with: event.target.value === DRAFT ? undefined : event.target.value })}
          >
            <option value={DRAFT}>{words.draft}</option>
            {versions
              .filter(({ id }) => id !== chosen.id)
              .map(({ id, title }) => (
                <option key={id} value={id}>
                  {title}
                </option>
              ))}
          </select>
        </label>
        {error !== null && <ErrorNote error={error} />}
        {one.dsl !== undefined && two.dsl !== undefined && (
          <Differences label={words.changes(chosen.title, titleOf(other))} before={one.dsl} after={two.dsl} />
        )}
      </section>
    </div>
  );
}
