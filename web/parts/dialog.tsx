/** A window over the page: the browser's own `dialog`, which keeps the focus inside and closes by Escape. */
import { type ReactNode, useEffect, useId, useRef } from 'react';
import style from './dialog.module.css';

export interface DialogProps {
  readonly title: string;
  /** Called when the user closes it; without it the dialog stays until its owner removes it. */
  readonly onClose?: () => void;
  readonly children: ReactNode;
  readonly isWide?: boolean;
}

/** Open as long as it is there. */
export function Dialog({ title, onClose, children, isWide = false }: DialogProps) {
  const element = useRef<HTMLDialogElement>(null);
  const heading = useId();
  useEffect(() => {
    const dialog = element.current;
    dialog?.showModal();
    return () => dialog?.close();
  }, []);
  return (
    <dialog
      ref={element}
      aria-labelledby={heading}
      className={isWide ? `${style.dialog} ${style.wide}` : style.dialog}
      onCancel={(event) => {
        event.preventDefault();
        onClose?.();
      }}
    >
      <h2 id={heading}>{title}</h2>
      {children}
    </dialog>
  );
}
