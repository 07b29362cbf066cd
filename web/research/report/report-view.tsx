/** The report while it is written and afterwards: a citation opens what it cites. */
import { useCallback, useMemo } from 'react';
import { CitationMark } from '../../chat/citation.js';
import { Markdown } from '../../parts/markdown.js';
import { useTexts } from '../../shell/texts.js';
import style from '../research.module.css';
import { isOver, type ResearchShown } from '../research-picture.js';
import { screenTexts } from '../screen-texts.js';
import { citedSource, sourcesOf } from './cited.js';

export function ReportView({ shown }: { readonly shown: ResearchShown }) {
  const words = useTexts(screenTexts);
  const { final, picture, steers, outline, report } = shown;
  const sources = useMemo(() => sourcesOf({ final, picture, steers }), [final, picture, steers]);
  const citation = useCallback(
    (n: string, key: string) => {
      const evidence = sources.get(n);
      return evidence === undefined ? undefined : <CitationMark key={key} n={n} evidence={citedSource(evidence)} />;
    },
    [sources],
  );
  return (
    <section className={style.part} aria-label={words.report} aria-busy={!isOver(shown)}>
      <h2>{words.report}</h2>
      {report === '' && !isOver(shown) && <p className={style.soft}>{words.reportLater}</p>}
      {outline.length > 1 && report === '' && (
        <ol aria-label={words.outline}>
          {outline.map((title) => (
            <li key={title}>{title}</li>
          ))}
        </ol>
      )}
      <Markdown text={report} citation={citation} />
    </section>
  );
}
