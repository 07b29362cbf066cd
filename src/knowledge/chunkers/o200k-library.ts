/**
 * What is used of the library `gpt-tokenizer`: one encoding. The build puts it into this file, since the package has all encodings in three
 * forms, 30 MB of which this is 2.
 */
export { countTokens } from 'gpt-tokenizer/encoding/o200k_base';
