/** A menu behind a button. What draws it open is loaded when a pointer or the focus comes near it. */
import { cloneElement, type MouseEvent, Suspense, useState } from 'react';
import { laterDialog } from './later-part.js';
import type { MenuProps, OpenedMenuProps } from './opened-menu.js';

const loadMenu = () => import('./opened-menu.js');
const OpenedMenu = laterDialog<OpenedMenuProps & { readonly onClose: () => void }>(
  async () => (await loadMenu()).OpenedMenu,
  ({ opener }) => opener,
);

export function Menu({ opener, ...rest }: MenuProps) {
  const [opened, setOpened] = useState<'by-pointer' | 'by-key'>();
  // Who then opens it is told what is wrong.
  const load = () => void loadMenu().catch(() => {});
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
      <OpenedMenu {...rest} opener={opener} isByKey={opened === 'by-key'} onClose={() => setOpened(undefined)} />
    </Suspense>
  );
}
