/** A popover that was opened; from there on its button opens and closes it. */
import { Popover } from 'radix-ui';
import type { ReactElement, ReactNode } from 'react';
import type { ButtonProps } from './button.js';

export interface PopoverProps {
  /** The button that opens it. */
  readonly opener: ReactElement<ButtonProps>;
  readonly label: string;
  readonly className: string | undefined;
  /** Drawn only while it is open. */
  readonly children: ReactNode;
}

export function OpenedPopover({ opener, label, className, children }: PopoverProps) {
  return (
    <Popover.Root defaultOpen>
      <Popover.Trigger asChild>{opener}</Popover.Trigger>
      <Popover.Portal>
        <Popover.Content className={className} sideOffset={4} collisionPadding={8} aria-label={label}>
          {children}
        </Popover.Content>
      </Popover.Portal>
    </Popover.Root>
  );
}
