/** The models that routes use, and the breakers that keep calls from those that fail, as they are now. */
import { useQuery } from '@tanstack/react-query';
import type { ModelTargets } from '../../src/transport/chat/model-targets.js';
import { ErrorNote } from '../parts/notes.js';
import { useChoices, useClient } from '../shell/studio.js';
import { useTexts } from '../shell/texts.js';
import { Section } from './section.js';
import style from './settings.module.css';
import { settingsTexts } from './settings-texts.js';

/** A breaker changes by itself, so it is looked at while it is shown. */
const REFRESH_MS = 5_000;

export function BreakersSection() {
  const words = useTexts(settingsTexts);
  const client = useClient();
  const { data, error, refetch } = useQuery({
    queryKey: ['models', 'targets'],
    queryFn: ({ signal }) => client.call<ModelTargets>('/chat/router', { signal }),
    refetchInterval: REFRESH_MS,
  });
  return (
    <Section title={words.breakers}>
      {error !== null && <ErrorNote error={error} onRetry={() => void refetch()} />}
      {data?.targets.length === 0 && <p className={style.soft}>{words.noRoutes}</p>}
      {data !== undefined && data.targets.length > 0 && (
        <table className={style.table}>
          <thead>
            <tr>
              <th scope="col">{words.target}</th>
              <th scope="col">{words.routes}</th>
              <th scope="col">{words.breaker}</th>
              <th scope="col">{words.lastMinute}</th>
            </tr>
          </thead>
          <tbody>
            {data.targets.map((target) => (
              <TargetLine key={target.target} target={target} />
            ))}
          </tbody>
        </table>
      )}
    </Section>
  );
}

function TargetLine({ target: { target, routes, state, reason, until, succeeded, failed } }: TargetLineProps) {
  const words = useTexts(settingsTexts);
  const { language } = useChoices();
  return (
    <tr>
      <th scope="row">{target}</th>
      <td>{routes.join(', ')}</td>
      <td>
        <span className={state === 'closed' ? style.fine : style.worse}>{words.breakerStates[state]}</span>
        {until !== undefined && ` ${words.until(new Date(until).toLocaleTimeString(language))}`}
        {reason !== undefined && <p className={style.soft}>{reason}</p>}
      </td>
      <td>{words.calls(succeeded, failed)}</td>
    </tr>
  );
}

interface TargetLineProps {
  readonly target: ModelTargets['targets'][number];
}
