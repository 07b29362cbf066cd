/** How a screen adds its keys. */
import { useEffect, useRef } from 'react';
import type { Shortcut } from './shortcuts.js';
import { useStudio } from './studio.js';

/** Shows a group of shortcuts as long as the component is there. What they do may change with every drawing. */
export function useShortcuts(title: string, shortcuts: readonly Shortcut[]): void {
  const { shortcuts: registry } = useStudio();
  const newest = useRef(shortcuts);
  useEffect(() => {
    newest.current = shortcuts;
  });
  const named = JSON.stringify(shortcuts.map(({ key, label, act }) => [key, label, act !== undefined]));
  useEffect(() => {
    const entries = JSON.parse(named) as readonly [key: string, label: string, acts: boolean][];
    const listed = entries.map(([key, label, acts], at) => ({
      key,
      label,
      ...(acts && { act: () => newest.current[at]?.act?.() }),
    }));
    return registry.add({ title, shortcuts: listed });
  }, [registry, title, named]);
}
