/** A menu that was opened. The rest of the page stays as it is: the policy allows no styles made at run time. */
import { DropdownMenu } from 'radix-ui';
import { type FocusEvent, type ReactElement, type ReactNode, useRef } from 'react';
import type { ButtonProps } from './button.js';
import style from './menu.module.css';
import { MenuItemBoxes } from './menu-item.js';

export interface MenuProps {
  /** The button that opens it. */
  readonly opener: ReactElement<ButtonProps>;
  /** What the open menu is called. @default the words of the button */
  readonly label?: string;
  /** @default that of a short menu */
  readonly className?: string | undefined;
  /** At which end of the button it stands. @default the right one */
  readonly align?: 'start' | 'end';
  /** Drawn only while it is open. */
  readonly children: ReactNode;
}

export interface OpenedMenuProps extends MenuProps {
  /** Whether a key opened it: then its first item has the focus. */
  readonly isByKey: boolean;
}

/** Open when it appears; from there on the button opens and closes it. */
export function OpenedMenu({ opener, label, className, align = 'end', isByKey, children }: OpenedMenuProps) {
  const toFirst = useRef(isByKey);
  // The first time the menu did not see the key.
  const focus = ({ target, currentTarget }: FocusEvent<HTMLElement>) => {
    if (!toFirst.current || target !== currentTarget) return;
    toFirst.current = false;
    currentTarget.querySelector<HTMLElement>('[role=menuitem]')?.focus();
  };
  return (
    <DropdownMenu.Root modal={false} defaultOpen>
      <DropdownMenu.Trigger asChild>{opener}</DropdownMenu.Trigger>
      <DropdownMenu.Portal>
        <DropdownMenu.Content
          className={className ?? style.menu}
          align={align}
          sideOffset={4}
          onFocus={focus}
          {...(label !== undefined && { 'aria-label': label })}
        >
          <MenuItemBoxes value={DropdownMenu.Item}>{children}</MenuItemBoxes>
        </DropdownMenu.Content>
      </DropdownMenu.Portal>
    </DropdownMenu.Root>
  );
}
