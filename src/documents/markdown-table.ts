/** A table in Markdown (GitHub's). Short rows are filled up; bars are escaped, line ends written as `<br>`. */
export function markdownTable(header: readonly string[], rows: readonly (readonly string[])[]): string {
  let width = header.length;
  for (const row of rows) width = Math.max(width, row.length);
  const line = (cells: readonly string[]): string => {
    let text = '|';
    for (let column = 0; column < width; column += 1) text += ` ${cellText(cells[column] ?? '')} |`;
    return text;
  };
  const rule = `|${' --- |'.repeat(width)}`;
  return [line(header), rule, ...rows.map(line)].join('\n');
}

function cellText(text: string): string {
  return text
    .trim()
    .replaceAll('|', '\\|')
    .replace(/\r\n?|\n/g, '<br>');
}
