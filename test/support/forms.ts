export type FileField = { file: string | Buffer; name?: string; type?: string };
export type FormFields = Record<string, string | FileField>;

export const BOUNDARY = 'crossdock-test-boundary';
export const MULTIPART_TYPE = `multipart/form-data; boundary=${BOUNDARY}`;

/** One part of a multipart body, its headers as they are given; parts are joined by `assemble`. */
export type Part = { headers: string[]; content: string | Buffer };

export const toParts = (form: FormFields): Part[] =>
  Object.entries(form).map(([field, value]) =>
    typeof value === 'string'
      ? { headers: [`Content-Disposition: form-data; name="${field}"`], content: value }
      : {
          headers: [
            `Content-Disposition: form-data; name="${field}"; filename="${value.name ?? 'upload.csv'}"`,
            `Content-Type: ${value.type ?? 'text/csv'}`,
          ],
          content: value.file,
        },
  );

/** A form from values as JSON has them; the fields named hold files. */
export const toForm = (fields: Record<string, unknown>, fileFields: readonly string[]): FormFields =>
  Object.fromEntries(
    Object.entries(fields).map(([name, value]) => {
      const text = typeof value === 'string' ? value : JSON.stringify(value);
      return [name, fileFields.includes(name) ? { file: text } : text];
    }),
  );

/** By hand, so that broken ones can be made too. */
export function assemble(parts: Part[]): Buffer {
  const pieces = parts.flatMap(({ headers, content }) => [
    `--${BOUNDARY}\r\n${headers.map((line) => `${line}\r\n`).join('')}\r\n`,
    content,
    '\r\n',
  ]);
  return Buffer.concat([...pieces, `--${BOUNDARY}--\r\n`].map((piece) => Buffer.from(piece)));
}

export const toMultipart = (form: FormFields) => ({ type: MULTIPART_TYPE, body: assemble(toParts(form)) });

export const toUrlEncoded = (fields: Record<string, string>) => ({
  type: 'application/x-www-form-urlencoded',
  body: new URLSearchParams(fields).toString(),
});
