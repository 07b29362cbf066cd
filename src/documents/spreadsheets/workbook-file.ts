/** The file format of workbooks: the parts of an `.xlsx` archive (ECMA-376 part 1, SpreadsheetML), written as a stream of rows. */
import { setImmediate as nextTurn } from 'node:timers/promises';
import { Zip, ZipDeflate } from 'fflate';

/** What a cell holds. Numbers that JSON does not have are no value. */
export type CellValue = string | number | boolean | null | DateValue;

/** A point in time without a zone, by its milliseconds since 1970 in UTC; with a time of day or without. */
export interface DateValue {
  readonly milliseconds: number;
  readonly hasTime: boolean;
}

/** How a sheet looks. */
export interface SheetLayout {
  /** Of each column, in characters. */
  readonly widths: readonly number[];
  /** Whether the first row stays in view. */
  readonly hasHeader: boolean;
}

/** A sheet that is being written, row by row. */
export interface SheetFile {
  /** A row in bold. */
  addHeader(names: readonly string[]): void;
  addRow(values: readonly CellValue[]): void;
  close(): void;
}

/** A workbook that is being written, sheet by sheet. */
export interface WorkbookFile {
  /** The next sheet is opened when this one is closed. */
  openSheet(index: number, layout: SheetLayout): SheetFile;
  /** The bytes of the file. */
  close(): Promise<Uint8Array>;
}

/** Positions in `cellXfs` of {@link STYLES}. */
const STYLE = { header: 1, date: 2, time: 3 } as const;
/** Length of the text, in UTF-16 units, that is packed at once. */
const PACKED_AT_ONCE = 65_536;
/** Texts that are written before yielding to the event loop. */
const TEXTS_AT_ONCE = 5_000;
const DAY_MS = 86_400_000;
/** The day 1970-01-01 in the calendar of spreadsheets, which begins with 1900 and has a 29 February in that year. */
const UNIX_EPOCH_DAY = 25_569;

const DECLARATION = '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>\n';
const MAIN = 'http://schemas.openxmlformats.org/spreadsheetml/2006/main';
const PACKAGE = 'http://schemas.openxmlformats.org/package/2006';
const OFFICE = 'http://schemas.openxmlformats.org/officeDocument/2006';
const ROW_HEIGHTS =
  'xmlns:mc="http://schemas.openxmlformats.org/markup-compatibility/2006" mc:Ignorable="x14ac" xmlns:x14ac="http://schemas.microsoft.com/office/spreadsheetml/2009/9/ac"';

/** Starts a workbook with sheets of these names; they are names that Excel opens. */
export function createWorkbookFile(names: readonly string[]): WorkbookFile {
  const chunks: Uint8Array[] = [];
  const zip = new Zip((error, chunk) => {
    if (error) throw error;
    chunks.push(chunk);
  });
  const openPart = (path: string): Part => {
    const entry = new ZipDeflate(path, { level: 6 });
    zip.add(entry);
    return new Part((bytes, isLast) => entry.push(bytes, isLast));
  };
  const addPart = (path: string, xml: string): void => openPart(path).end(DECLARATION + xml);
  addPart('[Content_Types].xml', contentTypes(names.length));
  addPart('_rels/.rels', PACKAGE_RELATIONSHIPS);
  addPart('docProps/core.xml', coreProperties(new Date()));
  addPart('xl/workbook.xml', workbookXml(names));
  addPart('xl/_rels/workbook.xml.rels', workbookRelationships(names.length));
  addPart('xl/styles.xml', STYLES);
  const texts = new SharedTexts();
  return {
    openSheet: (index, layout) => new SheetPart(openPart(`xl/worksheets/sheet${index + 1}.xml`), layout, texts),
    async close() {
      await texts.write(openPart('xl/sharedStrings.xml'));
      zip.end();
      return Buffer.concat(chunks);
    },
  };
}

/** A file of the archive; packs what was added so far in pieces. */
class Part {
  #text = '';

  constructor(private readonly pack: (bytes: Uint8Array, isLast: boolean) => void) {}

