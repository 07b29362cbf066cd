/** What the two halves of `runnel eval` share: their options, bars and results. */
import { readFile } from 'node:fs/promises';
import { EngineError } from '../errors.js';
import { isJsonObject, type JsonObject, parseJson } from '../json.js';
import { cannot } from './command.js';

/** Options of the command that say what is measured. */
export interface EvalValues {
  readonly documents?: readonly string[] | undefined;
  readonly config?: string | undefined;
  readonly against?: string | undefined;
  readonly run?: string | undefined;
  readonly pipeline?: string | undefined;
  readonly depth?: string | undefined;
  /** Model that judges answers; empty: the default. */
  readonly judge?: string | undefined;
  readonly 'fail-below'?: readonly string[] | undefined;
}

/** What was measured, in each form. */
export interface Measured {
  /** Why the exit code is 1; empty otherwise. */
  readonly failures: readonly string[];
  text(): string;
  html(): string;
  json(): object;
}

/** A measure and the value that it must reach. */
export interface Bar<M extends string = string> {
  readonly measure: M;
  readonly value: number;
}

/** Reads `--fail-below`. @throws EngineError USAGE */
export function readBar<M extends string>(given: string, measures: readonly M[]): Bar<M> {
  const [name = '', value = ''] = given.split('=');
  const measure = measures.find((one) => one === name.trim().toLowerCase());
  const least = Number(value);
  if (measure !== undefined && value.trim() !== '' && least >= 0 && least <= 1) return { measure, value: least };
  throw new EngineError(
    'USAGE',
    `--fail-below takes a measure (${measures.join(', ')}), "=" and a value from 0 to 1; received ${JSON.stringify(given)}.`,
  );
}

/** What is said of measures that are below their bars. */
export function belowBars<M extends string>(
  means: Readonly<Partial<Record<M, number>>>,
  bars: readonly Bar<M>[],
): string[] {
  return bars.flatMap(({ measure, value }) => {
    const mean = means[measure] ?? 0;
    return mean >= value ? [] : [`${measure} is ${mean.toFixed(4)}, below ${value}`];
  });
}

/** What is said of a measure that is lower than with the settings that it is compared with. */
export function lowerThanBefore(measure: string): string {
  return `${measure} is lower than with the other settings`;
}

/** The JSON object in a file. @throws EngineError USAGE for a file that cannot be read or holds no object */
export async function readSettingsFile(file: string): Promise<JsonObject> {
  const text = await readFile(file, 'utf8').catch((cause: unknown) => {
    throw cannot(`read "${file}"`, cause);
  });
  const value = parseJson(text);
  if (!isJsonObject(value)) throw new EngineError('USAGE', `"${file}" must hold a JSON object with settings.`);
  return value;
}
