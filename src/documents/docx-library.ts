/**
 * What is used of the library `docx`. The build puts the library itself into this file, so that it is not installed beside Runnel: it
 * demands a version of `nanoid` that is not for Node 20, which only the root package of an installation can override.
 */
export {
  Bookmark,
  BorderStyle,
  Document,
  ExternalHyperlink,
  Footer,
  Header,
  ImageRun,
  InternalHyperlink,
  Packer,
  PageBreak,
  PageNumber,
  Paragraph,
  Tab,
  Table,
  TableCell,
  TableRow,
  TabStopType,
  TextRun,
  WidthType,
} from 'docx';
export { TextWatermark } from 'docx/watermarks';
