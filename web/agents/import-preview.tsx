/** What a file would become: what it is made of, what this server does not know, and what is wrong with it. */
import { useQuery } from '@tanstack/react-query';
import { useEffect, useId, useMemo, useState } from 'react';
import { kindOf } from '../canvas/kinds.js';
import { Thumbnail } from '../canvas/thumbnail.js';
import { ErrorNote, LoadingNote } from '../parts/notes.js';
import { useChoices, useClient } from '../shell/studio.js';
import { useTexts } from '../shell/texts.js';
import type { NewAgent } from './agent-data.js';
import {
  documentIn,
  type ImportFile,
  isImportable,
  type Preview,
  previewOf,
  textsIn,
  titleFor,
  valueIn,
} from './import-file.js';
import style from './import-preview.module.css';
import { previewTexts } from './import-preview-texts.js';

/** Problems that are listed; the others are counted. */
const MAX_ISSUES = 20;

interface ImportPreviewProps {
  readonly file: ImportFile;
  /** Called with what would be made of the file, as often as that changes; undefined when nothing can. */
  readonly onAgent: (agent: NewAgent | undefined) => void;
}

export function ImportPreview({ file, onAgent }: ImportPreviewProps) {
  const words = useTexts(previewTexts);
  const client = useClient();
  const { language } = useChoices();
  const field = useId();
  const value = useMemo(() => valueIn(file), [file]);
  const document = documentIn(value);
  const [title, setTitle] = useState(() => titleFor(file, value, language, words.untitled));
  const { data, error } = useQuery({
    queryKey: ['preview', file.id],
    queryFn: ({ signal }) => previewOf(client, file, signal),
    staleTime: Number.POSITIVE_INFINITY,
  });
  const isReady = isImportable(data, document) && title.trim() !== '';
  // biome-ignore lint/correctness/useExhaustiveDependencies: only what the agent is made of makes another agent
  useEffect(() => {
    const { description } = textsIn(value, language);
    onAgent(isReady ? { title: title.trim(), dsl: document, ...(description !== '' && { description }) } : undefined);
  }, [isReady, title, document]);
  return (
    <section className={style.preview} aria-label={file.name || words.pasted}>
      <h3>{file.name || words.pasted}</h3>
      {error !== null && <ErrorNote error={error} />}
      {error === null && data === undefined && <LoadingNote />}
      {data !== undefined && (
        <>
          {data.version !== null && (
            <>
              <div className={style.picture}>
                <Thumbnail document={document} />
              </div>
              <label htmlFor={field}>{words.title}</label>
              <input id={field} value={title} maxLength={255} onChange={({ target }) => setTitle(target.value)} />
            </>
          )}
          <PreviewFacts preview={data} />
        </>
      )}
    </section>
  );
}

function PreviewFacts({ preview }: { readonly preview: Preview }) {
  const words = useTexts(previewTexts);
  const { version, kind, components, types, unknown_types: unknown, losses, issues } = preview;
  const sorted = issues.toSorted(
    (one, other) => Number(one.severity === 'warning') - Number(other.severity === 'warning'),
  );
  return (
    <>
      <p className={version === null ? style.refused : undefined}>
        {version === null ? words.unreadable : words.about(version, kind, components)}
      </p>
      {unknown.length > 0 && <p className={style.unknown}>{words.unknown(unknown.join(', '))}</p>}
      <ul className={style.types}>
        {Object.entries(types).map(([type, count]) => (
          <TypeChip key={type} type={type} count={count} isKnown={!unknown.includes(type)} />
        ))}
      </ul>
      {issues.length > 0 && (
        <details open={version === null || issues.length <= 3}>
          <summary>{words.issues(issues.length)}</summary>
          <ul className={style.issues}>
            {sorted.slice(0, MAX_ISSUES).map(({ severity, path, message }, number) => (
              // biome-ignore lint/suspicious/noArrayIndexKey: the list never changes
              <li key={number}>
                <b className={style[severity]}>{words[severity]}</b> <code>{path}</code> {message}
              </li>
            ))}
          </ul>
          {issues.length > MAX_ISSUES && <p>{words.more(issues.length - MAX_ISSUES)}</p>}
        </details>
      )}
      {losses.length > 0 && (
        <details>
          <summary>{words.losses(losses.length)}</summary>
          <ul className={style.issues}>
            {losses.map(({ part, message }) => (
              <li key={part}>
                <code>{part}</code> {message}
              </li>
            ))}
          </ul>
        </details>
      )}
    </>
  );
}

function TypeChip({
  type,
  count,
  isKnown,
}: {
  readonly type: string;
  readonly count: number;
  readonly isKnown: boolean;
}) {
  const { icon: Icon, group } = kindOf(type, isKnown);
  return (
    <li className={style[group]}>
      <Icon size={14} aria-hidden="true" />
      {type}
      {count > 1 && <small>× {count}</small>}
    </li>
  );
}
