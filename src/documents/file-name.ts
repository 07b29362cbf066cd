/** Longest name without its ending, in UTF-16 units. */
const MAX_BASE = 180;

// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what is taken out
const FORBIDDEN = /[\\/\u0000-\u001f\u007f?#%*:|<>"]/g;
/** An ending of a file; `1.2` in `version 1.2` is none. */
const ENDING = /(?<=.)\.[a-z][a-z\d]{0,7}$/i;

/**
 * A name that every file system takes: without the characters that some forbid, dots and blanks at its ends, and with
 * `extension` in place of any ending that it has.
 */
export function fileName(wanted: string, extension: string): string {
  return `${baseName(wanted, ENDING) || 'file'}.${extension}`;
}

/** The part of a name before its ending, as every file system takes it; empty when nothing is left. */
export function baseName(wanted: string, ending: RegExp): string {
  const name = trimmed(wanted.replace(FORBIDDEN, ' ').replace(/\s+/g, ' '));
  const base = trimmed(name.replace(ending, '')).slice(0, MAX_BASE);
  return trimmed(base.replace(/[\ud800-\udbff]$/, ''));
}

/** A name for a file that got none: `document_20261121_093000_0a1b2c3d.pdf`. `random` is in [0, 1). */
export function generatedName(date: Date, random: number, extension: string): string {
  const moment = localTime(date).replace(/[-:]/g, '').replace(' ', '_');
  const tail = Math.floor(random * 2 ** 32).toString(16);
  return `document_${moment}_${tail.padStart(8, '0')}.${extension}`;
}

/** `2026-11-21 09:30:00`. */
export function localTime(date: Date): string {
  const two = (value: number) => String(value).padStart(2, '0');
  const day = `${date.getFullYear()}-${two(date.getMonth() + 1)}-${two(date.getDate())}`;
  return `${day} ${two(date.getHours())}:${two(date.getMinutes())}:${two(date.getSeconds())}`;
}

function trimmed(name: string): string {
  return name.replace(/^[. ]+|(?<![. ])[. ]+$/g, '');
}
