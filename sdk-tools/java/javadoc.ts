const LONGEST_LINE = 110;

/** The first paragraph of a description, and another one, as a comment. The reference has the rest. */
export function docOf(text: string, more: string, indent = ''): string[] {
  const [first = ''] = text.split('\n\n');
  const paragraphs = [first.trim(), more].filter((each) => each !== '');
  if (paragraphs.length === 0) return [];
  const lines = paragraphs.flatMap((each, index) => [
    ...(index > 0 ? [''] : []),
    ...wrapped(index > 0 ? `<p>${escaped(each)}` : escaped(each)),
  ]);
  return [`${indent}/**`, ...lines.map((line) => `${indent} * ${line}`.trimEnd()), `${indent} */`];
}

const escaped = (text: string) =>
  text
    .replaceAll('*/', '*&#47;')
    .replaceAll('<', '&lt;')
    .replaceAll(/`([^`{}]*)`/g, '{@code $1}');

function wrapped(text: string): string[] {
  const lines = [''];
  for (const word of text.split(/\s+/)) {
    const line = `${lines.at(-1) ?? ''} ${word}`.trim();
    if (line.length > LONGEST_LINE) lines.push(word);
    else lines[lines.length - 1] = line;
  }
  return lines;
}
