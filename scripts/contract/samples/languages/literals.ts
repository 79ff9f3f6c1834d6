type Brackets = [open: string, close: string];

/** How a programming language writes values. */
type Style = {
  text: (text: string) => string;
  word: (value: boolean | null) => string;
  object: Brackets;
  entry: (name: string, value: string) => string;
  emptyObject: string;
  indent: string;
};

/** Returns a function that writes a JSON value as a literal of a programming language, over several lines. */
export function literalWriter({ text, word, object, entry, emptyObject, indent }: Style) {
  const write = (value: unknown, margin: string): string => {
    if (typeof value === 'string') return text(value);
    if (typeof value === 'number') return String(value);
    if (typeof value === 'boolean' || value === null) return word(value);
    const inner = `${margin}${indent}`;
    if (Array.isArray(value))
      return block(
        ['[', ']'],
        value.map((item) => write(item, inner)),
        margin,
        '[]',
      );
    const entries = Object.entries({ ...(value as object) }).map(([name, field]) =>
      entry(text(name), write(field, inner)),
    );
    return block(object, entries, margin, emptyObject);
  };
  const block = ([open, close]: Brackets, lines: string[], margin: string, empty: string) => {
    if (lines.length === 0) return empty;
    return `${open}\n${lines.map((line) => `${margin}${indent}${line},\n`).join('')}${margin}${close}`;
  };
  return write;
}
