/** Measures the search of one's datasets with a file of golden questions; what comes of it is one of the two results. */
import { FileUp, Play, Square } from 'lucide-react';
import { useEffect, useRef, useState } from 'react';
import type { Subscription } from 'rxjs';
import type { JsonObject } from '../../src/json.js';
import { useDatasets } from '../datasets/dataset-data.js';
import { Button } from '../parts/button.js';
import { FailureLine } from '../parts/failure-line.js';
import { useClient } from '../shell/studio.js';
import { useTexts } from '../shell/texts.js';
import style from './evaluation.module.css';
import { evaluationTexts } from './evaluation-texts.js';
import { asResultFile, type Measured, measureSearch, readGoldenLines } from './measure-search.js';
import type { Slot } from './use-results.js';

export interface SearchMeasurementProps {
  /** Where the result goes. */
  readonly slot: Slot;
  readonly onResult: (slot: Slot, name: string, text: string) => void;
}

interface GoldenFile {
  readonly name: string;
  readonly questions: readonly JsonObject[];
}

const PASSAGES = [3, 5, 8, 15, 30];
const USUAL_PASSAGES = 8;

export function SearchMeasurement({ slot, onResult }: SearchMeasurementProps) {
  const words = useTexts(evaluationTexts);
  const [file, setFile] = useState<GoldenFile>();
  const [chosen, setChosen] = useState<readonly string[]>([]);
  const [passages, setPassages] = useState(USUAL_PASSAGES);
  const { progress, error, start, stop, refuse } = useMeasurement();
  const datasets = useDatasets('').data?.pages.flat() ?? [];
  const names = datasets.filter(({ id }) => chosen.includes(id)).map(({ name }) => name);
  const open = async (opened: File) => {
    const questions = readGoldenLines(await opened.text());
    if (questions === undefined) refuse(new Error(words.noGolden(opened.name)));
    else setFile({ name: opened.name, questions });
  };
  const measure = () => {
    if (file === undefined) return;
    const about = words.measured(names.join(', '), passages);
    start({ questions: file.questions, datasets: chosen, passages }, (questions) =>
      onResult(slot, file.name, asResultFile(about, questions)),
    );
  };
  return (
    <section className={style.measurement} aria-label={words.measureTitle}>
      <h2>{words.measureTitle}</h2>
      <p className={style.soft}>{words.measureHint}</p>
      <div className={style.tools}>
        <GoldenButton name={file?.name} count={file?.questions.length ?? 0} onOpen={(opened) => void open(opened)} />
        <label>
          {words.passages}{' '}
          <select value={passages} onChange={({ target }) => setPassages(Number(target.value))}>
            {PASSAGES.map((count) => (
              <option key={count}>{count}</option>
            ))}
          </select>
        </label>
      </div>
      <fieldset className={style.datasets}>
        <legend>{words.datasets}</legend>
        {datasets.length === 0 && <p className={style.soft}>{words.noDatasets}</p>}
        {datasets.map(({ id, name }) => (
          <label key={id}>
            <input
              type="checkbox"
              checked={chosen.includes(id)}
              onChange={({ target }) =>
                setChosen((now) => (target.checked ? [...now, id] : now.filter((other) => other !== id)))
              }
            />{' '}
            {name}
          </label>
        ))}
      </fieldset>
      <div className={style.tools}>
        {progress === undefined ? (
          <Button look="main" disabled={file === undefined || chosen.length === 0} onClick={measure}>
            <Play size={14} aria-hidden="true" /> {words.measureInto(words[slot])}
          </Button>
        ) : (
          <>
            <Button onClick={stop}>
              <Square size={14} aria-hidden="true" /> {words.stop}
            </Button>
            <progress value={progress.done} max={progress.of} aria-label={words.progress(progress.done, progress.of)} />
            <span role="status">{words.progress(progress.done, progress.of)}</span>
          </>
        )}
      </div>
      {error !== undefined && <FailureLine error={error} />}
    </section>
  );
}

interface GoldenButtonProps {
  readonly name: string | undefined;
  readonly count: number;
  readonly onOpen: (file: File) => void;
}

function GoldenButton({ name, count, onOpen }: GoldenButtonProps) {
  const words = useTexts(evaluationTexts);
  const picker = useRef<HTMLInputElement>(null);
  return (
    <>
      <input
        ref={picker}
        type="file"
        accept=".jsonl,.json,application/json"
        hidden
        aria-label={words.chooseGolden}
        onChange={({ target }) => {
          const [file] = target.files ?? [];
          if (file !== undefined) onOpen(file);
          target.value = '';
        }}
      />
      <Button onClick={() => picker.current?.click()}>
        <FileUp size={16} aria-hidden="true" /> {words.chooseGolden}
      </Button>
      {name !== undefined && (
        <span>
          <strong>{name}</strong> {words.questions(count)}
        </span>
      )}
    </>
  );
}

/** One measurement at a time; it ends with the page. */
function useMeasurement() {
  const client = useClient();
  const [progress, setProgress] = useState<Pick<Measured, 'done' | 'of'>>();
  const [error, refuse] = useState<unknown>();
  const running = useRef<Subscription>(undefined);
  const stop = () => {
    running.current?.unsubscribe();
    setProgress(undefined);
  };
  useEffect(() => () => running.current?.unsubscribe(), []);
  const start = (what: Parameters<typeof measureSearch>[1], whenDone: (questions: Measured['questions']) => void) => {
    let measured: Measured['questions'] = [];
    refuse(undefined);
    setProgress({ done: 0, of: what.questions.length });
    running.current = measureSearch(client, what).subscribe({
      next: (news) => {
        measured = news.questions;
        setProgress(news);
      },
      error: (failure: unknown) => {
        setProgress(undefined);
        refuse(failure);
      },
      complete: () => {
        setProgress(undefined);
        whenDone(measured);
      },
    });
  };
  return { progress, error, start, stop, refuse };
}
