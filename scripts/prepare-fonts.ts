/** Compresses the fonts that the package ships: two weights of a family, with its licence. */
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import { ROOT } from './support/files.js';

const FAMILY = path.join(ROOT, 'node_modules/@expo-google-fonts/noto-sans-sc');
const WEIGHTS = ['400Regular', '700Bold'];

/** Writes the fonts into `folder`, as `src/documents/pdf/typeface.ts` reads them. */
export async function prepareFonts(folder: string): Promise<void> {
  await mkdir(folder, { recursive: true });
  const licence = readFile(path.join(FAMILY, 'LICENSE_FONT')).then((text) =>
    writeFile(path.join(folder, 'LICENSE'), text),
  );
  const fonts = WEIGHTS.map(async (weight) => {
    const name = `NotoSansSC_${weight}.ttf`;
    const bytes = await promisify(gzip)(await readFile(path.join(FAMILY, weight, name)), { level: 6 });
    await writeFile(path.join(folder, `${name}.gz`), bytes);
  });
  await Promise.all([licence, ...fonts]);
}
