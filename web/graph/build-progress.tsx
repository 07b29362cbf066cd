/** How far a build is, and what came of the last one. */
import { Button } from '../parts/button.js';
import { useChoices } from '../shell/studio.js';
import { useTexts } from '../shell/texts.js';
import { buildTexts } from './build-texts.js';
import style from './graph.module.css';
import { BUILD_PARTS, type GraphBuild } from './graph-data.js';

interface BuildProgressProps {
  readonly build: GraphBuild;
  readonly isBusy: boolean;
  readonly onStop: () => void;
}

export function BuildProgress({ build, isBusy, onStop }: BuildProgressProps) {
  const words = useTexts(buildTexts);
  return (
    <>
      <p role="status">{words.building}</p>
      <progress className={style.bar} aria-label={words.progress} max={1} value={build.progress} />
      <BuildCounts build={build} />
      <div className={style.line}>
        <Button look="danger" disabled={isBusy} onClick={onStop}>
          {words.stop}
        </Button>
      </div>
    </>
  );
}

export function LastBuild({ build }: { readonly build: GraphBuild }) {
  const words = useTexts(buildTexts);
  const { state, missing, message } = build;
  return (
    <>
      <p role="status">{words.states[state] ?? message}</p>
      {state === 'FAIL' && <p className={style.text}>{message}</p>}
      <BuildCounts build={build} />
      {missing.length > 0 && (
        <div className={style.notice}>
          <h3>{words.missing}</h3>
          <ul>
            {missing.map((line) => (
              <li key={line} className={style.text}>
                {line}
              </li>
            ))}
          </ul>
        </div>
      )}
    </>
  );
}

function BuildCounts({ build }: { readonly build: GraphBuild }) {
  const words = useTexts(buildTexts);
  const { language } = useChoices();
  const { layers, done, of, spent } = build;
  const number = (value = 0): string => value.toLocaleString(language);
  return (
    <ul className={style.items}>
      {BUILD_PARTS.filter((part) => layers.some((layer) => layer === part) || of[part] !== undefined).map((part) => (
        <li key={part}>{words.part(words.parts[part], number(done[part]), number(of[part]))}</li>
      ))}
      {spent.calls > 0 && <li>{words.spent(number(spent.calls), number(spent.tokens))}</li>}
    </ul>
  );
}
