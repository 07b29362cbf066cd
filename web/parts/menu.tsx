/** A menu behind a button. What draws it open is loaded when a pointer or the focus comes near it. */
import { cloneElement, lazy, type MouseEvent, Suspense, useState } from 'react';
import type { MenuProps } from './opened-menu.js';

const loadMenu = () => import('./opened-menu.js');
const OpenedMenu = lazy(async () => ({ default: (await loadMenu()).OpenedMenu }));

export function Menu({ opener, ...rest }: MenuProps) {
  const [opened, setOpened] = useState<'by-pointer' | 'by-key'>();
  const load = () => void loadMenu();
  const closed = cloneElement(opener, {
    'aria-haspopup': 'menu',
    'aria-expanded': false,
    onPointerEnter: load,
    onFocus: load,
    // A press of a key is a click without a place.
    onClick: ({ detail }: MouseEvent) => setOpened(detail === 0 ? 'by-key' : 'by-pointer'),
  });
  if (opened === undefined) return closed;
  return (
    <Suspense fallback={closed}>
      <OpenedMenu {...rest} opener={opener} isByKey={opened === 'by-key'} />
    </Suspense>
  );
}
