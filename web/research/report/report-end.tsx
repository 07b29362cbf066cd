/** What stands behind a report: its sources, what was not answered, its files, and a way to ask again. */
import { Download, RotateCw } from 'lucide-react';
import { useState } from 'react';
import { Link } from 'wouter';
import type { ResearchFinal } from '../../../src/research/research-events.js';
import { saveFile } from '../../datasets/save-file.js';
import { Button } from '../../parts/button.js';
import { FailureLine } from '../../parts/failure-line.js';
import { useClient } from '../../shell/studio.js';
import { useTexts } from '../../shell/texts.js';
import style from '../research.module.css';
import { researchPath } from '../research-server.js';
import { screenTexts } from '../screen-texts.js';
import { EvidenceItem } from '../tree/evidence-item.js';

const FORMATS = ['md', 'pdf', 'docx', 'html'] as const;

export interface ReportEndProps {
  readonly final: ResearchFinal;
  readonly run: string;
  /** A form that is filled with what this research was asked with. */
  readonly again: string;
}

export function ReportEnd({ final: { sources, unanswered, unsupported }, run, again }: ReportEndProps) {
  const words = useTexts(screenTexts);
  const inOrder = [...sources].sort((a, b) => a.n - b.n);
  return (
    <>
      {unsupported > 0 && <p className={style.soft}>{words.unsupported(unsupported)}</p>}
      <Downloads run={run} />
      <Link href={again} className={style.link}>
        <RotateCw size={14} aria-hidden="true" /> {words.again}
      </Link>
      {sources.length > 0 && (
        <section className={style.part} aria-label={words.sources}>
          <h2>{words.sources}</h2>
          <ol className={style.plain}>
            {inOrder.map((source) => (
              <li key={source.n} aria-label={words.source(source.n)}>
                <strong>[{source.n}]</strong>
                <EvidenceItem evidence={source} />
              </li>
            ))}
          </ol>
        </section>
      )}
      {unanswered.length > 0 && (
        <section className={style.part} aria-label={words.unanswered}>
          <h2>{words.unanswered}</h2>
          <ul className={style.plain}>
            {unanswered.map(({ question, why }) => (
              <li key={`${question} ${why}`}>
                {question} <span className={style.soft}>{why}</span>
              </li>
            ))}
          </ul>
        </section>
      )}
    </>
  );
}

/** Files are fetched with the key, and saved. */
function Downloads({ run }: { readonly run: string }) {
  const words = useTexts(screenTexts);
  const client = useClient();
  const [error, setError] = useState<unknown>();
  const save = (format: string) => {
    setError(undefined);
    saveFile(client, `${researchPath(run)}/report?format=${format}`, `research-${run}.${format}`).catch(setError);
  };
  return (
    <fieldset className={style.downloads}>
      <legend className="unseen">{words.download}</legend>
      {FORMATS.map((format) => (
        <Button key={format} aria-label={words.downloadAs(format)} onClick={() => save(format)}>
          <Download size={14} aria-hidden="true" /> {format}
        </Button>
      ))}
      {error !== undefined && <FailureLine error={error} />}
    </fieldset>
  );
}
