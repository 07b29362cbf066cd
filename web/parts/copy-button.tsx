/** Puts a text into the clipboard, and says so. */
import { Check, Copy } from 'lucide-react';
import { useEffect, useState } from 'react';
import { defineTexts, useTexts } from '../shell/texts.js';
import { IconButton } from './button.js';

const texts = defineTexts({
  en: { copy: 'Copy', copied: 'Copied', failed: 'The browser does not let this page copy.' },
  zh: { copy: '复制', copied: '已复制', failed: '浏览器不允许此页面复制。' },
});

const SHOWN_MS = 1_500;

export interface CopyButtonProps {
  /** Asked for when it is pressed, so that nothing is made before. */
  readonly text: () => string;
  /** @default "Copy" */
  readonly label?: string;
  readonly className?: string | undefined;
}

export function CopyButton({ text, label, className = '' }: CopyButtonProps) {
  const words = useTexts(texts);
  const [state, setState] = useState<'ready' | 'copied' | 'failed'>('ready');
  useEffect(() => {
    if (state === 'ready') return undefined;
    const timer = setTimeout(() => setState('ready'), SHOWN_MS);
    return () => clearTimeout(timer);
  }, [state]);
  const press = async () => setState((await copyText(text())) ? 'copied' : 'failed');
  const name = label ?? words.copy;
  return (
    <>
      <IconButton label={name} className={className} onClick={() => void press()}>
        {state === 'copied' ? <Check size={15} aria-hidden="true" /> : <Copy size={15} aria-hidden="true" />}
      </IconButton>
      <span className="unseen" role="status">
        {state === 'ready' ? '' : words[state]}
      </span>
    </>
  );
}

/** Whether it was put there. Pages that come neither from this machine nor over TLS have no clipboard of their own. */
export async function copyText(text: string): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    return copyBySelection(text);
  }
}

function copyBySelection(text: string): boolean {
  const field = document.createElement('textarea');
  field.value = text;
  field.className = 'unseen';
  // Inside an open dialog: what lies outside of it cannot be selected.
  (document.querySelector('dialog[open]') ?? document.body).append(field);
  field.select();
  try {
    return document.execCommand('copy');
  } finally {
    field.remove();
  }
}
