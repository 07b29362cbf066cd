import { describe, expect, it } from 'vitest';
import { CharacterMaps } from '../../../src/documents/reading/character-maps.js';
import { readPdf } from '../../../src/documents/reading/read-pdf.js';
import { readPdfItems } from '../../../src/documents/reading/read-pdf-items.js';
import { withoutRadicals } from '../../../src/documents/reading/without-radicals.js';

/** A PDF of one page that shows codes in a font which it names and does not contain; `unicode` is what code 1 means. */
function pdfOf(encoding: string, ordering: string, codes: string, unicode?: string): Uint8Array {
  const content = `BT /F 12 Tf 20 80 Td <${codes}> Tj ET`;
  const objects = [
    '<</Type/Catalog/Pages 2 0 R>>',
    '<</Type/Pages/Kids[3 0 R]/Count 1>>',
    '<</Type/Page/Parent 2 0 R/MediaBox[0 0 200 100]/Contents 4 0 R/Resources<</Font<</F 5 0 R>>>>>>',
    `<</Length ${content.length}>>\nstream\n${content}\nendstream`,
    `<</Type/Font/Subtype/Type0/BaseFont/Song/Encoding/${encoding}/DescendantFonts[6 0 R]${unicode === undefined ? '' : '/ToUnicode 8 0 R'}>>`,
    `<</Type/Font/Subtype/CIDFontType0/BaseFont/Song/CIDSystemInfo<</Registry(Adobe)/Ordering(${ordering})/Supplement 0>>/FontDescriptor 7 0 R>>`,
    '<</Type/FontDescriptor/FontName/Song/Flags 6/FontBBox[0 0 1000 1000]/ItalicAngle 0/Ascent 800/Descent -200/CapHeight 700/StemV 80>>',
    ...(unicode === undefined ? [] : [mapOf(unicode)]),
  ];
  const body = objects.map((object, at) => `${at + 1} 0 obj\n${object}\nendobj\n`).join('');
  return Buffer.from(`%PDF-1.5\n${body}trailer\n<</Root 1 0 R/Size ${objects.length + 1}>>\n%%EOF\n`, 'latin1');
}

function mapOf(unicode: string): string {
  const map = `/CIDInit /ProcSet findresource begin 12 dict begin begincmap
1 begincodespacerange <0000> <ffff> endcodespacerange
1 beginbfchar <0001> <${unicode}> endbfchar
endcmap end end`;
  return `<</Length ${map.length}>>\nstream\n${map}\nendstream`;
}

async function textOf(encoding: string, ordering: string, codes: string, unicode?: string): Promise<string> {
  const bytes = pdfOf(encoding, ordering, codes, unicode);
  const file = { id: 'f', name: 'a.pdf', mimeType: 'application/pdf', bytes, createdAt: 0 };
  return (await readPdf(file, { maxCharacters: 1_000 })).text;
}

describe('a PDF whose fonts are only named', () => {
  it.each([
    ['UniGB-UCS2-H', 'GB1', '4e2d6587003a0041', '中文:A'],
    ['UniGB-UTF16-H', 'GB1', '4e2dd842dfb7', '中𠮷'],
    ['UniGB-UCS2-V', 'GB1', '4e2d6587', '中文'],
    ['GBK-EUC-H', 'GB1', 'd6d0cec43a41', '中文:A'],
    ['GBKp-EUC-H', 'GB1', 'd6d0', '中'],
    ['ETen-B5-H', 'CNS1', 'a4a4a4e5', '中文'],
    ['UniCNS-UTF16-H', 'CNS1', '4e2d6587', '中文'],
    ['90ms-RKSJ-H', 'Japan1', '93fa967bb6c5', '日本ｶﾅ'],
    ['UniJIS-UCS2-HW-H', 'Japan1', '65e5672c', '日本'],
    ['KSCms-UHC-H', 'Korea1', 'c7d1b1db', '한글'],
    ['UniKS-UCS2-H', 'Korea1', 'd55cae00', '한글'],
  ])('is read where its codes are those of %s', async (encoding, ordering, codes, text) => {
    expect(await textOf(encoding, ordering, codes)).toBe(text);
  });

  it('says that it holds no text where its codes are numbers that nothing explains', async () => {
    expect(await textOf('Identity-H', 'GB1', '0ee50f12')).toContain('hold no text');
  });
});

describe('a PDF whose font has radicals in place of characters', () => {
  it.each([
    ['of Kangxi', '2f42', '文'],
    ['of the supplement', '2eda', '页'],
    ['without a character of their own', '2e80', '⺀'],
  ])('is read with characters: radicals %s', async (_, code, text) => {
    expect(await textOf('Identity-H', 'Identity', '0001', code)).toBe(text);
    const bytes = pdfOf('Identity-H', 'Identity', '0001', code);
    const file = { id: 'f', name: 'a.pdf', mimeType: 'application/pdf', bytes, createdAt: 0 };
    const [page] = await readPdfItems(file, { first: 1, count: 1 });
    expect(page?.items.map((item) => item.text)).toEqual([text]);
  });

  it('keeps its length whichever of them it has', () => {
    const radicals = Array.from({ length: 0x2fd6 - 0x2e80 }, (_, at) => String.fromCharCode(0x2e80 + at));
    for (const radical of radicals) expect(withoutRadicals(`a${radical}b`)).toHaveLength(3);
    expect(withoutRadicals('⼀⾨')).toBe('一門');
  });
});

describe('CharacterMaps', () => {
  it('knows no other files', async () => {
    const maps = new CharacterMaps();
    await expect(maps.fetch({ kind: 'cMapUrl', filename: '../../etc/passwd' })).rejects.toThrow('There is no cMapUrl');
    await expect(maps.fetch({ kind: 'wasmUrl', filename: 'UniGB-UCS2-H' })).rejects.toThrow('There is no wasmUrl');
    await expect(maps.fetch({ kind: 'cMapUrl', filename: 'Adobe-GB1-UCS2' })).rejects.toThrow('There is no cMapUrl');
  });
});
