// Our own: template engines compile files at run time, without types. This is one function that escapes each value.
/** HTML; any other text is escaped where it is put into some. */
export type Markup = { readonly html: string };

/** Puts texts into HTML, escaped; other markup goes in as it is. */
export function markup(parts: TemplateStringsArray, ...values: (string | Markup | Markup[])[]): Markup {
  const rest = values.map((value, n) => toHtml(value) + (parts[n + 1] ?? ''));
  return { html: (parts[0] ?? '') + rest.join('') };
}

function toHtml(value: string | Markup | Markup[]): string {
  if (typeof value === 'string') return value.replace(/[&<>"']/g, (char) => `&#${char.charCodeAt(0)};`);
  return [value]
    .flat()
    .map(({ html }) => html)
    .join('\n');
}
