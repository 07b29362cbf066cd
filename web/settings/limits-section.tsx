/** How much the server takes. */

import { formatMs } from '../../src/canvas/timeline-rows.js';
import type { SystemInfo } from '../../src/transport/system/system-shapes.js';
import { useChoices } from '../shell/studio.js';
import { useTexts } from '../shell/texts.js';
import { Facts, Section } from './section.js';
import { settingsTexts } from './settings-texts.js';

export function LimitsSection({ limits }: { readonly limits: NonNullable<SystemInfo['limits']> }) {
  const words = useTexts(settingsTexts);
  const { language } = useChoices();
  const { limitNames } = words;
  const number = (value: number | null) => (value === null ? words.any : value.toLocaleString(language));
  return (
    <Section title={words.limits}>
      <Facts
        facts={[
          [limitNames.documents, bytesText(limits.document_bytes, language)],
          [limitNames.json, bytesText(limits.json_bytes, language)],
          [limitNames.uploads, bytesText(limits.upload_bytes, language)],
          [limitNames.files, number(limits.upload_files)],
          [limitNames.requests, number(limits.requests_per_minute)],
          [limitNames.starts, number(limits.runs_per_minute)],
          [limitNames.runs, number(limits.runs)],
          [limitNames.nodes, number(limits.run_concurrency)],
          [limitNames.steps, number(limits.run_steps)],
          [limitNames.time, formatMs(limits.run_timeout_ms)],
        ]}
      />
    </Section>
  );
}

const UNITS = ['B', 'KB', 'MB', 'GB'] as const;

function bytesText(bytes: number, language: string): string {
  let [value, unit] = [bytes, 0];
  while (value >= 1_024 && unit < UNITS.length - 1) {
    value /= 1_024;
    unit += 1;
  }
  return `${value.toLocaleString(language, { maximumFractionDigits: 1 })} ${UNITS[unit]}`;
}
