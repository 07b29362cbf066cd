/** One step of both runs; unfolded, in what their outputs differ. */
import { ChevronDown, ChevronRight } from 'lucide-react';
import { useState } from 'react';
import type { ActivationPicture } from '../../src/canvas/picture/picture.js';
import { formatMs } from '../../src/canvas/timeline-rows.js';
import type { Json, JsonObject } from '../../src/json.js';
import { useTexts } from '../shell/texts.js';
import { StatusTag } from '../trace/status-tag.js';
import { placeOf } from '../trace/trace-frames.js';
import { CLOSING, placeOfRound } from '../trace/trace-texts.js';
import style from './compare.module.css';
import type { ComparedStep } from './compare-runs.js';
import { compareTexts } from './compare-texts.js';
import { textOf } from './value-edits.js';
import { WordDifferences } from './word-differences.js';

export function ComparedLine({ step }: { readonly step: ComparedStep }) {
  const words = useTexts(compareTexts);
  const { node, within = '', place, a, b, difference } = step;
  const [isOpen, setIsOpen] = useState(difference === 'different');
  const { round } = placeOf(within);
  const parts = [
    node.name || node.id,
    ...(round === '' ? [] : [round === CLOSING ? words.closing : words.pass(placeOfRound(round))]),
    ...(place === 1 ? [] : [words.time(place)]),
  ];
  return (
    <>
      <tr>
        <th scope="row">
          <button type="button" className={style.fold} aria-expanded={isOpen} onClick={() => setIsOpen(!isOpen)}>
            {isOpen ? <ChevronDown size={14} aria-hidden="true" /> : <ChevronRight size={14} aria-hidden="true" />}
            {parts.join(', ')}
          </button>
        </th>
        <td>
          <Side activation={a} />
        </td>
        <td>{difference === 'kept' ? <em>{words.takenOver}</em> : <Side activation={b} />}</td>
        <td className={style[difference]}>{words.differences[difference]}</td>
      </tr>
      {isOpen && (
        <tr>
          <td colSpan={4} className={style.inside}>
            <OutputDifferences a={a} b={difference === 'kept' ? a : b} />
          </td>
        </tr>
      )}
    </>
  );
}

function Side({ activation }: { readonly activation: ActivationPicture | undefined }) {
  const words = useTexts(compareTexts);
  if (activation === undefined) return <em>{words.notThere}</em>;
  const { status, elapsedMs, usage } = activation;
  return (
    <span className={style.side}>
      <StatusTag status={status} />
      {elapsedMs !== undefined && <span>{formatMs(elapsedMs)}</span>}
      {usage.totalTokens > 0 && <span>{words.tokens(usage.totalTokens)}</span>}
    </span>
  );
}

interface TwoActivations {
  readonly a: ActivationPicture | undefined;
  readonly b: ActivationPicture | undefined;
}

function OutputDifferences({ a, b }: TwoActivations) {
  const words = useTexts(compareTexts);
  const [outputsA, outputsB] = [toldOf(a), toldOf(b)];
  const names = [...new Set([...Object.keys(outputsA), ...Object.keys(outputsB)])];
  const texts = names.map((name) => {
    return { name, a: shownText(outputsA[name]), b: shownText(outputsB[name]) };
  });
  if (texts.every((one) => one.a === one.b) && a !== undefined && b !== undefined)
    return <p className={style.note}>{words.equal}</p>;
  return (
    <dl className={style.outputs}>
      {texts.map((one) => (
        <div key={one.name}>
          <dt>
            <code>{one.name}</code>
          </dt>
          <dd>
            <WordDifferences a={one.a} b={one.b} />
          </dd>
        </div>
      ))}
    </dl>
  );
}

/** Outputs, and the error where there is one. */
function toldOf(activation: ActivationPicture | undefined): JsonObject {
  const { outputs = {}, error } = activation ?? {};
  return error === undefined ? outputs : { ...outputs, error: `${error.code}: ${error.message}` };
}

function shownText(value: Json | undefined): string {
  return value === undefined ? '' : textOf(value);
}
