/** A menu behind a button. */
import { DropdownMenu } from 'radix-ui';
import type { ReactNode } from 'react';
import style from './menu.module.css';

export interface MenuProps {
  /** The button that opens it. */
  readonly opener: ReactNode;
  readonly children: ReactNode;
}

/** The rest of the page stays as it is while it is open: the policy allows no styles made at run time. */
export function Menu({ opener, children }: MenuProps) {
  return (
    <DropdownMenu.Root modal={false}>
      <DropdownMenu.Trigger asChild>{opener}</DropdownMenu.Trigger>
      <DropdownMenu.Portal>
        <DropdownMenu.Content className={style.menu} align="end" sideOffset={4}>
          {children}
        </DropdownMenu.Content>
      </DropdownMenu.Portal>
    </DropdownMenu.Root>
  );
}

export interface MenuItemProps {
  readonly onSelect: () => void;
  readonly isDanger?: boolean;
  readonly children: ReactNode;
}

export function MenuItem({ onSelect, isDanger = false, children }: MenuItemProps) {
  return (
    <DropdownMenu.Item className={isDanger ? `${style.item} ${style.danger}` : style.item} onSelect={onSelect}>
      {children}
    </DropdownMenu.Item>
  );
}
