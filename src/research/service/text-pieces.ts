/** Long texts in pieces of whole lines, for one passage each. */

/** UTF-16 units of one piece. */
const MAX_PIECE = 1_200;

/** Whole lines together, up to 1,200 UTF-16 units; a line that is longer is cut. Pieces without any text are left out. */
export function piecesOf(text: string): readonly string[] {
  const pieces: string[] = [];
  let piece = '';
  const end = (): void => {
    if (piece.trim() !== '') pieces.push(piece.trim());
    piece = '';
  };
  for (const line of text.split('\n')) {
    if (piece.length + line.length > MAX_PIECE) end();
    for (let at = 0; at === 0 || at < line.length; at += MAX_PIECE) {
      piece += `${line.slice(at, at + MAX_PIECE)}\n`;
      if (at + MAX_PIECE < line.length) end();
    }
  }
  end();
  return pieces;
}
