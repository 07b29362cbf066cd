import type { IRunOptions, ParagraphChild } from 'docx';
import type { Inline, Marks } from '../content.js';
import type { Image } from '../image.js';
import { STYLE } from './styles.js';

/** The library, which is loaded when it is needed. */
export type Docx = typeof import('docx');

const MILLIMETRES = 25.4;
const PIXELS_AN_INCH = 96;
/** Tallest picture, so that it fits a page with its paragraph, in pixels. */
const MAX_HEIGHT = (210 / MILLIMETRES) * PIXELS_AN_INCH;

/** The runs of a text. `width` is what a picture may take, in points. */
export function runsOf(docx: Docx, content: readonly Inline[], width: number): ParagraphChild[] {
  return content.map((inline) => runOf(docx, inline, width));
}

function runOf(docx: Docx, inline: Inline, width: number): ParagraphChild {
  switch (inline.kind) {
    case 'text':
      return new docx.TextRun({ text: inline.text, ...settingOf(inline.marks) });
    case 'break':
      return new docx.TextRun({ break: 1 });
    case 'image':
      return imageRun(docx, inline.image, inline.alt, width);
    case 'link':
      return new docx.ExternalHyperlink({ link: inline.href, children: linkRuns(docx, inline.content, width) });
  }
}

function linkRuns(docx: Docx, content: readonly Inline[], width: number): ParagraphChild[] {
  return content.map((inline) =>
    inline.kind === 'text'
      ? new docx.TextRun({ text: inline.text, ...settingOf(inline.marks), style: 'Hyperlink' })
      : runOf(docx, inline, width),
  );
}

function settingOf({ bold, italic, struck, code }: Marks): IRunOptions {
  return {
    ...(bold && { bold }),
    ...(italic && { italics: true }),
    ...(struck && { strike: true }),
    ...(code && { style: STYLE.codeText }),
  };
}

function imageRun(docx: Docx, image: Image, alt: string, width: number): ParagraphChild {
  const scale = Math.min(1, ((width / 72) * PIXELS_AN_INCH) / image.width, MAX_HEIGHT / image.height);
  const size = {
    width: Math.max(1, Math.round(image.width * scale)),
    height: Math.max(1, Math.round(image.height * scale)),
  };
  const name = alt || 'Image';
  return new docx.ImageRun({
    type: image.type,
    data: image.bytes,
    transformation: size,
    altText: { name: name.slice(0, 100), title: '', description: name },
  });
}
