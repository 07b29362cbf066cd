/** The two results that a user has opened; they outlive a reload of the tab where the browser has room for them. */
import { useMemo, useState } from 'react';
import { type EvaluationResult, readResult } from './evaluation-result.js';

export type Slot = 'a' | 'b';

/** Why a file was not taken. */
export interface RefusedFile {
  readonly name: string;
  readonly why: 'noResult' | 'noMeasure' | 'tooLarge';
}

export interface Results {
  readonly a: EvaluationResult | undefined;
  readonly b: EvaluationResult | undefined;
  readonly refused: RefusedFile | undefined;
  /** Puts a file into a place. */
  readonly open: (slot: Slot, file: File) => Promise<void>;
  /** Puts what was measured here into a place. */
  readonly take: (slot: Slot, name: string, text: string) => void;
  readonly remove: (slot: Slot) => void;
}

interface KeptFile {
  readonly name: string;
  readonly text: string;
}

const MAX_BYTES = 20_000_000;
const nameOf = (slot: Slot): string => `runnel.evaluation.${slot}`;

/** @param onTaken told each result that was opened or measured, with its text */
export function useResults(onTaken: (result: EvaluationResult, text: string) => void): Results {
  const [files, setFiles] = useState<Readonly<Record<Slot, KeptFile | undefined>>>(() => ({
    a: recall('a'),
    b: recall('b'),
  }));
  const [refused, setRefused] = useState<RefusedFile>();
  const put = (slot: Slot, file: KeptFile | undefined) => {
    keep(slot, file);
    setFiles((now) => ({ ...now, [slot]: file }));
    setRefused(undefined);
  };
  const taken = (slot: Slot, { name, text }: KeptFile, otherwise: RefusedFile['why']) => {
    const result = readResult(name, text);
    if (result === undefined) setRefused({ name, why: otherwise });
    else {
      put(slot, { name, text });
      onTaken(result, text);
    }
  };
  return {
    a: useMemo(() => files.a && readResult(files.a.name, files.a.text), [files.a]),
    b: useMemo(() => files.b && readResult(files.b.name, files.b.text), [files.b]),
    refused,
    open: async (slot, file) => {
      const { name, size } = file;
      if (size > MAX_BYTES) {
        setRefused({ name, why: 'tooLarge' });
        return;
      }
      taken(slot, { name, text: await file.text() }, 'noResult');
    },
    take: (slot, name, text) => taken(slot, { name, text }, 'noMeasure'),
    remove: (slot) => put(slot, undefined),
  };
}

/** A browser may refuse to keep what is too long: then it lasts as long as the page. */
function keep(slot: Slot, file: KeptFile | undefined): void {
  sessionStorage.removeItem(nameOf(slot));
  if (file === undefined) return;
  try {
    sessionStorage.setItem(nameOf(slot), JSON.stringify(file));
  } catch {
    sessionStorage.removeItem(nameOf(slot));
  }
}

function recall(slot: Slot): KeptFile | undefined {
  const text = sessionStorage.getItem(nameOf(slot));
  return text === null ? undefined : (JSON.parse(text) as KeptFile);
}
