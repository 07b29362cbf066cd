/** Something to read behind a button. What draws it open is loaded when a pointer or the focus comes near it. */
import { cloneElement, Suspense, useState } from 'react';
import { laterDialog } from './later-part.js';
import type { PopoverProps } from './opened-popover.js';

const loadPopover = () => import('./opened-popover.js');
const OpenedPopover = laterDialog<PopoverProps & { readonly onClose: () => void }>(
  async () => (await loadPopover()).OpenedPopover,
  ({ opener }) => opener,
);

export function Popover({ opener, ...rest }: PopoverProps) {
  const [wasOpened, setWasOpened] = useState(false);
  // Who then opens it is told what is wrong.
  const load = () => void loadPopover().catch(() => {});
  const closed = cloneElement(opener, {
    'aria-haspopup': 'dialog',
    'aria-expanded': false,
    onPointerEnter: load,
    onFocus: load,
    onClick: () => setWasOpened(true),
  });
  if (!wasOpened) return closed;
  return (
    <Suspense fallback={closed}>
      <OpenedPopover {...rest} opener={opener} onClose={() => setWasOpened(false)} />
    </Suspense>
  );
}
