/** Starts a measurement, tells how far it is, and stops it. */
import { Play, Square } from 'lucide-react';
import { Button } from '../parts/button.js';
import { FailureLine } from '../parts/failure-line.js';
import { useTexts } from '../shell/texts.js';
import style from './evaluation.module.css';
import { evaluationTexts } from './evaluation-texts.js';
import type { Measurement } from './use-measurement.js';
import type { Slot } from './use-results.js';

export interface StartMeasurementProps {
  readonly slot: Slot;
  readonly canStart: boolean;
  readonly measurement: Measurement;
  readonly onStart: () => void;
}

export function StartMeasurement({ slot, canStart, measurement, onStart }: StartMeasurementProps) {
  const words = useTexts(evaluationTexts);
  const { progress, error, stop } = measurement;
  return (
    <>
      <div className={style.tools}>
        {progress === undefined ? (
          <Button look="main" disabled={!canStart} onClick={onStart}>
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
    </>
  );
}
