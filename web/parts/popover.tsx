/** Something to read behind a button. What draws it open is loaded when a pointer or the focus comes near it. */
import { cloneElement, lazy, Suspense, useState } from 'react';
import type { PopoverProps } from './opened-popover.js';

const loadPopover = () => import('./opened-popover.js');
const OpenedPopover = lazy(async () => ({ default: (await loadPopover()).OpenedPopover }));

export function Popover({ opener, ...rest }: PopoverProps) {
  const [wasOpened, setWasOpened] = useState(false);
  const load = () => void loadPopover();
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
      <OpenedPopover {...rest} opener={opener} />
    </Suspense>
  );
}
