import type PDFDocument from 'pdfkit';

/** A document that is being written. */
export type Pdf = InstanceType<typeof PDFDocument>;
