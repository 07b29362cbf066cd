/** Asks before something is done that cannot be taken back. */
import { useState } from 'react';
import { defineTexts, useTexts } from '../shell/texts.js';
import { Button } from './button.js';
import style from './confirm-dialog.module.css';
import { Dialog } from './dialog.js';
import { ErrorNote } from './notes.js';

const texts = defineTexts({ en: { cancel: 'Cancel' }, zh: { cancel: '取消' } });

export interface ConfirmDialogProps {
  readonly title: string;
  /** What will be gone. */
  readonly text: string;
  /** Name of the button that does it. */
  readonly action: string;
  /** Does it; its failure is shown. */
  readonly onConfirm: () => Promise<unknown>;
  readonly onClose: () => void;
}

export function ConfirmDialog({ title, text, action, onConfirm, onClose }: ConfirmDialogProps) {
  const words = useTexts(texts);
  const [isBusy, setIsBusy] = useState(false);
  const [error, setError] = useState<unknown>();
  const confirm = async () => {
    setIsBusy(true);
    setError(undefined);
    try {
      await onConfirm();
      onClose();
    } catch (failure) {
      setError(failure);
      setIsBusy(false);
    }
  };
  return (
    <Dialog title={title} onClose={onClose}>
      <p className={style.text}>{text}</p>
      {error !== undefined && <ErrorNote error={error} />}
      <div className={style.buttons}>
        <Button look="danger" disabled={isBusy} onClick={() => void confirm()}>
          {action}
        </Button>
        <Button onClick={onClose}>{words.cancel}</Button>
      </div>
    </Dialog>
  );
}
