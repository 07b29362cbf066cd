import type { DocumentOptions } from '../../src/documents/index.js';

/** A document of the golden masters, with how it is made. */
export interface Sample {
  readonly markdown: string;
  readonly options?: Partial<DocumentOptions>;
}

/** A picture of 5 × 5 pixels. */
export const PNG =
  'data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAUAAAAFCAIAAAACDbGyAAAAEUlEQVR42mP4z8CAjBgo5AMA/XwY6DI3DH0AAAAASUVORK5CYII=';

/** Everything on and around a page. */
export const AROUND: Partial<DocumentOptions> = {
  title: 'Quarterly report',
  header: 'Runnel 报告',
  footer: 'Internal use',
  watermark: 'DRAFT 草稿',
  pageNumbers: true,
  timestamp: new Date(2026, 10, 21, 9, 30, 5),
};

const FULL = `# Quarterly *report*

An opening with **bold**, *italic*, ***both***, ~~struck~~, \`inline code\` and a [link](https://example.com/a?b=1&c=2).
The second line of the paragraph.  
A line after a hard break.

## Lists and tasks

- first
- second
  1. inner one
  2. inner two
- [x] done
- [ ] open

| Product | Price | Note |
|:--------|------:|:----:|
| Apple | 1,234.50 | **fresh** |
| Pear \\| quince | 7 | line<br>line |

> A quote with a list:
>
> - point

\`\`\`js
if (a < b) {
	return "<tag>";
}
\`\`\`

![a red square](${PNG}) and ![elsewhere](https://example.com/x.png)

---

The end.
`;

/** The twelve documents that every format is held against. */
export const SAMPLES: Readonly<Record<string, Sample>> = {
  minimal: { markdown: 'Hello.' },
  full: { markdown: FULL, options: AROUND },
  cjk: {
    markdown:
      '# 季度报告\n\n本季度收入增长了百分之十二，主要来自新产品（包括“水流”系列）。详情请见下表；\n谢谢！ 日本語：これはテストです。ABC と混在。\n\n| 产品 | 数量 |\n|---|---:|\n| 苹果 | 12 |\n| 香蕉 | 1,200 |\n\n- 第一项\n- 第二项 **加粗** `代码`\n',
    options: { header: '页眉', footer: '页脚', watermark: '机密' },
  },
  'nested-table': {
    markdown:
      '1. A table in a list:\n\n   | a | b |\n   |---|---|\n   | 1 | 2 |\n\n2. After it\n   - deeper\n\n     | c |\n     |---|\n     | 3 |\n\n> | quoted | table |\n> |:---:|---|\n> | x | y |\n',
  },
  'list-numbering': {
    markdown:
      '1. one\n2. two\n   1. two, one\n   2. two, two\n      1. deep\n3. three\n\nA paragraph ends the list.\n\n1. one again\n2. two again\n\nAnother that begins late:\n\n7. seven\n8. eight\n\n   with a second paragraph\n\n- bullet\n  - bullet below\n    - and below\n',
  },
  'heading-levels': {
    markdown: [1, 2, 3, 4, 5, 6].map((level) => `${'#'.repeat(level)} Level ${level}\n\nText ${level}.\n`).join('\n'),
    options: { fontSize: 14 },
  },
  'page-break': { markdown: 'First page.\n\n\\newpage\n\nSecond page.\n\n<!-- pagebreak -->\n\nThird page.\n' },
  'section-break': {
    markdown: 'First section.\n\n<!-- section -->\n\n# Second section\n\n<!-- section -->\n\nThird section.\n',
    options: { pageNumbers: true, pageSize: 'Letter' },
  },
  'several-headers': {
    markdown:
      'Under the first header.\n\n<!-- section -->\n<!-- header: Second header -->\n\nUnder the second.\n\n<!-- section -->\n<!-- header: Third header -->\n<!-- footer: Third footer -->\n\nUnder the third.\n',
    options: { header: 'First header', footer: 'Footer', pageNumbers: true },
  },
  'long-text': {
    markdown: Array.from(
      { length: 40 },
      (_, index) =>
        `Paragraph ${index + 1}. ${'The quick brown fox jumps over the lazy dog, again and again. '.repeat(4)}`,
    ).join('\n\n'),
    options: { pageNumbers: true, pageSize: 'A5' },
  },
  'special-characters': {
    markdown:
      '# <&> "quotes" \'single\'\n\n& &amp; &lt;b&gt; &copy; &hellip; &#x4e2d; &unknown; <b onclick="x()">bold?</b> <script>alert(1)</script>\n\n]]> {{braces}} {% raw %} $& \\* \\_ café cafe\u0301 ✅ 😀 \u0000\u0007\u000b end\n\n[bad](javascript:alert(1)) [local](file:///etc/passwd) [mail](mailto:a@b.example) <https://example.com/?a=1&b=2>\n\n<div>\nblock of <i>html</i>\n</div>\n',
    options: { header: '<&> "header"', footer: "&'footer'", watermark: '<&>', title: '</title><b>' },
  },
  empty: { markdown: '' },
};