  add(text: string): void {
    this.#text += text;
    if (this.#text.length >= PACKED_AT_ONCE) this.#flush(false);
  }

  end(text: string): void {
    this.#text += text;
    this.#flush(true);
  }

  #flush(isLast: boolean): void {
    this.pack(Buffer.from(this.#text), isLast);
    this.#text = '';
  }
}

/** Texts of all sheets, each once; cells refer to them by position. */
class SharedTexts {
  readonly #positions = new Map<string, number>();

  positionOf(text: string): number {
    let position = this.#positions.get(text);
    if (position === undefined) {
      position = this.#positions.size;
      this.#positions.set(text, position);
    }
    return position;
  }

  async write(part: Part): Promise<void> {
    const { size } = this.#positions;
    part.add(`${DECLARATION}<sst xmlns="${MAIN}" count="${size}" uniqueCount="${size}">`);
    let count = 0;
    for (const text of this.#positions.keys()) {
      count += 1;
      if (count % TEXTS_AT_ONCE === 0) await nextTurn();
      // Without the mark, readers drop blanks at the ends.
      const mark = /^\s|\n|\s$/.test(text) ? ' xml:space="preserve"' : '';
      part.add(`<si><t${mark}>${escapeXml(text)}</t></si>`);
    }
    part.end('</sst>');
  }
}

/** See {@link SheetFile}. Rows and cells without a value are left out. */
class SheetPart implements SheetFile {
  #row = 0;
  readonly #letters: string[] = [];

  constructor(
    private readonly part: Part,
    { widths, hasHeader }: SheetLayout,
    private readonly texts: SharedTexts,
  ) {
    part.add(
      `${DECLARATION}<worksheet xmlns="${MAIN}" xmlns:r="${OFFICE}/relationships" ${ROW_HEIGHTS}>${hasHeader ? FROZEN_HEADER : ''}<sheetFormatPr defaultRowHeight="15" outlineLevelRow="0" outlineLevelCol="0" x14ac:dyDescent="55"/>${columnsXml(widths)}<sheetData>`,
    );
  }

  addHeader(names: readonly string[]): void {
    this.#add(names, ` s="${STYLE.header}" customFormat="1"`, ` s="${STYLE.header}"`);
  }

  addRow(values: readonly CellValue[]): void {
    this.#add(values, '', '');
  }

  close(): void {
    this.part.end(
      '</sheetData><pageMargins left="0.7" right="0.7" top="0.75" bottom="0.75" header="0.3" footer="0.3"/><pageSetup orientation="portrait" horizontalDpi="4294967295" verticalDpi="4294967295" scale="100" fitToWidth="1" fitToHeight="1"/></worksheet>',
    );
  }

  #add(values: readonly CellValue[], rowStyle: string, cellStyle: string): void {
    this.#row += 1;
    let cells = '';
    let [first, last] = [0, 0];
    for (const [index, value] of values.entries()) {
      const cell = this.#cell(value, `${this.#lettersOf(index)}${this.#row}`, cellStyle);
      if (cell === '') continue;
      cells += cell;
      first ||= index + 1;
      last = index + 1;
    }
    if (cells === '') return;
    this.part.add(`<row r="${this.#row}" spans="${first}:${last}"${rowStyle} x14ac:dyDescent="0.25">${cells}</row>`);
  }

  #cell(value: CellValue, address: string, style: string): string {
    if (value === null) return '';
    switch (typeof value) {
      case 'string':
        return `<c r="${address}"${style} t="s"><v>${this.texts.positionOf(value)}</v></c>`;
      case 'boolean':
        return `<c r="${address}"${style} t="b"><v>${value ? 1 : 0}</v></c>`;
      case 'number':
        return Number.isFinite(value) ? `<c r="${address}"${style}><v>${value}</v></c>` : '';
      default: {
        const day = value.milliseconds / DAY_MS + UNIX_EPOCH_DAY;
        return `<c r="${address}" s="${value.hasTime ? STYLE.time : STYLE.date}"><v>${day}</v></c>`;
      }
    }
  }

  #lettersOf(index: number): string {
    let letters = this.#letters[index];
    if (letters === undefined) {
      letters = '';
      for (let rest = index + 1; rest > 0; rest = Math.floor((rest - 1) / 26)) {
        letters = String.fromCharCode(65 + ((rest - 1) % 26)) + letters;
      }
      this.#letters[index] = letters;
    }
    return letters;
  }
}

/** Keeps the first row in view. */
const FROZEN_HEADER =
  '<sheetViews><sheetView workbookViewId="0"><pane ySplit="1" topLeftCell="A2" activePane="bottomLeft" state="frozen"/><selection pane="bottomLeft"/></sheetView></sheetViews>';

/** Characters of a column of which a file says nothing. */
const USUAL_WIDTH = 9;

/** Neighbours of the same width are one element. */
function columnsXml(widths: readonly number[]): string {
  let xml = '';
  for (let from = 0; from < widths.length; ) {
    let to = from + 1;
    while (to < widths.length && widths[to] === widths[from]) to += 1;
    if (widths[from] !== USUAL_WIDTH) {
      xml += `<col min="${from + 1}" max="${to}" width="${widths[from]}" customWidth="1"/>`;
    }
    from = to;
  }
  return xml === '' ? '' : `<cols>${xml}</cols>`;
}

