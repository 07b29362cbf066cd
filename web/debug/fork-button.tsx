/** Opens the dialog that runs on from an event. */
import { GitFork } from 'lucide-react';
import { Suspense, useState } from 'react';
import { Button } from '../parts/button.js';
import { laterDialog } from '../parts/later-part.js';
import { useTexts } from '../shell/texts.js';
import type { RunSource } from '../trace/run-source.js';
import { forkTexts } from './fork-texts.js';

/** Needed by few, so that it is loaded when it is opened first. */
const ForkDialog = laterDialog(async () => (await import('./fork-dialog.js')).ForkDialog);

export interface ForkButtonProps {
  readonly store: RunSource;
  /** Number of the event behind which the new run goes on. */
  readonly at: number;
  /** Whether it is about a step that runs again, rather than the moment that is shown. @default false */
  readonly isStep?: boolean;
  readonly className?: string | undefined;
}

export function ForkButton({ store, at, isStep = false, className = '' }: ForkButtonProps) {
  const words = useTexts(forkTexts);
  const [isOpen, setIsOpen] = useState(false);
  return (
    <>
      <Button className={className} disabled={at < 1} onClick={() => setIsOpen(true)}>
        <GitFork size={14} aria-hidden="true" />
        {isStep ? words.step : words.open}
      </Button>
      {isOpen && (
        <Suspense>
          <ForkDialog store={store} at={at} onClose={() => setIsOpen(false)} />
        </Suspense>
      )}
    </>
  );
}
