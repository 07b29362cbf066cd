/** What changes a research as a whole: a further question, enough, stop. */
import { FileText, Plus, Square } from 'lucide-react';
import { useState } from 'react';
import { Button } from '../parts/button.js';
import { Dialog } from '../parts/dialog.js';
import { useTexts } from '../shell/texts.js';
import style from './research.module.css';
import { screenTexts } from './screen-texts.js';
import { TextForm } from './text-form.js';
import type { Steering } from './use-steer.js';

export function SteerBar({ steering }: { readonly steering: Steering }) {
  const words = useTexts(screenTexts);
  const [opened, setOpened] = useState<'add' | 'stop'>();
  const { steer, isBusy, isKept, error } = steering;
  const close = () => setOpened(undefined);
  return (
    <section className={style.steer} aria-label={words.steer}>
      <div className={style.buttons}>
        <Button disabled={isBusy} aria-expanded={opened === 'add'} onClick={() => setOpened('add')}>
          <Plus size={16} aria-hidden="true" /> {words.add}
        </Button>
        <Button disabled={isBusy} onClick={() => void steer({ action: 'enough' })}>
          <FileText size={16} aria-hidden="true" /> {words.enough}
        </Button>
        <Button look="danger" disabled={isBusy} onClick={() => setOpened('stop')}>
          <Square size={16} aria-hidden="true" /> {words.stop}
        </Button>
      </div>
      {opened === 'add' && (
        <TextForm
          label={words.addText}
          isBusy={isBusy}
          onSend={(question) => steer({ action: 'add', question })}
          onClose={close}
        />
      )}
      {error !== undefined && (
        <p role="alert" className={style.failure}>
          {words.refused} {error instanceof Error ? error.message : String(error)}
        </p>
      )}
      {/* The region is there before it says something: readers of the screen miss one that appears with its words. */}
      <p role="status" className={style.soft}>
        {isKept && words.kept}
      </p>
      {opened === 'stop' && <StopDialog steering={steering} onClose={close} />}
    </section>
  );
}

function StopDialog({ steering, onClose }: { readonly steering: Steering; readonly onClose: () => void }) {
  const words = useTexts(screenTexts);
  const stop = async (finish: boolean) => {
    await steering.stop(finish);
    onClose();
  };
  return (
    <Dialog title={words.stopTitle} onClose={onClose}>
      <p>{words.stopText}</p>
      <div className={style.buttons}>
        <Button look="danger" disabled={steering.isBusy} onClick={() => void stop(false)}>
          {words.stopNow}
        </Button>
        <Button disabled={steering.isBusy} onClick={() => void stop(true)}>
          {words.stopWithReport}
        </Button>
        <Button onClick={onClose}>{words.goOn}</Button>
      </div>
    </Dialog>
  );
}
