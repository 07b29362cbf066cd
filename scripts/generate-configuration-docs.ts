/** Writes `docs/configuration.md` from the settings that the command line and the server read. */
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { describeGroups, type SettingDescription } from '../src/settings/read-settings.js';
import { ROOT } from './support/files.js';
import { isProgram } from './support/script.js';

/** Where the page lives. */
export const CONFIGURATION_PAGE = path.join(ROOT, 'docs/configuration.md');

/** All settings, by what they are about. */
export const SETTING_GROUPS = describeGroups();

const INTRODUCTION = `<!-- Written by \`npm run docs:configuration\` from src/settings/table.ts; edit that file instead. -->
# Configuration

Environment variables, all optional, checked at the start; \`runnel serve --help\` lists them too. Times are milliseconds and
sizes bytes where the name does not say otherwise.
`;

/** The page as text: one table per group. */
export function configurationPage(): string {
  const tables = SETTING_GROUPS.map(
    ([title, settings]) =>
      `## ${title}\n\n| Name | Default | Meaning |\n|---|---|---|\n${settings.map(settingRow).join('\n')}\n`,
  );
  return [INTRODUCTION, ...tables].join('\n');
}

/** One setting as a row of a Markdown table. */
export function settingRow({ name, shown, meaning }: SettingDescription): string {
  return `| \`${name}\` | ${shown} | ${meaning} |`;
}

if (isProgram(import.meta.url)) {
  writeFileSync(CONFIGURATION_PAGE, configurationPage());
  console.log(`docs/configuration.md lists ${SETTING_GROUPS.flatMap(([, settings]) => settings).length} settings`);
}
