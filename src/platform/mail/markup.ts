// Our own: template engines compile files at run time, without types. This is one function that escapes each value.
/** HTML that needs no escaping. */
export type Markup = { readonly html: string };

/** Template tag for HTML. Escapes text values and inserts Markup values unchanged. */
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
