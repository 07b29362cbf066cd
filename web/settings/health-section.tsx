/** What the server says of its own health, asked for again every now and then. */
import { useQuery } from '@tanstack/react-query';
import type { Json, JsonObject } from '../../src/json.js';
import { JsonView } from '../parts/json-view.js';
import { ErrorNote } from '../parts/notes.js';
import { useClient } from '../shell/studio.js';
import { useTexts } from '../shell/texts.js';
import { Section } from './section.js';
import style from './settings.module.css';
import { settingsTexts } from './settings-texts.js';

const REFRESH_MS = 10_000;

export function HealthSection() {
  const words = useTexts(settingsTexts);
  const client = useClient();
  const { data, error, refetch } = useQuery({
    queryKey: ['health'],
    queryFn: ({ signal }) => readHealth(client.address('/'), signal),
    refetchInterval: REFRESH_MS,
  });
  const isFine = data?.status === 'ok';
  return (
    <Section title={words.health}>
      {error !== null && <ErrorNote error={error} onRetry={() => void refetch()} />}
      {data !== undefined && (
        <>
          <p className={isFine ? style.fine : style.worse}>{isFine ? words.fine : words.degraded}</p>
          <details>
            <summary>{words.healthDetails}</summary>
            <JsonView value={data} label={words.health} />
          </details>
        </>
      )}
    </Section>
  );
}

/** It lies beside the API, and needs no key. */
async function readHealth(api: URL, signal: AbortSignal): Promise<JsonObject> {
  const response = await fetch(new URL('../../healthz', api), { signal, credentials: 'omit', cache: 'no-store' });
  const { data } = (await response.json()) as { readonly data?: Json };
  if (typeof data !== 'object' || data === null || Array.isArray(data)) throw new Error(`/healthz: ${response.status}`);
  return data as JsonObject;
}
