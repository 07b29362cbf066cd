/** What the codes of fonts mean that a PDF names and does not contain, as many in Chinese, Japanese and Korean do. */

/** Names of predefined encodings whose codes are UTF-16, such as `UniGB-UCS2-H`. */
const UNICODE = /^Uni(?:GB|CNS|JIS|JISX0213|JIS2004|JISPro|KS)[0-9A-Za-z]*-(?:UCS2|UTF16)(?:-HW)?-([HV])$/;

/** Those whose codes are of one or two bytes of a character set that `TextDecoder` reads. */
const NATIONAL: readonly (readonly [RegExp, string])[] = [
  [/^(?:GB-EUC|GBpc-EUC|GBK-EUC|GBKp-EUC|GBK2K)-([HV])$/, 'gb18030'],
  [/^(?:B5pc|HKscs-B5|ETen-B5|ETenms-B5)-([HV])$/, 'big5'],
  [/^(?:83pv|90ms|90msp|90pv|Add|Ext)-RKSJ-([HV])$/, 'shift_jis'],
  [/^(?:KSC-EUC|KSCms-UHC|KSCms-UHC-HW|KSCpc-EUC)-([HV])$/, 'euc-kr'],
];

/** From the numbers of a collection of characters to UTF-16. */
const TO_UNICODE = /^Adobe-(?:GB1|CNS1|Japan1|Korea1)-UCS2$/;

/** What PDF.js asks for; `filename` is the name of a map. */
interface Asked {
  readonly kind: string;
  readonly filename: string;
}

/**
 * Maps of predefined encodings for PDF.js, for one document; given to it as its `BinaryDataFactory`, with `cMapPacked: false`.
 *
 * PDF.js goes from codes to numbers of a collection of characters, and from these to UTF-16, by tables of a megabyte. Only the text is wanted here, so the numbers
 * are UTF-16 themselves: codes are decoded, and the second map changes nothing. Where a font holds the true numbers (`Identity-H`) and nothing says what they are,
 * there is no map, as without all this; so a document that mixes both is read as far as the first kind goes.
 *
 * Source: ISO 32000-2, 9.7.5.2 and 9.10.2; Adobe Technical Note 5014.
 */
export class CharacterMaps {
  /** Whether an encoding was asked for: then the next map is asked for its numbers. */
  #isDecoded = false;

  /** @throws Error for maps that there are not */
  async fetch({ kind, filename }: Asked): Promise<Uint8Array> {
    const map = kind === 'cMapUrl' ? this.#mapOf(filename) : undefined;
    if (map === undefined) throw new Error(`There is no ${kind} "${filename}".`);
    return Buffer.from(map, 'latin1');
  }

  #mapOf(name: string): string | undefined {
    if (TO_UNICODE.test(name)) return this.#isDecoded ? textOf(name, 'H', TWO_BYTES, SAME) : undefined;
    const unicode = UNICODE.exec(name);
    if (unicode !== null) {
      this.#isDecoded = true;
      return textOf(name, unicode[1], TWO_BYTES, SAME_NUMBERS);
    }
    for (const [pattern, charset] of NATIONAL) {
      const national = pattern.exec(name);
      if (national === null) continue;
      this.#isDecoded = true;
      return textOf(name, national[1], charset === 'shift_jis' ? SHIFTED : ONE_OR_TWO_BYTES, decodedNumbers(charset));
    }
    return undefined;
  }
}

const TWO_BYTES = '1 begincodespacerange\n<0000> <ffff>\nendcodespacerange';
const ONE_OR_TWO_BYTES = '2 begincodespacerange\n<00> <80>\n<8140> <fefe>\nendcodespacerange';
/** With the narrow letters of Japanese, which are one byte. */
const SHIFTED = '4 begincodespacerange\n<00> <80>\n<a0> <df>\n<8140> <9ffc>\n<e040> <fcfc>\nendcodespacerange';
const SAME = '1 beginbfrange\n<0000> <ffff> <0000>\nendbfrange';
const SAME_NUMBERS = '1 begincidrange\n<0000> <ffff> 0\nendcidrange';

/** A map as PostScript. */
function textOf(name: string, direction: string | undefined, codes: string, entries: string): string {
  return `/CMapName /${name} def\n/WMode ${direction === 'V' ? 1 : 0} def\nbegincmap\n${codes}\n${entries}\nendcmap\n`;
}

/** Lead and trail bytes of all such character sets. */
const LEADS = { first: 0x81, last: 0xfe };
const TRAILS = { first: 0x40, last: 0xfe };

/** Of Japanese in one byte, and what the first of them is. */
const NARROW = { first: 0xa1, last: 0xdf, unicode: 0xff61 };

/** Each code of a character set with its UTF-16, where it is one unit. */
function decodedNumbers(charset: string): string {
  const decoder = new TextDecoder(charset);
  const lines = ['<00> <7f> 0'];
  if (charset === 'shift_jis')
    lines.push(`<${NARROW.first.toString(16)}> <${NARROW.last.toString(16)}> ${NARROW.unicode}`);
  for (let lead = LEADS.first; lead <= LEADS.last; lead += 1) {
    for (let trail = TRAILS.first; trail <= TRAILS.last; trail += 1) {
      const text = decoder.decode(Uint8Array.of(lead, trail));
      if (text.length !== 1 || text === '\ufffd') continue;
      const code = (lead * 256 + trail).toString(16);
      lines.push(`<${code}> <${code}> ${text.charCodeAt(0)}`);
    }
  }
  return `${lines.length} begincidrange\n${lines.join('\n')}\nendcidrange`;
}
