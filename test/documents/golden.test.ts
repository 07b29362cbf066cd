import { describe, expect, it } from 'vitest';
import { convertMarkdown, type DocumentFormat } from '../../src/documents/index.js';
import { pdfPages, prettyXml, unzip } from './read-back.js';
import { SAMPLES } from './samples.js';

/** Parts of a Word document that hold what the reader sees. */
const DOCX_PARTS = /^word\/(?:document|header\d*|footer\d*|numbering|_rels\/document\.xml)\.(?:xml|rels)$/;
const XLSX_PARTS = /^xl\/(?:workbook|sharedStrings|worksheets\/sheet\d+)\.xml$/;

/** What a golden file holds of a format: all that can be read in a review. */
const READERS: Readonly<Record<DocumentFormat, (bytes: Uint8Array) => Promise<string>>> = {
  txt: async (bytes) => new TextDecoder().decode(bytes),
  markdown: async (bytes) => new TextDecoder().decode(bytes),
  html: async (bytes) => new TextDecoder().decode(bytes),
  pdf: async (bytes) => {
    const pages = await pdfPages(bytes);
    return `${[`${pages.length} pages`, ...pages.map((text, index) => `--- ${index + 1}\n${text}`)].join('\n')}\n`;
  },
  docx: async (bytes) => {
    const text = await xmlParts(bytes, DOCX_PARTS);
    // Every document defines the marks of lists; they come last.
    return text.includes('<w:numId ') ? text : text.slice(0, text.indexOf('=== word/numbering.xml'));
  },
  xlsx: (bytes) => xmlParts(bytes, XLSX_PARTS),
};

async function xmlParts(bytes: Uint8Array, wanted: RegExp): Promise<string> {
  const files = await unzip(bytes);
  const paths = [...files.keys()].filter((path) => wanted.test(path)).sort();
  return withPlainIds(paths.map((path) => `=== ${path}\n${prettyXml(files.get(path))}`).join(''));
}

/** Ids that the libraries draw at random, by order. */
function withPlainIds(text: string): string {
  const ids = new Map<string, string>();
  return text.replace(/\brId[a-z0-9_-]{21}|\bPowerPlusWaterMarkObject[\w-]+/g, (id) => {
    if (!ids.has(id)) ids.set(id, `id-${ids.size + 1}`);
    return ids.get(id) ?? id;
  });
}

describe.each(Object.entries(SAMPLES))('%s', (name, { markdown, options }) => {
  it.each(Object.keys(READERS) as DocumentFormat[])('as %s', async (format) => {
    const created = new Date(2026, 10, 21);
    const { bytes } = await convertMarkdown(markdown, { created, ...options, format });
    await expect(await READERS[format](bytes)).toMatchFileSnapshot(`golden/${name}.${format}.txt`);
  });
});
