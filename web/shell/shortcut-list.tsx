/** Listens to the keys of the page, and lists them when `?` is pressed. */
import { Keyboard } from 'lucide-react';
import { useCallback, useEffect, useState } from 'react';
import { Button, IconButton } from '../parts/button.js';
import { Dialog } from '../parts/dialog.js';
import { useObservable } from '../parts/use-observable.js';
import style from './shortcut-list.module.css';
import { isWorked, type Shortcut } from './shortcuts.js';
import { useStudio } from './studio.js';
import { defineTexts, useTexts } from './texts.js';
import { useShortcuts } from './use-shortcuts.js';

const texts = defineTexts({
  en: { title: 'Keys', open: 'List of keys', everywhere: 'Everywhere', close: 'Close' },
  zh: { title: '快捷键', open: '快捷键列表', everywhere: '所有页面', close: '关闭' },
});

/** How keys are written that have no letter. */
const SIGNS: Readonly<Record<string, string>> = {
  ArrowLeft: '←',
  ArrowRight: '→',
  ArrowUp: '↑',
  ArrowDown: '↓',
  Escape: 'Esc',
  ' ': 'Space',
};

/** The button of the bar. */
export function ShortcutButton() {
  const words = useTexts(texts);
  const { shortcuts } = useStudio();
  const [isOpen, setIsOpen] = useState(false);
  useEffect(() => {
    const press = (event: KeyboardEvent) => {
      if (!isWorked(event)) shortcuts.press(event);
    };
    addEventListener('keydown', press);
    return () => removeEventListener('keydown', press);
  }, [shortcuts]);
  const open = useCallback(() => setIsOpen(true), []);
  useShortcuts(words.everywhere, [{ key: '?', label: words.open, act: open }]);
  return (
    <>
      <IconButton label={words.open} aria-keyshortcuts="?" onClick={open}>
        <Keyboard size={18} aria-hidden="true" />
      </IconButton>
      {isOpen && <ShortcutDialog onClose={() => setIsOpen(false)} />}
    </>
  );
}

function ShortcutDialog({ onClose }: { readonly onClose: () => void }) {
  const words = useTexts(texts);
  const { shortcuts } = useStudio();
  const groups = useObservable(shortcuts.groups$, shortcuts.current);
  return (
    <Dialog title={words.title} onClose={onClose}>
      {groups.map((group) => (
        <section key={group.title} className={style.group}>
          <h3>{group.title}</h3>
          <dl>
            {group.shortcuts.map((one) => (
              <ShortcutLine key={one.key} shortcut={one} />
            ))}
          </dl>
        </section>
      ))}
      <Button onClick={onClose}>{words.close}</Button>
    </Dialog>
  );
}

function ShortcutLine({ shortcut: { key, label } }: { readonly shortcut: Shortcut }) {
  const keys = key === '+' ? ['+'] : key.split('+');
  return (
    <div>
      <dt>
        {keys.map((one) => (
          <kbd key={one}>{SIGNS[one] ?? one}</kbd>
        ))}
      </dt>
      <dd>{label}</dd>
    </div>
  );
}
