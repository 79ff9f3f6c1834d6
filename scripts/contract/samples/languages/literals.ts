/**
 * Returns a function that writes a JSON value as a literal of a programming language, over several lines.
 *
 * @param {object} style
 * @param {(text: string) => string} style.text a string
 * @param {(value: boolean | null) => string} style.word `true`, `false` or `null`
 * @param {[string, string]} style.object the brackets of an object
 * @param {(name: string, value: string) => string} style.entry one field of an object
 * @param {string} style.emptyObject
 * @param {string} style.indent
 */
export function literalWriter({ text, word, object, entry, emptyObject, indent }) {
  const write = (value, margin) => {
    if (typeof value === 'string') return text(value);
    if (typeof value === 'number') return String(value);
    if (typeof value !== 'object' || value === null) return word(value);
    const inner = `${margin}${indent}`;
    if (Array.isArray(value))
      return block(
        ['[', ']'],
        value.map((item) => write(item, inner)),
        margin,
        '[]',
      );
    const entries = Object.entries(value).map(([name, field]) => entry(text(name), write(field, inner)));
    return block(object, entries, margin, emptyObject);
  };
  const block = ([open, close], lines, margin, empty) => {
    if (lines.length === 0) return empty;
    return `${open}\n${lines.map((line) => `${margin}${indent}${line},\n`).join('')}${margin}${close}`;
  };
  return write;
}
