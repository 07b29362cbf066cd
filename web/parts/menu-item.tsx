/** An item of a menu. */
import { type ComponentType, createContext, type ReactNode, useContext } from 'react';
import style from './menu.module.css';

export interface MenuItemProps {
  readonly onSelect: () => void;
  readonly isDanger?: boolean;
  /** @default that of a short menu */
  readonly className?: string | undefined;
  /** Whether it stands for what is shown. */
  readonly isCurrent?: boolean;
  readonly children: ReactNode;
}

/** What draws an item: given by the open menu, so that closed ones need nothing of it. */
export type MenuItemBox = ComponentType<{
  readonly className: string | undefined;
  readonly onSelect: () => void;
  readonly 'aria-current': 'true' | undefined;
  readonly children: ReactNode;
}>;

export const MenuItemBoxes = createContext<MenuItemBox | undefined>(undefined);

export function MenuItem({ onSelect, isDanger = false, isCurrent = false, className, children }: MenuItemProps) {
  const Box = useContext(MenuItemBoxes);
  if (Box === undefined) return null;
  const look = className ?? (isDanger ? `${style.item} ${style.danger}` : style.item);
  return (
    <Box className={look} onSelect={onSelect} aria-current={isCurrent ? 'true' : undefined}>
      {children}
    </Box>
  );
}