/** By position: plain, a header, a date, a date with a time. */
const STYLES = `<styleSheet xmlns="${MAIN}"><numFmts count="2"><numFmt numFmtId="164" formatCode="yyyy-mm-dd"/><numFmt numFmtId="165" formatCode="yyyy-mm-dd hh:mm:ss"/></numFmts><fonts count="2"><font><sz val="11"/><name val="Calibri"/><family val="2"/></font><font><b/><sz val="11"/><name val="Calibri"/><family val="2"/></font></fonts><fills count="2"><fill><patternFill patternType="none"/></fill><fill><patternFill patternType="gray125"/></fill></fills><borders count="1"><border><left/><right/><top/><bottom/><diagonal/></border></borders><cellStyleXfs count="1"><xf numFmtId="0" fontId="0" fillId="0" borderId="0"/></cellStyleXfs><cellXfs count="4"><xf numFmtId="0" fontId="0" fillId="0" borderId="0" xfId="0"/><xf numFmtId="0" fontId="1" fillId="0" borderId="0" xfId="0" applyFont="1"/><xf numFmtId="164" fontId="0" fillId="0" borderId="0" xfId="0" applyNumberFormat="1"/><xf numFmtId="165" fontId="0" fillId="0" borderId="0" xfId="0" applyNumberFormat="1"/></cellXfs><cellStyles count="1"><cellStyle name="Normal" xfId="0" builtinId="0"/></cellStyles></styleSheet>`;

const PACKAGE_RELATIONSHIPS = `<Relationships xmlns="${PACKAGE}/relationships"><Relationship Id="rId1" Type="${OFFICE}/relationships/officeDocument" Target="xl/workbook.xml"/><Relationship Id="rId2" Type="${PACKAGE}/relationships/metadata/core-properties" Target="docProps/core.xml"/></Relationships>`;

/** Relationships with a number below it lead to styles and texts. */
const FIRST_SHEET = 4;

function workbookXml(names: readonly string[]): string {
  const sheets = names.map(
    (name, index) =>
      `<sheet sheetId="${index + 1}" name="${escapeXml(name)}" state="visible" r:id="rId${index + FIRST_SHEET}"/>`,
  );
  return `<workbook xmlns="${MAIN}" xmlns:r="${OFFICE}/relationships"><fileVersion appName="xl" lastEdited="5" lowestEdited="5" rupBuild="9303"/><workbookPr defaultThemeVersion="164011" filterPrivacy="1"/><sheets>${sheets.join('')}</sheets><calcPr calcId="171027"/></workbook>`;
}

function workbookRelationships(sheets: number): string {
  const relationship = (number: number, type: string, target: string): string =>
    `<Relationship Id="rId${number}" Type="${OFFICE}/relationships/${type}" Target="${target}"/>`;
  const all = [
    relationship(1, 'styles', 'styles.xml'),
    relationship(2, 'sharedStrings', 'sharedStrings.xml'),
    ...numbers(sheets).map((sheet) =>
      relationship(sheet - 1 + FIRST_SHEET, 'worksheet', `worksheets/sheet${sheet}.xml`),
    ),
  ];
  return `<Relationships xmlns="${PACKAGE}/relationships">${all.join('')}</Relationships>`;
}

function contentTypes(sheets: number): string {
  const part = (path: string, type: string): string =>
    `<Override PartName="${path}" ContentType="application/vnd.openxmlformats-${type}+xml"/>`;
  const all = [
    part('/xl/workbook.xml', 'officedocument.spreadsheetml.sheet.main'),
    ...numbers(sheets).map((sheet) =>
      part(`/xl/worksheets/sheet${sheet}.xml`, 'officedocument.spreadsheetml.worksheet'),
    ),
    part('/xl/styles.xml', 'officedocument.spreadsheetml.styles'),
    part('/xl/sharedStrings.xml', 'officedocument.spreadsheetml.sharedStrings'),
    part('/docProps/core.xml', 'package.core-properties'),
  ];
  return `<Types xmlns="${PACKAGE}/content-types"><Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/><Default Extension="xml" ContentType="application/xml"/>${all.join('')}</Types>`;
}

function coreProperties(now: Date): string {
  const time = now.toISOString().replace(/\.\d+/, '');
  const made = (what: string): string => `<dcterms:${what} xsi:type="dcterms:W3CDTF">${time}</dcterms:${what}>`;
  return `<cp:coreProperties xmlns:cp="${PACKAGE}/metadata/core-properties" xmlns:dc="http://purl.org/dc/elements/1.1/" xmlns:dcterms="http://purl.org/dc/terms/" xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance"><dc:creator>Runnel</dc:creator><cp:lastModifiedBy>Runnel</cp:lastModifiedBy>${made('created')}${made('modified')}</cp:coreProperties>`;
}

/** From 1 on. */
function numbers(count: number): readonly number[] {
  return Array.from({ length: count }, (_, index) => index + 1);
}

const ENTITIES: Readonly<Record<string, string>> = {
  '"': '&quot;',
  '&': '&amp;',
  "'": '&apos;',
  '<': '&lt;',
  '>': '&gt;',
};

function escapeXml(text: string): string {
  return text.replace(/["&'<>]/g, (character) => ENTITIES[character] ?? character);
}
