/** What is used of the library `postal-mime`. The build puts it into this file, since the package brings its sources and two builds beside it. */

export type { Address, Email } from 'postal-mime';
export { default as MailParser } from 'postal-mime';
