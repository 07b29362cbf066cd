/** Language and theme of this device. */
import { useId } from 'react';
import type { Language, Theme } from '../shell/preferences.js';
import { useChoices, useStudio } from '../shell/studio.js';
import { useTexts } from '../shell/texts.js';
import { Section } from './section.js';
import style from './settings.module.css';
import { settingsTexts } from './settings-texts.js';

export function Appearance() {
  const words = useTexts(settingsTexts);
  const { preferences } = useStudio();
  const { language, theme } = useChoices();
  const [languageField, themeField] = [useId(), useId()];
  return (
    <Section title={words.appearance}>
      <div className={style.fields}>
        <label htmlFor={languageField}>{words.language}</label>
        <select
          id={languageField}
          value={language}
          onChange={(event) => preferences.choose({ language: event.target.value as Language })}
        >
          <option value="en" lang="en">
            English
          </option>
          <option value="zh" lang="zh">
            中文
          </option>
        </select>
        <label htmlFor={themeField}>{words.theme}</label>
        <select
          id={themeField}
          value={theme}
          onChange={(event) => preferences.choose({ theme: event.target.value as Theme })}
        >
          <option value="light">{words.light}</option>
          <option value="dark">{words.dark}</option>
        </select>
      </div>
    </Section>
  );
}
