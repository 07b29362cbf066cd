import { type ZipPart, zipOf } from '../reading/zip-of.js';

/** A sheet by the XML of its rows. */
export interface TestSheet {
  readonly name: string;
  readonly xml: string;
}

/** What a workbook has beside its sheets, as XML. */
export interface TestWorkbook {
  /** `<si>` elements. */
  readonly strings?: string;
  /** Content of the style sheet. */
  readonly styles?: string;
  /** Attributes of `workbookPr`. */
  readonly properties?: string;
}

const TYPE = 'http://schemas.openxmlformats.org/officeDocument/2006/relationships';

/**
 * Writes a workbook by hand, in a form that few programs write and all may: paths of its own, absolute and relative
 * targets, a prefix for every element, sheets before texts.
 */
export function workbookOf(
  sheets: readonly TestSheet[],
  { strings, styles, properties = '' }: TestWorkbook = {},
): Uint8Array {
  const parts: ZipPart[] = sheets.map(({ xml }, index) => ({
    path: `xl/Data/Page ${index}.xml`,
    content: `<?xml version="1.0"?><worksheet><sheetData>${xml}</sheetData></worksheet>`,
  }));
  const relations = sheets.map(
    (_, index) =>
      `<Relationship Id="r${index}" Type="${TYPE}/worksheet" Target="${index % 2 === 0 ? '/xl/' : './x/../'}Data/Page ${index}.xml"/>`,
  );
  const list = sheets.map(
    ({ name }, index) => `<x:sheet name="${name.replaceAll('&', '&amp;')}" sheetId="${index + 1}" r:id="r${index}"/>`,
  );
  parts.push(
    {
      path: '_rels/.rels',
      content: `<Relationships><Relationship Id="a" Type="${TYPE}/officeDocument" Target="xl/workbook.xml"/></Relationships>`,
    },
    {
      path: 'xl/workbook.xml',
      content: `<x:workbook><x:workbookPr ${properties}/><x:sheets>${list.join('')}</x:sheets></x:workbook>`,
    },
  );
  if (strings !== undefined) {
    relations.push(`<Relationship Id="s" Type="${TYPE}/sharedStrings" Target="Texts.xml"/>`);
    parts.push({ path: 'xl/texts.xml', content: `<sst>${strings}</sst>` });
  }
  if (styles !== undefined) {
    relations.push(`<Relationship Id="t" Type="${TYPE}/styles" Target="styles.xml"/>`);
    parts.push({ path: 'xl/styles.xml', content: `<styleSheet>${styles}</styleSheet>` });
  }
  parts.push({ path: 'xl/_rels/workbook.xml.rels', content: `<Relationships>${relations.join('')}</Relationships>` });
  return zipOf(...parts);
}
