/** Whether this page carries a key, where it is kept, and forgetting it. The key itself is never shown. */
import type { SystemInfo } from '../../src/transport/system/system-shapes.js';
import { Button } from '../parts/button.js';
import { useClient } from '../shell/studio.js';
import { useTexts } from '../shell/texts.js';
import { Section } from './section.js';
import style from './settings.module.css';
import { settingsTexts } from './settings-texts.js';

export function KeySection({ info }: { readonly info: SystemInfo }) {
  const words = useTexts(settingsTexts);
  const { keys } = useClient();
  const { place } = keys;
  const forget = () => {
    keys.forget();
    // What was fetched with the key goes with the page.
    location.reload();
  };
  return (
    <Section title={words.key}>
      <p>{info.keys ? words.keyPlaces[place ?? 'none'] : words.noKeys}</p>
      {info.made_key === true && <p className={style.soft}>{words.madeKey}</p>}
      {place !== undefined && (
        <p>
          <Button look="danger" onClick={forget}>
            {words.forget}
          </Button>
        </p>
      )}
    </Section>
  );
}
