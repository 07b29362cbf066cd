/** `#/settings`: what this server is and has, the key of this page, language and theme. */
import type { SystemInfo } from '../../src/transport/system/system-shapes.js';
import { ErrorNote, LoadingNote } from '../parts/notes.js';
import { useTexts } from '../shell/texts.js';
import { useSystem } from '../shell/use-system.js';
import { Appearance } from './appearance.js';
import { BreakersSection } from './breakers-section.js';
import { HealthSection } from './health-section.js';
import { KeySection } from './key-section.js';
import { LimitsSection } from './limits-section.js';
import { McpSection } from './mcp-section.js';
import { ModelsSection } from './models-section.js';
import { Facts, Section } from './section.js';
import style from './settings.module.css';
import { settingsTexts } from './settings-texts.js';

export function SettingsPage() {
  const words = useTexts(settingsTexts);
  const { data, error, refetch } = useSystem();
  return (
    <div className={style.page}>
      <h1>{words.title}</h1>
      <Appearance />
      {error !== null && <ErrorNote error={error} onRetry={() => void refetch()} />}
      {error === null && data === undefined && <LoadingNote />}
      {data !== undefined && (
        <>
          <KeySection info={data} />
          <ServerSection info={data} />
          <HealthSection />
          <ModelsSection />
          <BreakersSection />
          <McpSection isThere={data.parts?.includes('mcp') === true} />
          {data.limits !== undefined && <LimitsSection limits={data.limits} />}
        </>
      )}
    </div>
  );
}

function ServerSection({ info }: { readonly info: SystemInfo }) {
  const words = useTexts(settingsTexts);
  const { version = words.unknown, tenant, kept, parts = [] } = info;
  return (
    <Section title={words.server}>
      <Facts
        facts={[
          [words.version, version],
          ...(tenant === undefined ? [] : [[words.tenant, tenant] as const]),
          ...(kept === undefined
            ? []
            : [
                [words.database, words.places[kept.database] ?? kept.database] as const,
                [words.runs, words.places[kept.runs] ?? kept.runs] as const,
              ]),
          [words.parts, parts.map((part) => words.partNames[part] ?? part).join(', ')],
        ]}
      />
    </Section>
  );
}
